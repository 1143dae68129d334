"""A server that gives the page any answer: broken, hostile, huge, empty."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from jobgate.console.app import HEADERS, ITEMS, PAGE


class Fake:
    """The answers by path.

    Attributes:
        answers: for each path below `/api/` a JSON value, or a status and a message, or None for no answer.
        failing: a part of the queries that are answered with an error; none if it is empty.
        asked: the paths that were asked for, with their queries, and the status of each answer.
        posted: the bodies of POST requests, with their paths.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.failing = ""
        self.asked: list[tuple[str, int]] = []
        self.posted: list[tuple[str, Any]] = []
        self.origin = ""

    def reset(self, answers: Mapping[str, Any]) -> None:
        """Give other answers, and forget what was asked."""
        self.answers, self.failing, self.asked, self.posted = dict(answers), "", [], []

    def add(self, review: Mapping[str, Any]) -> None:
        """Add a review before the others, as the newest."""
        self.answers["reviews"]["items"].insert(0, review)

    async def _api(self, request: web.Request) -> web.Response:
        response = await self._answer(request, request.match_info["path"])
        self.asked.append((request.path_qs, response.status))
        return response

    async def _answer(self, request: web.Request, path: str) -> web.Response:
        if request.headers.get("Authorization") != "Bearer secret":
            return _error(401, "the token is not valid")
        if request.method == "POST":
            self.posted.append((path, await request.json()))
        answer = self.answers.get(path, (404, "no such thing"))
        if self.failing and self.failing in request.query_string:
            return _error(502, "the API server does not answer")
        if answer is None and request.transport is not None:
            request.transport.abort()
        if path == "reviews" and isinstance(answer, dict):
            answer = _page(answer, request.query)
        if isinstance(answer, tuple):
            return _error(*answer)
        response = web.json_response(answer, headers=HEADERS)
        response.headers["ETag"] = f'"{hash(response.text)}"'
        if request.headers.get("If-None-Match") == response.headers["ETag"]:
            return web.Response(status=304, headers=response.headers)
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
    fake, loop, stop = Fake(), asyncio.new_event_loop(), asyncio.Event()
    ready = threading.Event()

    async def run() -> None:
        runner = web.AppRunner(fake._app(), shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        fake.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    ready.wait()
    try:
        yield fake
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _file(request: web.Request) -> web.FileResponse:
    return web.FileResponse(PAGE / request.match_info.get("path", "index.html"), headers=HEADERS)


def _page(answer: Mapping[str, Any], query: Mapping[str, str]) -> Mapping[str, Any]:
    after, before = int(query["after"]), int(query.get("before", 2**62))
    items = [item for item in answer["items"] if after < item["id"] < before]
    return {**answer, "items": items[:ITEMS], "more": len(items) > ITEMS}


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message}}, status=status, headers=HEADERS)
