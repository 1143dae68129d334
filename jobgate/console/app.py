"""The web application: who may ask, the headers of each answer, and its routes. It only reads."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from jobgate import __version__
from jobgate.cluster import ApiError
from jobgate.cluster.client import Client
from jobgate.console import streams
from jobgate.console.audit import audited, diagnosis
from jobgate.console.caller import Caller
from jobgate.console.graph import graph
from jobgate.console.health import health
from jobgate.console.jobs import Jobs
from jobgate.console.replicas import Replicas
from jobgate.console.reviews import ReviewStore, by_rule, matching
from jobgate.console.trial import BYTES, Trial
from jobgate.doctor.look import CannotDiagnose
from jobgate.pods.budget import AnswerCache, Budget
from jobgate.why.look import look_at
from webhook.values import mapping, text

PAGE: Final = Path(__file__).resolve().parent / "page"
_MEDIA: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
#: No inline script or style, no evaluation, no request to anyone else, in no frame.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
#: Seconds of a trial and of other requests, most trials that wait, most items of a page.
TRIAL, TIMEOUT, WAITING, ITEMS = 10.0, 60.0, 2, 1000
#: Tokens in a cluster: seconds for which a caller is remembered, and unknown ones per second and at once.
REMEMBERED, RATE = 300.0, (2.0, 20.0)
_CALLER: Final = web.RequestKey("caller", Caller)
_logger = logging.getLogger("jobgate")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Console:
    """What the routes show.

    Attributes:
        client: the client of the console itself: of the user with a kubeconfig, of its account in a cluster.
        token: the token of the page with a kubeconfig; empty in a cluster, where callers have tokens of their own.
        hosts: the names under which it may be called.
        namespace: the namespace of the installation.
    """

    client: Client
    trial: Trial
    jobs: Jobs
    token: str = ""
    hosts: frozenset[str] = LOOPBACK
    namespace: str = "jobgate-system"
    store: ReviewStore = field(init=False)
    replicas: Replicas = field(init=False)

    def __post_init__(self) -> None:
        plurals = {(kind.group, kind.kind): kind.plural for kind in self.trial.kinds}
        self.store = ReviewStore(plurals)
        self.replicas = Replicas(self.client, self.namespace, self.store)
        self._user = Caller(self.client)
        self._callers = AnswerCache[Caller](time.monotonic, 100)
        self._unknown = Budget(time.monotonic, *RATE)
        self._thread, self._trials = ThreadPoolExecutor(1, "trial"), 0

    def app(self) -> web.Application:
        """Return the application."""
        app = web.Application(middlewares=[self._guard], client_max_size=2 * BYTES)
        app[streams.OPEN] = set()
        app.on_response_prepare.append(_with_headers)
        app.cleanup_ctx.append(self._running)
        app.router.add_get("/", self._file)
        app.router.add_get("/static/{path:.+}", self._file)
        api: dict[str, _Handler] = {
            "about": self._about,
            "reviews": self._reviews,
            "reviews/stream": self._review_stream,
            "reviews/{id:[0-9]{1,18}}": self._review,
            "jobs": self._jobs,
            "jobs/stream": self._job_list_stream,
            "jobs/{plural}/{namespace}/{name}": self._job,
            "jobs/{plural}/{namespace}/{name}/stream": self._job_stream,
            "rules": self._rules,
            "health": self._health,
            "schemas": self._schemas,
            "schemas/{hash:[0-9a-f]{16}}": self._schema,
        }
        for path, handler in api.items():
            app.router.add_get(f"/api/{path}", handler)
        for path, handler in {"audit": self._audit, "doctor": self._doctor, "try": self._try}.items():
            app.router.add_post(f"/api/{path}", handler)
        return app

    async def _running(self, _: web.Application) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(each) for each in (self.jobs.run(), self.replicas.run())]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._thread.shutdown(wait=False, cancel_futures=True)

    # Who may ask

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answer only who calls us by our own name and has a token, and every fault as JSON."""
        try:
            _check_host(request, self.hosts)
            if request.method == "POST":
                _check_origin(request)
            if request.path.startswith("/api/"):
                request[_CALLER] = await self._caller(request)
            async with asyncio.timeout(None if request.path.endswith("/stream") else TIMEOUT):
                return await handler(request)
        except ConnectionResetError:
            raise  # the client has left
        except Exception as error:  # noqa: BLE001  # one request fails, not the console
            return _fault_of(request, error)

    async def _caller(self, request: web.Request) -> Caller:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise web.HTTPUnauthorized(text="a token is required, as Authorization: Bearer TOKEN")
        token = token.strip()
        raw = token.encode("utf-8", "surrogateescape")  # as aiohttp reads headers
        if self.token:
            if not hmac.compare_digest(raw, self.token.encode()):
                raise web.HTTPUnauthorized(text="this is not the token that jobgate console printed")
            return self._user
        key = hashlib.sha256(raw).digest()
        if (known := self._callers.get(key)) is not None:
            return known
        if not self._unknown.take(""):
            raise web.HTTPTooManyRequests(text="too many tokens", headers={"Retry-After": "1"})
        caller = Caller(self.client.acting_as(token))
        try:
            await caller.may("list", "", "pods")
        except ApiError as error:
            if error.code == HTTPStatus.UNAUTHORIZED:
                raise web.HTTPUnauthorized(text="the API server does not accept this token") from None
            raise
        self._callers.keep(key, caller, REMEMBERED)
        return caller

    # Files

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = (PAGE / request.match_info.get("path", "index.html")).resolve()
        hidden = (
            any(part.startswith(".") for part in path.relative_to(PAGE).parts) if path.is_relative_to(PAGE) else True
        )
        media = _MEDIA.get(path.suffix)
        if hidden or media is None or not path.is_file():
            raise web.HTTPNotFound(text="there is no such file")
        return web.FileResponse(path, headers={"Content-Type": media, "Cache-Control": "no-cache"})

    # Answers

    async def _about(self, request: web.Request) -> web.Response:  # noqa: ARG002
        states = [replica for replica in self.replicas.known.values() if replica.state == "off"]
        problems = [self.replicas.fault, *{replica.message for replica in states}]
        kinds = [
            {"apiVersion": kind.gvk.api_version, **state}
            for kind, state in zip(self.jobs.kinds, self.jobs.states(), strict=True)
        ]
        return _json(
            {
                "version": __version__,
                "mode": "kubeconfig" if self.token else "in-cluster",
                "cluster": self.client.server,
                "namespaces": None,
                "kinds": kinds,
                "problems": [problem for problem in problems if problem],
            }
        )

    async def _reviews(self, request: web.Request) -> web.Response:
        limit, before = _number(request, "limit", 500, ITEMS), _number(request, "before", 0)
        seen = await self.store.seen_by(_of(request))
        wanted = {name: request.query.get(name, "") for name in ("kind", "namespace", "user", "verdict")}
        matched = list(matching(seen, wanted))
        page = [kept.light for kept in reversed(matched) if not before or kept.id < before]
        replicas = [replica.to_json() for replica in self.replicas.known.values()]
        return _json(
            {
                "items": page[:limit],
                "total": len(seen),
                "matched": len(matched),
                "more": len(page) > limit,
                "replicas": replicas,
            }
        )

    async def _review(self, request: web.Request) -> web.Response:
        review = await self.store.one(_of(request), int(request.match_info["id"]))
        if review is None:
            raise web.HTTPNotFound(text="this review is not kept any more")
        return _json(review)

    async def _review_stream(self, request: web.Request) -> web.StreamResponse:
        look = streams.of_reviews(_of(request), self.store, self.replicas, _number(request, "after", 0))
        return await streams.follow(request, look)

    async def _rules(self, request: web.Request) -> web.Response:
        return _json(by_rule(await self.store.seen_by(_of(request))))

    async def _jobs(self, request: web.Request) -> web.Response:
        limit, offset = _number(request, "limit", 100, ITEMS), _number(request, "offset", 0)
        rows = await self.jobs.seen_by(_of(request))
        query = request.query
        wanted = {"plural": query.get("kind"), "namespace": query.get("namespace"), "phase": query.get("phase")}
        matched = [
            row
            for row in rows
            if all(not value or row[key] == value for key, value in wanted.items())
            and query.get("q", "") in row["name"]
        ]
        page = {"items": matched[offset : offset + limit], "offset": offset, "kinds": self.jobs.states()}
        return _json({**page, "total": len(rows), "matched": len(matched)})

    async def _job_list_stream(self, request: web.Request) -> web.StreamResponse:
        return await streams.follow(request, streams.of_jobs(_of(request), self.jobs), streams.JOB_PERIOD)

    async def _job(self, request: web.Request) -> web.Response:
        return _json(await self._look(request))

    async def _job_stream(self, request: web.Request) -> web.StreamResponse:
        await self._look(request)  # fails before the stream begins
        look = streams.of_job(partial(self._look, request), self.jobs, request.match_info["namespace"])
        return await streams.follow(request, look, streams.JOB_PERIOD)

    async def _look(self, request: web.Request) -> dict[str, Any]:
        """Return one job, read with the rights of the caller."""
        kind = self.jobs.kind_of(request.match_info["plural"])
        if kind is None:
            raise web.HTTPNotFound(text="this is no kind of jobs that is served")
        name, namespace = request.match_info["name"], request.match_info["namespace"]
        if not await _of(request).visible({(kind.group, kind.plural, namespace)}):
            raise web.HTTPForbidden(text=f"you may not list {kind.qualified_plural} in namespace {namespace}")
        situation = await look_at(_of(request).client, [kind], name, namespace, self.namespace)
        return await asyncio.to_thread(graph, situation, self.trial.options())

    async def _health(self, request: web.Request) -> web.Response:
        replicas = self.replicas.known.values()
        return _json(await health(_of(request).client, self.namespace, replicas))

    async def _audit(self, request: web.Request) -> web.Response:
        namespace = text((await _body(request)).get("namespace"))
        return _json(await audited(_of(request).client, self.jobs.kinds, self.trial, namespace))

    async def _doctor(self, request: web.Request) -> web.Response:
        await _body(request)
        return _json(await diagnosis(_of(request).client, self.trial, self.namespace))

    async def _try(self, request: web.Request) -> web.Response:
        body = await _body(request)
        yaml, namespace = text(body.get("yaml")), text(body.get("namespace")) or "default"
        if len(yaml.encode("utf-8", "replace")) > BYTES:
            raise web.HTTPRequestEntityTooLarge(BYTES, len(yaml), text=f"the text must be at most {BYTES // 1024} KiB")
        if self._trials >= WAITING:
            raise web.HTTPTooManyRequests(text="another text is being reviewed", headers={"Retry-After": "1"})
        loop, self._trials = asyncio.get_running_loop(), self._trials + 1
        # A thread cannot be stopped: it counts until it ends, also after its caller has left or waited too long.
        running = loop.run_in_executor(self._thread, self.trial.review, yaml, namespace)
        running.add_done_callback(self._tried)
        try:
            async with asyncio.timeout(TRIAL):
                return _json(await asyncio.shield(running))
        except TimeoutError:
            raise web.HTTPServiceUnavailable(text=f"the review takes longer than {TRIAL:.0f} s") from None

    def _tried(self, running: asyncio.Future[Any]) -> None:
        self._trials -= 1
        if not running.cancelled():
            running.exception()  # it is not reported again

    async def _schemas(self, request: web.Request) -> web.Response:  # noqa: ARG002
        schemas = await asyncio.to_thread(lambda: self.trial.schemas)  # the first time takes seconds
        return _json({"kinds": [about for about, _ in schemas.values()]})

    async def _schema(self, request: web.Request) -> web.Response:
        found = (await asyncio.to_thread(lambda: self.trial.schemas)).get(request.match_info["hash"])
        if found is None:
            raise web.HTTPNotFound(text="there is no such schema")
        kept = {"Cache-Control": "private, max-age=31536000, immutable"}
        return web.Response(body=found[1], content_type="application/json", headers=kept)


class _Misdirected(web.HTTPClientError):
    """The request is meant for another server."""

    status_code = 421


def _fault_of(request: web.Request, error: Exception) -> web.Response:
    """Return the answer to a request that failed."""
    if isinstance(error, web.HTTPException):
        return _fault(error.status, error.text or error.reason, error.headers.get("Retry-After", ""))
    if isinstance(error, ApiError):
        known = error.code in {401, 403, 404, 429}
        return _fault(error.code if known else 502, str(error), "1" if error.code == 429 else "")
    if isinstance(error, CannotDiagnose):
        return _fault(404, str(error))
    if isinstance(error, OSError | TimeoutError):
        return _fault(502, f"the API server does not answer: {type(error).__qualname__}")
    _logger.error("failed to answer", exc_info=error, extra={"fields": {"path": request.path}})
    return _fault(500, f"the console failed: {type(error).__qualname__}; its log says why")


def _of(request: web.Request) -> Caller:
    return request[_CALLER]


def _check_host(request: web.Request, known: frozenset[str]) -> None:
    """Require a name of ours: a page of others may have made a name of theirs mean this address (DNS rebinding)."""
    header = request.headers.get("Host", "")
    if (urlsplit(f"//{header}").hostname if header.isprintable() else None) not in known:
        raise _Misdirected(text="this console is not called by this name: see --host")


def _check_origin(request: web.Request) -> None:
    """Require JSON from our own page: a form of another page can send neither."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site", "same-origin")
    own = origin is None or urlsplit(origin).netloc == request.headers.get("Host")
    if not own or site not in {"same-origin", "none"}:
        raise web.HTTPForbidden(text="only the page of this console may ask")
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="the body must be application/json")


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = orjson.loads(await request.read())
    except orjson.JSONDecodeError as error:
        raise web.HTTPBadRequest(text=f"the body must be JSON: {error}") from None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="the body must be an object")
    return dict(mapping(body))


def _number(request: web.Request, name: str, default: int, most: int = 10**18) -> int:
    value = request.query.get(name, str(default))
    if not (value.isascii() and value.isdecimal()) or len(value) > 18:
        raise web.HTTPBadRequest(text=f"{name} must be a whole number")
    return min(int(value), most)


def _json(content: Any) -> web.Response:
    return web.Response(body=orjson.dumps(content, default=str), content_type="application/json", charset="utf-8")


def _fault(code: int, message: str, after: str = "") -> web.Response:
    body = json.dumps({"error": {"code": code, "message": message}})
    headers = {"Retry-After": after} if after else {}
    return web.Response(status=code, text=body, content_type="application/json", headers=headers)


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
