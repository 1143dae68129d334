"""One connection, held to its bounds: aiohttp itself waits for headers as long as for the next request."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from webhook.server.limits import Limits

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Connections:
    """The open connections of a server, counted in all and by address."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.total = 0
        self.by_address: Counter[str] = Counter()

    def admit(self, address: str) -> bool:
        """Count a connection in, unless there are too many."""
        if self.total >= self.limits.connections or self.by_address[address] >= self.limits.connections_per_address:
            return False
        self.total += 1
        self.by_address[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Count a connection out."""
        self.total -= 1
        self.by_address[address] -= 1
        if not self.by_address[address]:
            del self.by_address[address]


class GuardedConnection(web.RequestHandler):
    """A connection that is closed where the headers of a request take too long to arrive."""

    __slots__ = ("_address", "_connections", "_deadline", "_handling")

    def __init__(self, server: GuardedServer, **options: Any) -> None:
        super().__init__(server, **options)
        self._connections = server.connections_held
        self._address: str | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._handling = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or refuse it."""
        super().connection_made(transport)
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if not self._connections.admit(address):
            self.force_close()
            return
        self._address = address
        self._watch()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count the connection out."""
        super().connection_lost(exc)
        self._unwatch()
        if self._address is not None:
            self._connections.leave(self._address)
            self._address = None

    def data_received(self, data: bytes) -> None:
        """Start the clock with the first byte of a request."""
        if not self._handling and self._deadline is None:
            self._watch()
        super().data_received(data)

    def headers_complete(self) -> None:
        """Stop the clock: a request's headers are whole."""
        self._handling = True
        self._unwatch()

    def answered(self) -> None:
        """Await the next request."""
        self._handling = False

    def _watch(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(self._connections.limits.header_time, self.force_close)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class GuardedServer(web.Server):
    """aiohttp's server with guarded connections."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        super().__init__(
            handler, keepalive_timeout=limits.keepalive, auto_decompress=False, access_log=None, lingering_time=1.0
        )
        self.connections_held = Connections(limits)

    def __call__(self) -> GuardedConnection:
        """Return the protocol of a new connection."""
        return GuardedConnection(self, loop=asyncio.get_running_loop(), **self._kwargs)
