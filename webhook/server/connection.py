"""One connection: reads requests and writes answers, in order and within limits.

The server of aiohttp creates a task, a request and a response for each request, and writes twice: that costs more than
a review. Here, a request that is answered at once costs one callback and one write.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar, cast

from webhook.server.answer import CONTINUE, TEXT, rendered, streamed
from webhook.server.body import CLIENT_LEFT, BadRequest, Body, BufferedBytes, Rejection, too_large
from webhook.server.connections import Connections, ConnState
from webhook.server.reader import UNREADABLE, RequestHead, RequestReader
from webhook.server.session import Closed, Failure, Session, failure

#: How long, in seconds, and how much, in bytes, of a rejected body is still read and dropped. Otherwise a client that
#: is still writing gets a reset before it reads the answer.
LINGER, LINGER_SIZE = 1.0, 8 * 1024 * 1024 + 64 * 1024
#: Seconds that a client has to read the last answer.
CLOSE_TIME = 10.0
#: Seconds that a client has to read a part of a stream.
STREAM_TIME = 30.0
#: Most bytes of a handshake. The first message of a client has about 2 KiB; OpenSSL would hold 128 KiB of each.
HELLO = 16 * 1024
#: Most bytes that are read of further requests while one is answered.
AHEAD = 64 * 1024
#: The versions of HTTP that are spoken.
VERSIONS = frozenset({(1, 0), (1, 1)})

#: Returns the TLS context for the next handshake, or None if there is no certificate yet.
Choice = Callable[[], ssl.SSLContext | None]


class Exchange(Protocol):
    """One request, from its head to its answer.

    Attributes:
        wanted: how many seconds to wait for the body; 0 if the request is answered without it.
        left: whether the client has left before the answer.
    """

    wanted: float
    left: bool


E = TypeVar("E", bound=Exchange)


class RequestHandler(Protocol[E]):
    """Answers requests: each by one call of `Connection.answer`, after its own call has returned."""

    @property
    def draining(self) -> bool:
        """Whether each answer closes its connection."""

    def begin(self, connection: Connection[E], head: RequestHead) -> E:
        """Take the head of a request."""

    def complete(self, exchange: E, body: bytes) -> None:
        """Take the whole body, or nothing if none is wanted, and answer later."""

    def reject(self, exchange: E, error: BadRequest) -> None:
        """Answer a request whose body cannot be read, or whose client has left."""

    def count_failure(self, why: Rejection | Failure) -> None:
        """Count what did not become a request: a failed handshake, or bytes that are not HTTP."""


class Connection(asyncio.Protocol, Generic[E]):
    """One connection, over TLS if a choice of contexts is given.

    Attributes:
        address, state, since, deadline: see `Tracked`; `Connections.move` sets the last three.
        heard: when the last bytes arrived, on the loop's clock.
        loop: the event loop.
    """

    def __init__(
        self,
        handler: RequestHandler[E],
        connections: Connections,
        held: BufferedBytes,
        address: str,
        choose: Choice | None = None,
    ) -> None:
        self._handler = handler
        self._connections = connections
        self._held = held
        self._choose = choose
        self._session: Session | None = None
        self.loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader = RequestReader()
        self._exchange: E | None = None
        self._body: Body | None = None
        self._reading = self._paused = False
        self._close_after = self._without_body = False
        self._discarded = -1
        self._shaken = 0
        self.address = address
        self.heard = self.loop.time()
        self.state, self.since, self.deadline = ConnState.SHAKING, self.heard, 0.0
        if choose is None:
            self.state = ConnState.UNUSED

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless the connection is closed already because there are too many."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is of no such class
        if not self._connections.holds(self):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        """Release everything."""
        if self.state is ConnState.SHAKING and self._choose is not None:
            self._handler.count_failure(Failure.LEFT)
        self._connections.leave(self)
        # Not left to the garbage collector: it does not see the memory that TLS holds beside Python's objects.
        self._transport = self._session = None
        exchange = self._exchange
        if exchange is not None:
            exchange.left = True
            if self._reading:
                self._reading = False
                self._handler.reject(exchange, BadRequest(CLIENT_LEFT, Rejection.LEFT, "the client left"))

    def data_received(self, data: bytes) -> None:
        """Take bytes from the socket."""
        self.heard = self.loop.time()
        if self._choose is None:
            self._receive(data)
            return
        session = self._session
        if session is None:
            context = self._choose()
            if context is None:
                self._connections.move(self, ConnState.BUSY)
                self._handler.count_failure(Failure.NO_CERTIFICATE)
                self.abort()
                return
            session = self._session = Session(context)
        try:
            plain = session.receive(data)
        except Closed:
            self._close()
            return
        except ssl.SSLError as error:
            self._broken(session, error)
            return
        if (reply := session.pending()) and self._transport is not None:
            self._transport.write(reply)
        if self.state is ConnState.SHAKING:
            self._shake(session, len(data))
        if plain:
            self._receive(plain)

    def _shake(self, session: Session, size: int) -> None:
        """Count bytes of the handshake, and end it or abort if necessary."""
        self._shaken += size
        if session.established:
            self._connections.move(self, ConnState.UNUSED, self.heard)
        elif self._shaken > HELLO:
            self._connections.move(self, ConnState.BUSY)
            self._handler.count_failure(Failure.OTHER)
            self.abort()

    def pause_writing(self) -> None:
        """Give a client that does not read its answer as much time as an idle one."""
        if self.state is not ConnState.LINGERING:
            self._connections.move(self, ConnState.BUSY, self.loop.time() + self._connections.limits.keepalive)

    def resume_writing(self) -> None:
        """Go on once the client has read it."""
        if self._exchange is None and self.state is ConnState.BUSY:
            self._go_on()

    # Reading

    def _receive(self, data: bytes) -> None:
        if self._discarded >= 0:
            self._discarded += len(data)
            if self._discarded > LINGER_SIZE:
                self.abort()
        elif self._exchange is not None and not self._reading:
            self._reader.ahead += data
            if len(self._reader.ahead) > AHEAD and self._transport is not None:
                self._paused = True
                self._transport.pause_reading()
        else:
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        try:
            head = self._reader.feed(data)
        except UNREADABLE:
            if self._exchange is None:
                self._unreadable()
            else:
                self._stop_reading(BadRequest(400, Rejection.FRAMING, "the body's framing is broken"))
            return
        try:
            if head is not None:
                self._begin(head)
            elif self._reading:
                self._read(self._reader.body())
            elif data and self.state is not ConnState.BUSY:
                self._connections.move(self, ConnState.BUSY, self.heard + self._connections.limits.header_time)
        except BadRequest as error:
            self._stop_reading(error)

    def _begin(self, head: RequestHead) -> None:
        if head.version not in VERSIONS:
            self._unreadable()
            return
        self._without_body = head.method == "HEAD"
        # HTTP/1.0 keeps a connection open only by a header of its own, which is not supported.
        self._close_after = head.should_close or head.upgrade or head.version == (1, 0)
        exchange = self._exchange = self._handler.begin(self, head)
        if not exchange.wanted:
            self._connections.move(self, ConnState.BUSY)
            self._handler.complete(exchange, b"")
            return
        limits, reader = self._held.limits, self._reader
        chunk = reader.body()
        if reader.complete and len(chunk) <= min(limits.small, limits.body):  # it has arrived with the head
            self._connections.move(self, ConnState.BUSY)
            self._handler.complete(exchange, chunk)
            return
        self._reading = True
        self._body = Body(self._held)
        self._connections.move(self, ConnState.BUSY, self.heard + exchange.wanted)
        if reader.length > limits.body:
            raise too_large(limits)
        if "Expect" in head.headers and head.version == (1, 1) and not reader.complete:
            self._write(CONTINUE)
        self._read(chunk)

    def _read(self, chunk: bytes) -> None:
        body, exchange = self._body, self._exchange
        assert body is not None
        assert exchange is not None
        if chunk:
            body.add(chunk)
        if self._reader.complete:
            self._reading = False
            self._connections.move(self, ConnState.BUSY)
            self._handler.complete(exchange, body.whole())

    def _stop_reading(self, error: BadRequest) -> None:
        self._reading = False
        self._connections.move(self, ConnState.BUSY)
        assert self._exchange is not None
        self._handler.reject(self._exchange, error)

    def _unreadable(self) -> None:
        """Answer bytes that are not HTTP, without quoting them in the answer or the log, and close."""
        self._handler.count_failure(Rejection.NOT_HTTP)
        self._write(rendered(400, b"this is not a request that can be read\n", close=True))
        self._linger()

    # Answering

    def answer(self, code: int, body: bytes, media: str = TEXT, headers: Mapping[str, str] | None = None) -> None:
        """Answer the current request, and go on with the next."""
        self._exchange = None
        if self._body is not None:
            self._body.release()
            self._body = None
        if self._transport is None:
            return
        # The rest of a body must not be taken for the next request.
        partial = not self._reader.complete
        self._reader.drop_body()
        close = partial or self._close_after or self._handler.draining
        self._write(rendered(code, body, media, headers, close=close, bare=self._without_body))
        if partial:
            self._linger()
        elif close:
            self._close()
        elif self.deadline == 0.0:  # otherwise the client does not read the answer: see `pause_writing`
            self._go_on()

    def begin_stream(self, media: str) -> None:
        """Begin an answer of many parts, whose end is the end of the connection."""
        self._close_after = True
        self.stream(streamed(media))

    def stream(self, part: bytes) -> None:
        """Send the next part of a stream; the client has some time to read it."""
        self._write(part)
        self._connections.move(self, ConnState.BUSY, self.loop.time() + STREAM_TIME)

    @property
    def has_read(self) -> bool:
        """Whether the client has read the last part of a stream."""
        return self._transport is not None and not self._transport.get_write_buffer_size()

    def _go_on(self) -> None:
        """Begin the next request with the bytes of it that have arrived."""
        self._connections.move(self, ConnState.IDLE, self.loop.time())
        if (ahead := self._reader.following()) is not None:
            self._feed(ahead)
        # Only after all bytes sent ahead are used: otherwise each answer to a short request would let in many more.
        if self._paused and self._transport is not None and (self._exchange is None or self._reading):
            self._paused = False
            self._transport.resume_reading()

    def _write(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        try:
            self._transport.write(data if self._session is None else self._session.send(data))
        except ssl.SSLError:  # the client has broken the session
            self.abort()

    def _linger(self) -> None:
        self._reader.ahead = b""
        self._discarded = 0
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + LINGER)
        if self._transport is not None:
            self._transport.resume_reading()

    def _close(self) -> None:
        """Close once everything is sent, or after some time if the client does not read it."""
        if self._transport is None or self._transport.is_closing():
            return
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + CLOSE_TIME)
        self._discarded = 0
        if self._session is not None and self._session.established:
            self._transport.write(self._session.end())
        self._transport.close()

    def _broken(self, session: Session, error: ssl.SSLError) -> None:
        """End a session after an error, with OpenSSL's alert. A failed handshake is counted."""
        if not session.established:
            self._handler.count_failure(failure(error))
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + LINGER)
        if self._transport is not None:
            self._transport.write(session.pending())
            self._transport.close()

    # Deadlines

    def expire(self) -> None:
        """End the current state, because its deadline is over."""
        if self._reading:
            self._stop_reading(BadRequest(408, Rejection.SLOW, "the body took too long to arrive"))
        elif self.state is ConnState.LINGERING and self._transport is not None and not self._transport.is_closing():
            self._close()
        else:
            self.abort()

    def retire(self) -> None:
        """Close the connection if it is idle, because the server stops."""
        if self.state in {ConnState.IDLE, ConnState.UNUSED, ConnState.SHAKING}:
            self._close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._connections.leave(self)
        if self._transport is not None:
            self._transport.abort()
