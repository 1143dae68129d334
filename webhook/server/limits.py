"""The bounds of the server. No client can make it hold more than these."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes at most. Sizes in bytes, times in seconds.

    Attributes:
        body: an UPDATE carries two objects of up to 3 MiB each; controller-runtime allows the same 7 MiB.
        buffered: all bodies that are being read together; beyond it new ones are told to come back.
        in_flight: requests being answered at once; beyond it new ones are told to come back.
        connections, connections_per_address: the API server keeps at most 25 idle connections per host.
        header_time: from a request's first byte (or the connection) to the end of its headers.
        body_time: to read a body, where the caller leaves more.
        handshake_time: for the TLS handshake.
        keepalive: longer than the 90 s after which Go's client closes an idle connection, so that it is the client
            that closes: a POST that meets a closing server is not repeated.
    """

    body: int = 7 * MIB
    buffered: int = 64 * MIB
    in_flight: int = 100
    connections: int = 2000
    connections_per_address: int = 500
    header_time: float = 10.0
    body_time: float = 5.0
    handshake_time: float = 10.0
    keepalive: float = 120.0
