"""Server-sent events: each is written when the client has read the ones before, so a slow reader holds no memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import web

from jobgate.cluster import ApiError
from jobgate.console.caller import Caller
from jobgate.console.jobs import Jobs
from jobgate.console.replicas import Replicas
from jobgate.console.reviews import ReviewStore
from jobgate.doctor.look import CannotDiagnose

#: Seconds between two looks at reviews, and at jobs; between comments, and of a stream in all.
PERIOD, JOB_PERIOD, SILENCE, LIFETIME = 0.3, 1.0, 10.0, 3600.0
#: Seconds after which a job is read again although no change was seen: pods may not be watched.
JOB_SILENCE: Final = 15.0
#: Most changed jobs of an event, and most streams.
BATCH, STREAMS = 500, 20
OPEN: Final = web.AppKey("streams", set[web.StreamResponse])

#: Yields what is new: the name of an event, its content, and its id or 0.
Look: TypeAlias = Callable[[], AsyncIterator[tuple[str, Any, int]]]


class Ended(Exception):
    """Nothing more will come."""


async def follow(request: web.Request, look: Look, period: float = PERIOD) -> web.StreamResponse:
    """Send what is new, look after look, until the client leaves; it connects again after `LIFETIME`.

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
        while time.monotonic() < end and request.transport is not None:
            async for event, content, number in look():
                start = f"id: {number}\nevent: {event}\ndata: " if number else f"event: {event}\ndata: "
                await response.write(start.encode() + orjson.dumps(content) + b"\n\n")
                sent = time.monotonic()
            if time.monotonic() - sent > SILENCE:
                await response.write(b": nothing new\n\n")
                sent = time.monotonic()
            await asyncio.sleep(period)
    except Ended:
        pass
    finally:
        streams.discard(response)
    return response


def of_reviews(caller: Caller, store: ReviewStore, replicas: Replicas, after: int) -> Look:
    """Return what yields reviews as they arrive, and how replicas are read."""
    last, shown = after, None

    async def look() -> AsyncIterator[tuple[str, Any, int]]:
        nonlocal last, shown
        if 0 < last < store.dropped:
            yield "missed", {"count": 0}, 0
        newest = store.last
        for kept in await store.seen_by(caller, last):
            yield "review", kept.light, kept.id
        last = max(last, newest)
        states = [replica.to_json() for replica in replicas.known.values()]
        if states != shown:
            yield "replicas", states, 0
            shown = states

    return look


def of_jobs(caller: Caller, jobs: Jobs) -> Look:
    """Return what yields the rows of jobs that change; first only how many there are."""
    before: dict[str, Any] = {}
    version = -1

    async def look() -> AsyncIterator[tuple[str, Any, int]]:
        nonlocal before, version
        if jobs.version == version:
            return
        is_first, version = version < 0, jobs.version
        rows = {f"{row['plural']}/{row['namespace']}/{row['name']}": row for row in await jobs.seen_by(caller)}
        changed = [] if is_first else [row for key, row in rows.items() if before.get(key) != row]
        gone = [before[key] for key in before.keys() - rows.keys()]
        before = rows
        if len(changed) + len(gone) > BATCH:
            yield "jobs", {"reload": True, "total": len(rows)}, 0
        elif is_first or changed or gone:
            deleted = [{key: row[key] for key in ("plural", "namespace", "name")} for row in gone]
            yield "jobs", {"changed": changed, "deleted": deleted, "total": len(rows)}, 0

    return look


def of_job(read: Callable[[], Awaitable[Any]], jobs: Jobs, namespace: str) -> Look:
    """Return what yields a job when something in its namespace changes; `read` returns it, or raises CannotDiagnose."""
    shown, touched, due = None, -1, 0.0

    async def look() -> AsyncIterator[tuple[str, Any, int]]:
        nonlocal shown, touched, due
        now, version = time.monotonic(), jobs.touched.get(namespace, 0)
        if version == touched and now < due:
            return
        try:
            content = await read()
        except CannotDiagnose:
            yield "gone", {}, 0
            raise Ended from None
        except (ApiError, OSError, TimeoutError):
            return  # asked again with the next look
        touched, due = version, now + JOB_SILENCE
        if content != shown:
            yield "job", content, 0
            shown = content

    return look
