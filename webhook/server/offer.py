"""Offers the kept reviews on the plain port to who may read them: as JSON, and as a stream of server-sent events.

A stream holds at most one part of `PART` bytes: the next is sent once the client has read it. A client that reads too
slowly misses reviews instead of holding memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import parse_qs

import orjson

from webhook.server.answer import JSON
from webhook.server.connection import Connection, Exchange
from webhook.server.limits import KIB, MIB
from webhook.server.reader import RequestHead
from webhook.server.reviews import KeptReviews

PATH: Final = "/reviews"
STREAM: Final = f"{PATH}/stream"
#: The header of the token, for clients behind the API server: it removes `Authorization`.
TOKEN: Final = "X-Reviews-Token"  # noqa: S105  # a name
#: Seconds between two looks for reviews to mask.
MASKING = 0.1
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
#: Reviews as JSON with their ids, and whether some before them were dropped.
Read: TypeAlias = tuple[Sequence[tuple[int, bytes]], bool]


class ReviewSource(Protocol):
    """Where reviews are read from."""

    async def run(self) -> None:
        """Do what must be done all the time, until cancelled."""

    async def read(self, last: int, most: int, room: int, token: str) -> Read:
        """Return the first reviews after an id, or after 0 the newest, until they fill a room of some bytes."""


class OwnReviews:
    """The reviews of this process."""

    def __init__(self, kept: KeptReviews) -> None:
        self._kept = kept

    async def run(self) -> None:
        """Mask reviews soon after they are kept."""
        while True:
            while self._kept.mask():  # noqa: ASYNC110  # another thread keeps reviews
                await asyncio.sleep(0)  # for probes
            await asyncio.sleep(MASKING)

    async def read(self, last: int, most: int, room: int, token: str) -> Read:  # noqa: ARG002  # it is checked already
        """Return the first reviews after an id, or after 0 the newest, until they fill a room of some bytes."""
        found, missed = self._kept.after(last, most)
        return list(_first(((kept.id, kept.to_json()) for kept in found), room)), missed


class WorkerReviews:
    """The reviews of several workers, in the order of their ids, which are times. Each worker checks the token."""

    def __init__(self, workers: Sequence[Callable[[str, Mapping[str, str]], tuple[int, str]]]) -> None:
        """Take functions that ask a worker."""
        self._workers = workers

    async def run(self) -> None:
        """Do nothing: workers mask their reviews."""

    async def may_read(self, token: str) -> int:
        """Return what the first worker answers to a token."""
        return (await asyncio.to_thread(self._workers[0], f"{PATH}?limit=0", {TOKEN: token}))[0]

    async def read(self, last: int, most: int, room: int, token: str) -> Read:
        """Return the first reviews after an id, or after 0 the newest; those since the question come next time."""
        until, path = time.time_ns() // 1000, f"{PATH}?after={last}&limit={most}"
        asked = (asyncio.to_thread(ask, path, {TOKEN: token}) for ask in self._workers)
        answers = await asyncio.gather(*asked, return_exceptions=True)  # a worker that has just ended has no reviews
        texts = [text for code, text in (each for each in answers if isinstance(each, tuple)) if code == HTTPStatus.OK]
        lists = [orjson.loads(text) for text in texts]
        items = [item for each in lists for item in each["items"] if item["id"] <= until]
        found = sorted(((item["id"], item) for item in items), key=lambda each: each[0])
        chosen = found[:most] if last else found[-most:]
        parts = _first(((number, orjson.dumps(item)) for number, item in chosen), room)
        return list(parts), any(each["missed"] for each in lists)


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

    def __init__(self, source: ReviewSource, may_read: MayRead) -> None:
        """Take where reviews are read from, and who may read; that is asked in the running event loop."""
        self._source, self._may_read = source, may_read
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams = 0
        self._second, self._asked = 0, 0

    async def run(self) -> None:
        """Do what must be done all the time, until cancelled."""
        await self._source.run()

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
                read = await self._source.read(query.after, query.most, ANSWER, query.token)
                body = _listed(read, query.after)
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
            await self._send(asking, query.after, query.token)
        finally:
            self._streams -= 1
            asking.connection.abort()

    async def _send(self, asking: Asking, last: int, token: str) -> None:
        now = asyncio.get_running_loop().time
        end, sent = now() + LIFETIME, now()
        asking.connection.begin_stream("text/event-stream")
        while now() < end and not asking.left:
            if asking.connection.has_read:
                found, missed = await self._source.read(last, MOST, PART, token)
                parts = [b"event: missed\ndata: {}\n\n"] if missed else []
                parts += [b"id: %d\nevent: review\ndata: %b\n\n" % each for each in found]
                last = found[-1][0] if found else last
                if not parts and now() - sent > SILENCE:
                    parts = [b": nothing new\n\n"]
                if parts:
                    asking.connection.stream(b"".join(parts))
                    sent = now()
            await asyncio.sleep(PERIOD)


def _listed(read: Read, last: int) -> bytes:
    """Return the JSON of reviews, with the id to go on after."""
    found, missed = read
    end = found[-1][0] if found else last
    items = b",".join(json for _, json in found)
    return b'{"items":[%b],"last":%d,"missed":%b}' % (items, end, b"true" if missed else b"false")


def _first(found: Iterable[tuple[int, bytes]], room: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first reviews, until they fill a room."""
    for number, json in found:
        if room <= 0:
            return
        room -= len(json)
        yield number, json
