"""Offers the kept reviews on the plain port to who may read them: as JSON, and as a stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import parse_qsl

from webhook.server.answer import JSON, TEXT
from webhook.server.connection import Connection, Exchange
from webhook.server.limits import KIB, MIB
from webhook.server.reader import RequestHead
from webhook.server.reviews import KeptReviews
from webhook.text import bearer

PATH: Final = "/reviews"
STREAM: Final = f"{PATH}/stream"
#: The header of the token, for clients behind the API server: it removes `Authorization`.
TOKEN: Final = "X-Reviews-Token"  # noqa: S105  # a name
#: Seconds between two parts of a stream, between two comments in a silent one, and until it ends: then the client
#: connects again, and its token is checked again.
PERIOD, SILENCE, LIFETIME = 0.25, 10.0, 600.0
#: Seconds until a review is offered: after that, none that ended before it is added.
SETTLED = 0.02
#: Most streams, and reviews of an answer; bytes of a part of a stream, and of an answer, after which none is added.
STREAMS, MOST, PART, ANSWER = 8, 1000, 64 * KIB, MIB
#: Returns the HTTP status for a token and the address of who sent it: OK if they may read all reviews.
MayRead: TypeAlias = Callable[[str, str], Coroutine[Any, Any, int]]


class Asking(Exchange, Protocol):
    """A request of the plain port."""

    connection: Connection[Any]
    head: RequestHead


class Offer:
    """Answers requests for reviews."""

    paths = frozenset({PATH, STREAM})

    def __init__(self, kept: KeptReviews, may_read: MayRead) -> None:
        """Take the reviews, and who may read them; that is asked in the running event loop."""
        self._kept, self._may_read = kept, may_read
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams = 0

    def answer(self, asking: Asking) -> None:
        """Answer later, in the event loop of the plain port."""
        task = asyncio.get_running_loop().create_task(self._answer(asking))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, asking: Asking) -> None:
        path, _, query = asking.head.path.partition("?")
        values, body = {"after": "0", "limit": str(MOST), **dict(parse_qsl(query))}, b""
        after, most = values["after"][:18], values["limit"][:18]
        try:
            status = await self._status(asking) if (after + most).isdecimal() else 400
            if status == HTTPStatus.OK and path == STREAM and self._streams < STREAMS:
                await self._stream(asking, int(after))
                return
            if status == HTTPStatus.OK and path == STREAM:
                status = HTTPStatus.TOO_MANY_REQUESTS
            elif status == HTTPStatus.OK:
                await asyncio.sleep(SETTLED)  # the list has all reviews that ended before it was asked for
                body = self._listed(int(after), min(MOST, int(most)))
        except Exception:  # noqa: BLE001  # one request fails, not the probes
            status = HTTPStatus.SERVICE_UNAVAILABLE
        headers = {"Retry-After": "1"} if status in {429, 503} else {"Cache-Control": "no-store"}
        why = "after and limit must be whole numbers" if status == 400 else HTTPStatus(status).description
        asking.connection.answer(status, body or f"{why}\n".encode(), JSON if body else TEXT, headers)

    async def _status(self, asking: Asking) -> int:
        """Return the HTTP status for a request: OK if who sent it may read all reviews."""
        head = asking.head
        token = head.headers.get(TOKEN, bearer(head.headers.get("Authorization", "")))
        if head.method != "GET" or not token:
            return HTTPStatus.UNAUTHORIZED if head.method == "GET" else HTTPStatus.METHOD_NOT_ALLOWED
        answer = asyncio.run_coroutine_threadsafe(self._may_read(token, asking.connection.address), self._loop)
        return await asyncio.wrap_future(answer)

    async def _stream(self, asking: Asking, last: int) -> None:
        now = asyncio.get_running_loop().time
        end, sent = now() + LIFETIME, now()
        self._streams += 1
        try:
            asking.connection.begin_stream("text/event-stream")
            while now() < end and not asking.left:
                if asking.connection.has_read:
                    found, missed = self._kept.after(last, MOST, PART, SETTLED)
                    part = b"event: missed\ndata: {}\n\n" if missed else b""
                    part += b"".join(b"id: %d\nevent: review\ndata: %b\n\n" % each for each in found)
                    last = found[-1][0] if found else last
                    if part or now() - sent > SILENCE:
                        asking.connection.stream(part or b": nothing new\n\n")
                        sent = now()
                await asyncio.sleep(PERIOD)
        finally:
            self._streams -= 1
            asking.connection.abort()

    def _listed(self, last: int, most: int) -> bytes:
        """Return the JSON of reviews, with the id to go on after."""
        found, missed = self._kept.after(last, most, ANSWER, SETTLED)
        end, items = found[-1][0] if found else last, b",".join(json for _, json in found)
        return b'{"items":[%b],"last":%d,"missed":%b}' % (items, end, b"true" if missed else b"false")
