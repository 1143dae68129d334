"""The bounds of the server. No client can make it hold more than these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

KIB = 1024
MIB = 1024 * KIB


class Shed(StrEnum):
    """What there is too much of where a request is answered 429; each is one of the limits."""

    BUFFERED = "buffered"
    IN_FLIGHT = "in-flight"
    QUEUE_TIME = "queue-time"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes at most. Sizes in bytes, times in seconds.

    Attributes:
        body: an UPDATE carries two objects of up to 3 MiB each; controller-runtime allows the same 7 MiB.
        small: what each body may hold without being counted in `buffered`, so that a few clients that send large
            bodies slowly do not shut the others out.
        buffered: all that is held of bodies, beyond `small` of each; more is answered 429.
        in_flight: requests being read and answered at once; more are answered 429.
        queue_time: how long a request may have waited for its turn: one that waited longer is answered 429, while
            its caller still listens, so that those behind it are answered in time.
        inline: a body larger than this is reviewed in a thread of its own, beside the small ones. A review of this
            size takes some milliseconds.
        large: reviews that wait for that thread at most; more are answered 429.
        review_time: CPU time after which a review ends with a denial that says so; never later than its caller waits.
        connections, connections_per_address: counted from accept on. The API server keeps at most 25 idle
            connections per host. Where there are too many, the one that is idle for the longest gives way.
        header_time: from a request's first byte to the end of its headers.
        body_time: to read a body, where the caller leaves more.
        handshake_time: from accept to the end of the TLS handshake.
        unused_time: from there to the first byte of the first request.
        keepalive: longer than the 90 s after which Go's client closes an idle connection, so that it is the client
            that closes: a POST that meets a closing server is not repeated. A client that does not take its answer is
            idle, too.
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


#: The plain port: the kubelet's probes and a scraper or two.
PROBES = Limits(body=0, connections=100, connections_per_address=20, header_time=5.0, keepalive=60.0)
