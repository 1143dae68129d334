"""One connection, held to its bounds: aiohttp itself waits for headers as long as for the next request."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from aiohttp import web

from webhook.server.limits import Limits

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

#: For how long what is left of a refused body is read and thrown away, in seconds: a client that is still writing
#: would otherwise meet a reset before it reads the answer.
LINGER = 1.0
#: For a connection that is cut off to notice, in seconds. (aiohttp takes 0 for no limit.)
CUT_TIME = 0.05


class Connections:
    """The open connections of a server, counted in all and by address."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.total = 0
        self.by_address: Counter[str] = Counter()
        #: Told of each connection that is refused, and of each that brings what is no HTTP.
        self.refused: Callable[[], None] = lambda: None
        self.unreadable: Callable[[], None] = lambda: None

    def admit(self, address: str) -> bool:
        """Count a connection in, unless there are too many."""
        if self.total >= self.limits.connections or self.by_address[address] >= self.limits.connections_per_address:
            self.refused()
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

    __slots__ = ("_address", "_alarm", "_begun", "_clock", "_connections", "_heard", "_progress")

    def __init__(self, server: GuardedServer, **options: Any) -> None:
        super().__init__(server, **options)
        self._connections = server.connections_held
        self._progress = server.progress
        self._clock = asyncio.get_running_loop()
        self._address: str | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._begun = False
        self._heard = self._clock.time()

    @property
    def idle(self) -> bool:
        """Whether nothing of a request has arrived that is not answered yet."""
        return not self._begun

    @property
    def waited(self) -> float:
        """For how long, in seconds, the last bytes that arrived have waited for the server to turn to them."""
        return self._clock.time() - self._heard

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or refuse it."""
        super().connection_made(transport)
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if self._connections.admit(address):
            self._address = address
        else:
            self.force_close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count the connection out."""
        super().connection_lost(exc)
        self._silence()
        self._progress.set()
        if self._address is not None:
            self._connections.leave(self._address)
            self._address = None

    def data_received(self, data: bytes) -> None:
        """Start the clock with the first byte of a request."""
        # aiohttp calls this itself, without data, to go on with what it has.
        if data:
            self._heard = self._clock.time()
            if not self._begun:
                self._begun = True
                self._alarm = self._clock.call_later(self._connections.limits.header_time, self.force_close)
        super().data_received(data)

    def headers_complete(self) -> None:
        """Stop the clock: a request's headers are whole."""
        self._begun = True
        self._silence()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write the answer and await the next request, for as long as the client may also take over the answer."""
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            # Otherwise the rest of a refused body follows, and the connection is closed after it.
            self._begun = not request.content.is_eof()
            self._progress.set()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002  # aiohttp's signature; both may quote what was sent
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """Answer what is no HTTP, without a word of it in the answer or the log, and close."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer is on its way already")
        self._connections.unreadable()
        response = web.Response(status=status, text="this is not a request that can be read\n")
        response.force_close()
        return response

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


class GuardedServer(web.Server):
    """aiohttp's server with guarded connections."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        super().__init__(
            handler, keepalive_timeout=limits.keepalive, auto_decompress=False, access_log=None, lingering_time=LINGER
        )
        self.connections_held = Connections(limits)
        #: Set whenever a request is answered or a connection gone.
        self.progress = asyncio.Event()

    def __call__(self) -> GuardedConnection:
        """Return the protocol of a new connection."""
        return GuardedConnection(self, loop=asyncio.get_running_loop(), **self._kwargs)

    async def drain(self, seconds: float) -> None:
        """Close each connection once it is idle, and after so many seconds the others, too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._close_idle():
                    self.progress.clear()
                    await self.progress.wait()
        await self.shutdown(CUT_TIME)

    def _close_idle(self) -> bool:
        """Close the connections that are idle, and tell whether there are others."""
        # Not aiohttp's `pre_shutdown`: it drops the rest of a body that is still arriving.
        busy = False
        for connection in self.connections:
            if isinstance(connection, GuardedConnection) and connection.idle:
                connection.force_close()
            else:
                busy = True
        return busy
