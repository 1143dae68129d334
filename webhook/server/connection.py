"""One connection: requests in, answers out, in order and within bounds.

What aiohttp's own server does for each request (a task, a request and a response object, two writes) costs more than a
review. Here, a request that is answered at once is one call back and one write.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar, cast

from webhook.server.answer import CONTINUE, TEXT, rendered
from webhook.server.body import CLIENT_LEFT, BadRequest, Body, BufferedBytes, Rejection, too_large
from webhook.server.connections import Connections, ConnState
from webhook.server.reader import UNREADABLE, RequestHead, RequestReader
from webhook.server.session import Closed, Failure, Session, failure

#: For how long what is left of a rejected body is read and thrown away, in seconds, and how much of it, in bytes: a
#: client that is still writing would otherwise meet a reset before it reads the answer.
LINGER, LINGER_SIZE = 1.0, 8 * 1024 * 1024 + 64 * 1024
#: For a client to take over the last answer, in seconds.
CLOSE_TIME = 10.0
#: Bytes of a handshake. A client's first message has some 2 KiB; OpenSSL would hold 128 KiB of each.
HELLO = 16 * 1024
#: What a client may send ahead while a request of it is answered, in bytes, before nothing more is read.
AHEAD = 64 * 1024
#: The versions of HTTP that are spoken.
VERSIONS = frozenset({(1, 0), (1, 1)})

#: Says which context answers the next handshake, or None while there is none.
Choice = Callable[[], ssl.SSLContext | None]


class Exchange(Protocol):
    """One request, from its head to its answer.

    Attributes:
        wanted: for how many seconds its body is waited for; 0 where it is answered without.
        left: whether the client has left before the answer.
    """

    wanted: float
    left: bool


E = TypeVar("E", bound=Exchange)


class RequestHandler(Protocol[E]):
    """Answers requests: each by one call of `Connection.answer`, later than it is called itself."""

    @property
    def draining(self) -> bool:
        """Whether each answer closes its connection."""

    def begin(self, connection: Connection[E], head: RequestHead) -> E:
        """Take the head of a request."""

    def complete(self, exchange: E, body: bytes) -> None:
        """Take the whole body, or nothing where none is wanted, and see to the answer."""

    def fail(self, exchange: E, error: BadRequest) -> None:
        """See to the answer of a request whose body cannot be read, or whose client has left."""

    def failed(self, why: Rejection | Failure) -> None:
        """Note what never came to a request: a handshake that failed, or what is no HTTP."""


class Connection(asyncio.Protocol, Generic[E]):
    """One connection, over TLS where a choice of contexts is given.

    Attributes:
        address: of the client.
        state: where it is; `Connections.move` sets it, and the next two.
        since: when it came there, on the loop's clock.
        deadline: when it has to be through, where it is not quiet; 0 for never.
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

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is of no such class
        if not self._connections.holds(self):  # it has given way already
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        """End."""
        if self.state is ConnState.SHAKING and self._choose is not None:
            self._handler.failed(Failure.LEFT)
        self._connections.leave(self)
        # By hand, and not when the garbage collector comes by: it does not know what TLS holds beside Python's objects.
        self._transport = self._session = None
        exchange = self._exchange
        if exchange is not None:
            exchange.left = True
            if self._reading:
                self._reading = False
                self._handler.fail(exchange, BadRequest(CLIENT_LEFT, Rejection.LEFT, "the client left"))

    def data_received(self, data: bytes) -> None:
        """Take bytes of the wire."""
        self.heard = self.loop.time()
        if self._choose is None:
            self._receive(data)
            return
        session = self._session
        if session is None:
            context = self._choose()
            if context is None:
                self._connections.move(self, ConnState.BUSY)
                self._handler.failed(Failure.NO_CERTIFICATE)
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
        """Take note of so many bytes of a handshake."""
        self._shaken += size
        if session.established:
            self._connections.move(self, ConnState.UNUSED, self.heard)
        elif self._shaken > HELLO:
            self._connections.move(self, ConnState.BUSY)
            self._handler.failed(Failure.OTHER)
            self.abort()

    def pause_writing(self) -> None:
        """Wait for a client that does not take its answer only as long as for an idle one."""
        if self.state is not ConnState.LINGERING:
            self._connections.move(self, ConnState.BUSY, self.loop.time() + self._connections.limits.keepalive)

    def resume_writing(self) -> None:
        """Go on once it has."""
        if self._exchange is None and self.state is ConnState.BUSY:
            self._go_on()

    # What arrives

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
        # HTTP/1.0 may keep a connection open only by a header of its own: not worth the words.
        self._close_after = head.should_close or head.upgrade or head.version == (1, 0)
        exchange = self._exchange = self._handler.begin(self, head)
        if not exchange.wanted:
            self._connections.move(self, ConnState.BUSY)
            self._handler.complete(exchange, b"")
            return
        limits, reader = self._held.limits, self._reader
        chunk = reader.body()
        if reader.complete and len(chunk) <= min(limits.small, limits.body):  # it has come with its head
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
        self._handler.fail(self._exchange, error)

    def _unreadable(self) -> None:
        """Answer what is no HTTP, without a word of it in the answer or the log, and close."""
        self._handler.failed(Rejection.NOT_HTTP)
        self._write(rendered(400, b"this is not a request that can be read\n", close=True))
        self._linger()

    # What is answered

    def answer(self, code: int, body: bytes, media: str = TEXT, headers: Mapping[str, str] | None = None) -> None:
        """Answer the request at hand, and go on with the next."""
        self._exchange = None
        if self._body is not None:
            self._body.release()
            self._body = None
        if self._transport is None:
            return
        # What has not arrived of a body must not be taken for the next request.
        partial = not self._reader.complete
        self._reader.drop_body()
        close = partial or self._close_after or self._handler.draining
        self._write(rendered(code, body, media, headers, close=close, bare=self._without_body))
        if partial:
            self._linger()
        elif close:
            self._close()
        elif self.deadline == 0.0:  # else the client does not take the answer: it is waited for
            self._go_on()

    def _go_on(self) -> None:
        """Turn to what has arrived of the next request."""
        self._connections.move(self, ConnState.IDLE, self.loop.time())
        if (ahead := self._reader.following()) is not None:
            self._feed(ahead)
        # Not before all that was sent ahead is used up: else each answer to a short request would let in much more.
        if self._paused and self._transport is not None and (self._exchange is None or self._reading):
            self._paused = False
            self._transport.resume_reading()

    def _write(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        try:
            self._transport.write(data if self._session is None else self._session.send(data))
        except ssl.SSLError:  # the client has broken the session meanwhile
            self.abort()

    def _linger(self) -> None:
        self._reader.ahead = b""
        self._discarded = 0
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + LINGER)
        if self._transport is not None:
            self._transport.resume_reading()

    def _close(self) -> None:
        """Close once all is sent; where the client does not take it, in the end without."""
        if self._transport is None or self._transport.is_closing():
            return
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + CLOSE_TIME)
        self._discarded = 0
        if self._session is not None and self._session.established:
            self._transport.write(self._session.end())
        self._transport.close()

    def _broken(self, session: Session, error: ssl.SSLError) -> None:
        """End a session that is none: with OpenSSL's alert, and counted where it is a handshake."""
        if not session.established:
            self._handler.failed(failure(error))
        self._connections.move(self, ConnState.LINGERING, self.loop.time() + LINGER)
        if self._transport is not None:
            self._transport.write(session.pending())
            self._transport.close()

    # What time brings

    def expire(self) -> None:
        """Do what is due at the deadline of its state."""
        if self._reading:
            self._stop_reading(BadRequest(408, Rejection.SLOW, "the body took too long to arrive"))
        elif self.state is ConnState.LINGERING and self._transport is not None and not self._transport.is_closing():
            self._close()
        else:
            self.abort()

    def retire(self) -> None:
        """Close it if it is idle: the server is about to stop."""
        if self.state in {ConnState.IDLE, ConnState.UNUSED, ConnState.SHAKING}:
            self._close()

    def abort(self) -> None:
        """Close it at once."""
        self._connections.leave(self)
        if self._transport is not None:
            self._transport.abort()
