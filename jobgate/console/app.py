"""The web application: its routes, and the headers of each answer. It only reads."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
from aiohttp import web

from jobgate import __version__
from jobgate.cluster import ApiError
from jobgate.cluster.client import Client
from jobgate.console.caller import Caller, Callers
from jobgate.console.commands import BYTES, Trial, audited, diagnosis
from jobgate.console.jobs import Jobs, graph
from jobgate.console.reviews import ReviewStore
from jobgate.console.servers import Servers, health
from jobgate.doctor.look import CannotDiagnose
from jobgate.why.look import NoSuchJob, look_at
from webhook.server.log import origin

PAGE: Final = Path(__file__).resolve().parent / "page"
HEADERS: Final = {
    # No inline script or style, no evaluation, no request to anyone else, in no frame.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
#: Seconds of a trial and of other requests, threads of trials and most that wait, most items of a page, and seconds
#: after which a job is read again though nothing has changed: Events and nodes are not watched.
TRIAL, TIMEOUT, THREADS, WAITING, ITEMS, REREAD = 10.0, 60.0, 2, 4, 1000, 15.0
_CALLER: Final = web.RequestKey("caller", Caller)
_logger = logging.getLogger("jobgate")
#: What is not a response is answered as JSON.
_Handler = Callable[[web.Request], Awaitable[Any]]


@dataclass
class Console:
    """What the routes show.

    Attributes:
        client: the client of the console itself, which it closes: of its user, or of its account in a cluster.
        token: the token of the page with a kubeconfig; empty in a cluster, where callers have tokens of their own.
        hosts: the names under which it may be called.
        name, namespace: those of the installation.
        addresses: of servers outside the cluster; without them, servers are pods.
    """

    client: Client
    trial: Trial
    jobs: Jobs
    token: str = ""
    hosts: frozenset[str] = LOOPBACK
    name: str = "jobgate"
    namespace: str = "jobgate-system"
    addresses: tuple[str, ...] = ()
    store: ReviewStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = ReviewStore({(kind.group, kind.kind): kind.plural for kind in self.trial.kinds})
        self._servers = Servers(self.client, self.namespace, self.store, self.addresses)
        self._callers = Callers(self.client, self.token)
        self._threads, self._trials = ThreadPoolExecutor(THREADS, "trial"), set[Future[Any]]()
        self._started, self._ended = time.time_ns(), list[str]()

    def app(self) -> web.Application:
        """Return the application."""
        app = web.Application(middlewares=[self._guard], client_max_size=2 * BYTES)
        app.on_response_prepare.append(_with_headers)
        # It quotes requests that cannot be read, with their tokens.
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
        app.cleanup_ctx.append(self._running)
        app.router.add_get("/", self._index)
        app.router.add_static("/static", PAGE)
        looks: dict[str, _Handler] = {
            "about": self._about,
            "reviews": self._reviews,
            "reviews/{id:[0-9]{1,18}}": self._review,
            "jobs": self._jobs,
            "jobs/{plural}/{namespace}/{name}": self._job,
            "health": self._health,
            "schemas": self._schemas,
            "schemas/{file:.+}": self._schema,
        }
        acts: dict[str, _Handler] = {"audit": self._audit, "doctor": self._doctor, "try": self._try}
        app.router.add_routes([web.get(f"/api/{path}", handler) for path, handler in looks.items()])
        app.router.add_routes([web.post(f"/api/{path}", handler) for path, handler in acts.items()])
        return app

    async def _running(self, _: web.Application) -> AsyncIterator[None]:
        runs = {"jobs are": self.jobs.run(), "reviews are": self._servers.run()}
        tasks = [asyncio.create_task(self._run(what, run)) for what, run in runs.items()]
        async with self.client:
            yield
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, what: str, run: Coroutine[Any, Any, None]) -> None:
        """Run what must not end; if it fails, the pages that show its last state say so."""
        try:
            await run
        except Exception as error:
            _logger.exception("failed to follow the cluster")
            self._ended.append(f"{what} not followed any more: {type(error).__qualname__}; restart the console")

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answer only who calls us by our own name and has a token, and every fault as JSON."""
        try:
            # A page of others may have made a name of theirs mean this address (DNS rebinding).
            if re.sub(r":[0-9]*$", "", request.headers.get("Host", "")).lower().strip("[]") not in self.hosts:
                raise web.HTTPMisdirectedRequest(text="this console is not called by this name: see --host")  # noqa: TRY301
            if request.path.startswith("/api/"):
                request[_CALLER] = await self._callers.of(request)
            async with asyncio.timeout(TIMEOUT):
                answer = await handler(request)
                return answer if isinstance(answer, web.StreamResponse) else _unless_known(request, answer)
        except Exception as error:  # noqa: BLE001  # one request fails, not the console
            return _fault_of(request, error)

    async def _index(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(PAGE / "index.html")

    async def _about(self, _: web.Request) -> dict[str, Any]:
        off = {server.message for server in self._servers.known.values() if server.state == "off"}
        problems = [*filter(None, (self._servers.fault, *off, *self._ended))]
        return {"version": __version__, "cluster": self.client.server, "problems": problems}

    # Reviews

    async def _may_see_servers(self, request: web.Request) -> bool:
        return bool(self.token) or await request[_CALLER].may_list("", "pods", self.namespace)

    async def _reviews(self, request: web.Request) -> dict[str, Any]:
        """Return the newest reviews between two ids.

        Only who may see servers learns that they dropped some: it is also the time of a review of others.
        """
        after, before = _number(request, "after", 0), _number(request, "before", 10**18)
        reviews = await self.store.seen_by(request[_CALLER], after, before)
        sees = await self._may_see_servers(request)
        return {
            "items": [kept.light for kept in reviews[:ITEMS]],
            "more": len(reviews) > ITEMS,
            "missed": sees and 0 < after < self.store.dropped,
            "replicas": self._servers.states() if sees else [],
        }

    async def _review(self, request: web.Request) -> dict[str, Any]:
        review = await self.store.one(request[_CALLER], int(request.match_info["id"]))
        if review is None:
            raise web.HTTPNotFound(text="this review is not kept any more")
        return review

    # Jobs

    async def _jobs(self, request: web.Request) -> dict[str, Any]:
        wanted = {field: value for field in ("plural", "namespace", "phase") if (value := request.query.get(field))}
        part, rows = request.query.get("q", ""), await self.jobs.seen_by(request[_CALLER])
        matched = [row for row in rows if wanted.items() <= row.items() and part in row["name"]]
        shown = {"items": matched[:ITEMS], "total": len(rows), "matched": len(matched)}
        return {**shown, "kinds": self.jobs.states()}

    async def _job(self, request: web.Request) -> web.Response:
        """Return one job, read with the rights of the caller unless nothing has changed since their last answer."""
        plural, namespace, name = (request.match_info[key] for key in ("plural", "namespace", "name"))
        kind = next((kind for kind in self.jobs.kinds if kind.qualified_plural == plural), None)
        if kind is None:
            raise web.HTTPNotFound(text="no kind of job that is served has this name")
        if not await request[_CALLER].visible({(kind.group, kind.plural, namespace)}):
            raise web.HTTPForbidden(text=f"you may not list {plural} in namespace {namespace}")
        version = self._started, self.jobs.touched[namespace], time.monotonic() // REREAD
        if request.headers.get("If-None-Match") == (tag := _tag(str(version).encode())):
            return _known(tag)
        situation = await look_at(request[_CALLER].client, [kind], name, namespace, self.namespace)
        response = _json(await asyncio.to_thread(graph, situation, self.trial.options()))
        response.headers["ETag"] = tag
        return response

    # The installation

    async def _health(self, request: web.Request) -> dict[str, Any]:
        may_see = await self._may_see_servers(request)
        return await health(request[_CALLER].client, self.name, self._servers, may_see_servers=may_see)

    async def _audit(self, request: web.Request) -> dict[str, Any]:
        namespace = (await _body(request)).get("namespace", "")
        return await audited(request[_CALLER].client, self.jobs, self.trial, namespace)

    async def _doctor(self, request: web.Request) -> dict[str, Any]:
        return await diagnosis(request[_CALLER].client, self.trial, self.name, self.namespace)

    async def _try(self, request: web.Request) -> Any:
        body = await _body(request)
        yaml, namespace = body.get("yaml", ""), body.get("namespace") or "default"
        if len(yaml.encode("utf-8", "replace")) > BYTES:
            raise web.HTTPRequestEntityTooLarge(BYTES, len(yaml), text=f"the text must be at most {BYTES // 1024} KiB")
        if len(self._trials) >= WAITING:
            raise web.HTTPTooManyRequests(text="other texts are being reviewed", headers={"Retry-After": "1"})
        # A thread cannot be stopped: it counts until it ends, also after its caller has left or waited too long.
        running = self._threads.submit(self.trial.review, yaml, namespace)
        self._trials.add(running)
        running.add_done_callback(self._trials.discard)
        try:
            async with asyncio.timeout(TRIAL):
                return await asyncio.shield(asyncio.wrap_future(running))
        except TimeoutError:
            raise web.HTTPServiceUnavailable(text=f"the review takes longer than {TRIAL:.0f} s") from None

    async def _schemas(self, _: web.Request) -> dict[str, Any]:
        schemas = await asyncio.to_thread(lambda: self.trial.schemas)  # the first time takes seconds
        fields = ((f"/api/schemas/{file}", schema["properties"]) for file, schema in schemas.items())
        enums = ((url, named["apiVersion"]["enum"], named["kind"]["enum"]) for url, named in fields)
        return {"kinds": [{"url": url, "apiVersion": version, "kind": kind} for url, (version,), (kind,) in enums]}

    async def _schema(self, request: web.Request) -> dict[str, Any]:
        schemas = await asyncio.to_thread(lambda: self.trial.schemas)
        if (schema := schemas.get(request.match_info["file"])) is None:
            raise web.HTTPNotFound(text="there is no such schema")
        return schema


def _fault_of(request: web.Request, error: Exception) -> web.Response:
    """Return the answer to a request that failed."""
    code, message, after = 500, f"the console failed: {type(error).__qualname__}; its log says why", ""
    if isinstance(error, web.HTTPException):
        code, message, after = error.status, error.text or error.reason, error.headers.get("Retry-After", "")
    elif isinstance(error, ApiError):
        code, message = error.code if error.code in {401, 403, 404, 429} else 502, str(error)
    elif isinstance(error, NoSuchJob | json.JSONDecodeError):
        code, message = 404 if isinstance(error, NoSuchJob) else 400, str(error)
    elif isinstance(error, CannotDiagnose):
        code, message = 502, str(error)
    elif isinstance(error, OSError | TimeoutError):
        code, message = 502, f"the API server does not answer: {type(error).__qualname__}"
    else:
        _logger.error("failed to answer", extra={"fields": {"path": request.path, **origin(error)}})
    response = _json({"error": {"code": code, "message": message.encode("utf-8", "replace").decode()}}, code)
    if after or code == 429:
        response.headers["Retry-After"] = after or "1"
    return response


async def _body(request: web.Request) -> dict[str, str]:
    body = orjson.loads(await request.read())
    if not isinstance(body, dict) or not all(isinstance(value, str) for value in body.values()):
        raise web.HTTPBadRequest(text="the body must be a JSON object whose values are strings")
    return body


def _number(request: web.Request, name: str, default: int) -> int:
    value = request.query.get(name, str(default))
    if not (value.isascii() and value.isdecimal()) or len(value) > 19:
        raise web.HTTPBadRequest(text=f"{name} must be a whole number")
    return int(value)


def _json(content: Any, status: int = 200) -> web.Response:
    body = orjson.dumps(content, default=str)
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


def _unless_known(request: web.Request, content: Any) -> web.Response:
    """Answer with JSON, or that the caller has it already."""
    response = _json(content)
    response.headers["ETag"] = tag = _tag(response.body)
    return _known(tag) if request.headers.get("If-None-Match") == tag else response


def _known(tag: str) -> web.Response:
    """Answer that the caller has the answer with a tag; without the tag, they would forget it."""
    return web.Response(status=304, headers={"ETag": tag})


def _tag(content: Any) -> str:
    return f'"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-cache" if isinstance(response, web.FileResponse) else "no-store")
