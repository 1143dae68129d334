"""Server-sent events: each is written when the client has read the ones before, so a slow reader holds no memory."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final, Self

import orjson
from aiohttp import web

from jobgate.cluster import ApiError
from jobgate.console.caller import Caller
from jobgate.console.jobs import Jobs
from jobgate.console.replicas import Replicas
from jobgate.console.reviews import ReviewStore
from jobgate.doctor.look import CannotDiagnose

#: Seconds between two looks, at a job that changes and at one that does not, between comments, and of a stream in all.
PERIOD, JOB_PERIOD, JOB_SILENCE, SILENCE, LIFETIME = 0.3, 1.0, 15.0, 10.0, 3600.0
#: Most reviews of a look, and most streams.
BATCH, STREAMS = 500, 20
_OPEN: Final = web.AppKey("streams", set[web.StreamResponse])


class EventStream:
    """The answer to a request for events, within `async with`."""

    def __init__(self, request: web.Request) -> None:
        """Prepare a stream.

        Raises:
            web.HTTPTooManyRequests: too many are open.
        """
        self._request = request
        self._open = request.app[_OPEN]
        if len(self._open) >= STREAMS:
            raise web.HTTPTooManyRequests(text="too many streams are open: close another page")
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self._sent, self._end = time.monotonic(), time.monotonic() + LIFETIME

    async def __aenter__(self) -> Self:
        self._open.add(self.response)
        await self.response.prepare(self._request)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open.discard(self.response)

    @property
    def lasts(self) -> bool:
        """Whether the stream goes on: clients connect again from time to time, and their token is checked again."""
        transport = self._request.transport
        return time.monotonic() < self._end and transport is not None and not transport.is_closing()

    async def send(self, event: str, content: Any, number: int = 0) -> None:
        """Send an event, and wait until there is room for the next."""
        start = f"id: {number}\n" if number else ""
        await self._write(f"{start}event: {event}\ndata: ".encode() + orjson.dumps(content) + b"\n\n")

    async def pause(self, seconds: float) -> None:
        """Wait; in a silent stream, send a comment, by which a client that has left is noticed."""
        if time.monotonic() - self._sent > SILENCE:
            await self._write(b": nothing new\n\n")
        await asyncio.sleep(seconds)

    async def _write(self, data: bytes) -> None:
        await self.response.write(data)
        self._sent = time.monotonic()


def set_up(app: web.Application) -> None:
    """Prepare an application for streams."""
    app[_OPEN] = set()


async def of_reviews(
    request: web.Request, caller: Caller, store: ReviewStore, replicas: Replicas, after: int
) -> web.StreamResponse:
    """Send reviews as they arrive."""
    async with EventStream(request) as stream:
        last, shown = after, None
        while stream.lasts:
            if 0 < last < store.dropped:
                await stream.send("missed", {"count": 0})
            newest = store.last
            for kept in await store.seen_by(caller, last):
                await stream.send("review", kept.light, kept.id)
            last = max(last, newest)
            states = [replica.to_json() for replica in replicas.known.values()]
            if states != shown:
                await stream.send("replicas", states)
                shown = states
            await stream.pause(PERIOD)
        return stream.response


async def of_jobs(request: web.Request, caller: Caller, jobs: Jobs) -> web.StreamResponse:
    """Send the rows of jobs that change."""
    async with EventStream(request) as stream:
        before: dict[str, Any] = {}
        version = -1
        while stream.lasts:
            if jobs.version != version:
                first, version = version < 0, jobs.version
                rows = {f"{row['plural']}/{row['namespace']}/{row['name']}": row for row in await jobs.seen_by(caller)}
                changed = [] if first else [row for key, row in rows.items() if before.get(key) != row]
                gone = [before[key] for key in before.keys() - rows.keys()]
                if len(changed) + len(gone) > BATCH:
                    await stream.send("jobs", {"reload": True, "total": len(rows)})
                elif first or changed or gone:
                    deleted = [{key: row[key] for key in ("plural", "namespace", "name")} for row in gone]
                    await stream.send("jobs", {"changed": changed, "deleted": deleted, "total": len(rows)})
                before = rows
            await stream.pause(2 * PERIOD)
        return stream.response


async def of_job(request: web.Request, look: Any, jobs: Jobs, namespace: str) -> web.StreamResponse:
    """Send a job when something in its namespace changes; `look` returns it, or raises CannotDiagnose without it."""
    async with EventStream(request) as stream:
        shown, touched, due = None, -1, 0.0
        while stream.lasts:
            now = time.monotonic()
            if jobs.touched.get(namespace, 0) != touched or now > due:
                touched, due = jobs.touched.get(namespace, 0), now + JOB_SILENCE
                try:
                    content = await look()
                except CannotDiagnose:
                    await stream.send("gone", {})
                    break
                except (ApiError, OSError, TimeoutError):
                    due = now + JOB_PERIOD
                    content = shown
                if content != shown:
                    await stream.send("job", content)
                    shown = content
            await stream.pause(JOB_PERIOD)
        return stream.response
