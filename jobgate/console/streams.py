"""Server-sent events: each is written when the client has read the ones before, so a slow reader holds no memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import web

from jobgate.cluster import ApiError
from jobgate.console.caller import Caller
from jobgate.console.reviews import ReviewStore
from jobgate.doctor.look import CannotDiagnose

#: Seconds between two looks at reviews, and at jobs; between comments, and of a stream in all.
PERIOD, JOB_PERIOD, SILENCE, LIFETIME = 0.3, 1.0, 10.0, 3600.0
#: Seconds after which a job is read again although no change was seen, and most streams.
REREAD, STREAMS = 15.0, 20
OPEN: Final = web.AppKey("streams", set[web.StreamResponse])

#: Events as they are sent; an empty one if nothing is new, until it is asked for the next.
Events: TypeAlias = AsyncIterator[bytes]


def event(name: str, content: Any, number: int = 0) -> bytes:
    """Return an event as it is sent."""
    return b"%bevent: %b\ndata: %b\n\n" % (
        b"id: %d\n" % number if number else b"",
        name.encode(),
        orjson.dumps(content),
    )


async def follow(request: web.Request, events: Events, period: float = PERIOD) -> web.StreamResponse:
    """Send events until they end or the client leaves; it connects again after `LIFETIME`.

    Raises:
        web.HTTPTooManyRequests: too many streams are open.
    """
    streams, response = request.app[OPEN], web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    if len(streams) >= STREAMS:
        raise web.HTTPTooManyRequests(text="too many streams are open: close another page")
    streams.add(response)
    try:
        await response.prepare(request)
        sent, end = time.monotonic(), time.monotonic() + LIFETIME
        with suppress(ApiError, OSError, TimeoutError):  # who connects again gets the reason
            async for each in events:
                now = time.monotonic()
                if each or now - sent > SILENCE:
                    await response.write(each or b": nothing new\n\n")
                    sent = now
                elif now > end or request.transport is None:
                    break
                else:
                    await asyncio.sleep(period)
    finally:
        streams.discard(response)
    return response


async def of_reviews(
    caller: Caller, store: ReviewStore, servers: Callable[[], Awaitable[Any]], last: int
) -> AsyncIterator[bytes]:
    """Yield reviews as they arrive, and what becomes of reading servers."""
    shown: Any = None
    while True:
        if 0 < last < store.dropped:
            yield event("missed", {"count": 0})
        newest = store.last
        for kept in await store.seen_by(caller, last):
            yield event("review", kept.light, kept.id)
        last = max(last, newest)
        if (states := await servers()) != shown:
            yield event("replicas", states)
            shown = states
        yield b""


async def changes(
    name: str,
    read: Callable[[], Awaitable[Any]],
    version: Callable[[], int],
    shown: Callable[[Any], Any] = lambda it: it,
) -> AsyncIterator[bytes]:
    """Yield what is shown of what is read, when that and the version have changed, until `read` raises CannotDiagnose.

    It is also read again at times: pods may not be watched.
    """
    last: Any = None
    seen, due = -1, 0.0
    while True:
        if (now := version()) != seen or time.monotonic() > due:
            try:
                content = await read()
            except CannotDiagnose:
                yield event("gone", {})
                return
            seen, due = now, time.monotonic() + REREAD
            if content != last:
                yield event(name, shown(content))
                last = content
        yield b""
