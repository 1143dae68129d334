"""A server that gives the page any answer: broken, hostile, huge, empty."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tools.page import PAGE

#: The headers that the page must work with.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
}


class Fake:
    """The answers by path, and the streams that are open.

    Attributes:
        answers: a JSON value, or a status and a message, for each path below `/api/`.
        events: the events that a stream begins with, by its path.
        posted: the bodies of POST requests, with their paths.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.events: dict[str, list[tuple[str, Any]]] = {}
        self.posted: list[tuple[str, Any]] = []
        self._open: list[tuple[str, asyncio.Queue[tuple[str, Any] | None]]] = []
        self._loop = asyncio.new_event_loop()
        self._sending: Future[None] | None = None
        self.origin = ""

    def reset(self, answers: Mapping[str, Any]) -> None:
        """Give other answers, and forget what was posted."""
        self.answers, self.events, self.posted = dict(answers), {}, []

    def push(self, stream: str, event: str, value: Any) -> None:
        """Send an event to who reads a stream."""
        asyncio.run_coroutine_threadsafe(self._put(stream, (event, value)), self._loop).result()

    def repeat(self, stream: str, events: Iterable[tuple[str, Any]], seconds: float) -> None:
        """Send events to who reads a stream, one every so many seconds, in the background."""

        async def send() -> None:
            for event in events:
                await self._put(stream, event)
                await asyncio.sleep(seconds)

        self._sending = asyncio.run_coroutine_threadsafe(send(), self._loop)

    def cut(self) -> None:
        """End all streams."""
        asyncio.run_coroutine_threadsafe(self._put("", None), self._loop).result()

    async def _put(self, stream: str, item: tuple[str, Any] | None) -> None:
        for path, queue in self._open:
            if path == stream or item is None:
                queue.put_nowait(item)

    async def _api(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        if request.headers.get("Authorization") != "Bearer secret":
            return _error(401, "the token is not valid")
        if request.method == "POST":
            self.posted.append((path, await request.json()))
        if path.endswith("stream"):
            return await self._stream(request, path)
        answer = self.answers.get(path, (404, "no such thing"))
        if path == "reviews" and isinstance(answer, dict):
            answer = _page(answer, request.query)
        return _error(*answer) if isinstance(answer, tuple) else web.json_response(answer, headers=HEADERS)

    async def _stream(self, request: web.Request, path: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
        self._open.append((path, queue))
        try:
            for event, value in self.events.get(path, []):
                await response.write(_event(event, value))
            while item := await queue.get():
                await response.write(_event(*item))
        finally:
            self._open.remove((path, queue))
        return response

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/api/{path:.*}", self._api)
        app.router.add_get("/", _file)
        app.router.add_get("/static/{path:.*}", _file)
        return app


@contextmanager
def serving() -> Iterator[Fake]:
    """Run a server, in a thread of its own."""
    fake = Fake()
    ready = threading.Event()

    async def run(stop: asyncio.Event) -> None:
        runner = web.AppRunner(fake._app(), shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        fake.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await stop.wait()
        await runner.cleanup()

    stop = asyncio.Event()
    thread = threading.Thread(target=fake._loop.run_until_complete, args=(run(stop),))
    thread.start()
    ready.wait()
    try:
        yield fake
    finally:
        if fake._sending:
            fake._sending.cancel()
        fake._loop.call_soon_threadsafe(stop.set)
        thread.join()
        fake._loop.close()


async def _file(request: web.Request) -> web.FileResponse:
    return web.FileResponse(PAGE / request.match_info.get("path", "index.html"), headers=HEADERS)


def _page(answer: Mapping[str, Any], query: Mapping[str, str]) -> Mapping[str, Any]:
    before, limit = int(query.get("before", 2**62)), int(query["limit"])
    items = [item for item in answer["items"] if item["id"] < before]
    return {**answer, "items": items[:limit], "more": len(items) > limit}


def _event(event: str, value: Any) -> bytes:
    identity = f"id: {value['id']}\n" if event == "review" else ""
    return f"{identity}event: {event}\ndata: {json.dumps(value)}\n\n".encode()


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message}}, status=status, headers=HEADERS)
