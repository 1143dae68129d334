"""The limits of the server, whatever clients send."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

KIB = 1024
MIB = 1024 * KIB


class Shed(StrEnum):
    """The limit for which a request is answered with 429."""

    BUFFERED = "buffered"
    IN_FLIGHT = "in-flight"
    QUEUE_TIME = "queue-time"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server. Sizes in bytes, times in seconds.

    Attributes:
        body: the size of a body. An UPDATE has two objects of up to 3 MiB each. controller-runtime allows 7 MiB, too.
        small: the bytes of each body that do not count in `buffered`, so that a few clients that send large bodies
            slowly do not keep out the others.
        buffered: the bytes of all bodies that are held, beyond `small` of each. More are answered with 429.
        in_flight: requests that are read and answered at once. More are answered with 429.
        queue_time: how long a request may wait for its turn. After that it is answered with 429 while its caller still
            waits, so that the requests after it are answered in time.
        inline: a larger body is reviewed in the thread for large objects. A review of this size takes milliseconds.
        large: reviews that wait for that thread. More are answered with 429.
        review_time: CPU time after which a review ends with a denial that says so, before its caller stops waiting.
        connections, connections_per_address: counted from accept on. The API server keeps at most 25 idle
            connections per host. If there are too many, the one that is idle for the longest is closed.
        header_time: from the first byte of a request to the end of its headers.
        body_time: to read a body, if the caller waits longer.
        handshake_time: from accept to the end of the TLS handshake.
        unused_time: from there to the first byte of the first request.
        keepalive: how long a connection may be idle, or a client may not read its answer. It is longer than the 90 s
            after which Go's client closes an idle connection. So the client closes it: a POST to a server that closes
            is not repeated.
    """

    body: int = 7 * MIB
    small: int = 64 * KIB
    buffered: int = 64 * MIB
    in_flight: int = 1000
    queue_time: float = 1.0
    inline: int = 64 * KIB
    large: int = 8
    review_time: float = 2.0
    connections: int = 2000
    connections_per_address: int = 500
    header_time: float = 10.0
    body_time: float = 5.0
    handshake_time: float = 10.0
    unused_time: float = 10.0
    keepalive: float = 120.0

    @property
    def held(self) -> int:
        """The maximum of bytes of bodies that are held at once."""
        return self.buffered + self.small * self.in_flight


#: The limits of the plain port: for probes of the kubelet and one or two scrapers.
PROBES = Limits(body=0, connections=100, connections_per_address=20, header_time=5.0, keepalive=60.0)
