"""Offers the kept reviews on the plain port to who may read them: as JSON, and as a stream of server-sent events.

A stream holds at most one part of `PART` bytes: the next is sent once the client has read it. A client that reads too
slowly misses reviews instead of holding memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import parse_qs

from webhook.server.answer import JSON
from webhook.server.connection import Connection, Exchange
from webhook.server.limits import KIB, MIB
from webhook.server.reader import RequestHead
from webhook.server.reviews import KeptReviews

PATH: Final = "/reviews"
STREAM: Final = f"{PATH}/stream"
#: The header of the token, for clients behind the API server: it removes `Authorization`.
TOKEN: Final = "X-Reviews-Token"  # noqa: S105  # a name
#: Seconds between two parts of a stream, between two comments in a silent one, and of a stream in all: then the client
#: connects again, with a token that is checked again.
PERIOD, SILENCE, LIFETIME = 0.25, 10.0, 600.0
#: Most streams, and most other requests per second.
STREAMS, PER_SECOND = 8, 10
#: Bytes of a part of a stream, and of an answer, after which no further review is added.
PART, ANSWER = 64 * KIB, MIB
#: Most reviews of an answer.
MOST = 1000

_LATER: Final = frozenset({429, 503})

#: Returns the HTTP status for a token: OK if who has it may read all reviews.
MayRead: TypeAlias = Callable[[str], Awaitable[int]]


class Asking(Exchange, Protocol):
    """A request of the plain port."""

    connection: Connection[Any]
    head: RequestHead


class _Query:
    """The parameters of a request, and its token."""

    def __init__(self, head: RequestHead) -> None:
        """Read them.

        Raises:
            ValueError: a parameter is no number.
        """
        values = {name: texts[-1] for name, texts in parse_qs(head.path.partition("?")[2]).items()}
        self.after, self.most = _number(values, "after", 0), min(MOST, _number(values, "limit", MOST))
        scheme, _, token = head.headers.get("Authorization", "").partition(" ")
        self.token = head.headers.get(TOKEN, "") or (token.strip() if scheme.lower() == "bearer" else "")


def _number(values: Mapping[str, str], name: str, default: int) -> int:
    text = values.get(name, str(default))
    if not text.isdecimal() or len(text) > 18:
        raise ValueError(f"{name} must be a whole number")
    return int(text)


class Offer:
    """Answers requests for reviews."""

    paths = frozenset({PATH, STREAM})

    def __init__(self, kept: KeptReviews, may_read: MayRead) -> None:
        """Take the reviews, and who may read them; that is asked in the running event loop."""
        self._kept, self._may_read = kept, may_read
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams = 0
        self._second, self._asked = 0, 0

    def answer(self, asking: Asking) -> None:
        """Answer later, in the event loop of the plain port."""
        task = asyncio.get_running_loop().create_task(self._answer(asking))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, asking: Asking) -> None:
        try:
            query = _Query(asking.head)
            if asking.head.method != "GET":
                status, why = 405, "reviews are only read"
            elif self._busy():
                status, why = 429, "too many requests: try again in a second"
            else:
                asked = asyncio.run_coroutine_threadsafe(self._allowed(query.token), self._loop)
                status, why = await asyncio.wrap_future(asked), "a token that may read them is required"
            if status == HTTPStatus.OK and asking.head.path.startswith(STREAM):
                await self._stream(asking, query)
                return
            if status == HTTPStatus.OK:
                body = self._listed(query)
                asking.connection.answer(200, body, JSON, {"Cache-Control": "no-store"})
                return
        except ValueError as error:
            status, why = 400, str(error)
        except Exception as error:  # noqa: BLE001  # one request fails, not the probes
            status, why = 503, type(error).__qualname__
        asking.connection.answer(
            status, f"{why}\n".encode(), headers={"Retry-After": "1"} if status in _LATER else None
        )

    async def _allowed(self, token: str) -> int:
        return await self._may_read(token) if token else HTTPStatus.UNAUTHORIZED

    def _busy(self) -> bool:
        """Count a request; return whether it is one too many."""
        second = int(time.monotonic())
        self._asked = self._asked + 1 if second == self._second else 1
        self._second = second
        return self._asked > PER_SECOND

    async def _stream(self, asking: Asking, query: _Query) -> None:
        if self._streams >= STREAMS:
            asking.connection.answer(429, b"too many streams\n", headers={"Retry-After": "10"})
            return
        self._streams += 1
        try:
            await self._send(asking, query.after)
        finally:
            self._streams -= 1
            asking.connection.abort()

    async def _send(self, asking: Asking, last: int) -> None:
        now = asyncio.get_running_loop().time
        end, sent = now() + LIFETIME, now()
        asking.connection.begin_stream("text/event-stream")
        while now() < end and not asking.left:
            if asking.connection.has_read:
                found, missed = self._read(last, MOST, PART)
                parts = [b"event: missed\ndata: {}\n\n"] if missed else []
                parts += [b"id: %d\nevent: review\ndata: %b\n\n" % each for each in found]
                last = found[-1][0] if found else last
                if not parts and now() - sent > SILENCE:
                    parts = [b": nothing new\n\n"]
                if parts:
                    asking.connection.stream(b"".join(parts))
                    sent = now()
            await asyncio.sleep(PERIOD)

    def _listed(self, query: _Query) -> bytes:
        """Return the JSON of reviews, with the id to go on after."""
        found, missed = self._read(query.after, query.most, ANSWER)
        end = found[-1][0] if found else query.after
        items = b",".join(json for _, json in found)
        return b'{"items":[%b],"last":%d,"missed":%b}' % (items, end, b"true" if missed else b"false")

    def _read(self, last: int, most: int, room: int) -> tuple[list[tuple[int, bytes]], bool]:
        """Return the first reviews after an id, until they fill a room, and whether some were dropped before."""
        kept, missed = self._kept.after(last, most)
        found: list[tuple[int, bytes]] = []
        for review in kept:
            if room <= 0:
                break
            found.append((review.id, review.to_json()))
            room -= len(found[-1][1])
        return found, missed
