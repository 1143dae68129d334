"""The web application: who may ask, the headers of each answer, and its routes. It only reads."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
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
from jobgate.console.reviews import ReviewStore, by_rule
from jobgate.console.servers import Server, Servers
from jobgate.console.trial import BYTES, Trial
from jobgate.doctor.look import CannotDiagnose
from jobgate.pods.budget import AnswerCache, Budget
from jobgate.why.look import look_at
from webhook.values import text

PAGE: Final = Path(__file__).resolve().parent / "page"
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
#: Seconds of a trial and of other requests, threads of trials and most that wait, most items of a page.
TRIAL, TIMEOUT, THREADS, WAITING, ITEMS = 10.0, 60.0, 2, 4, 1000
#: Tokens in a cluster: seconds for which a caller is remembered, and unknown ones per second and at once.
REMEMBERED, RATE = 300.0, (2.0, 20.0)
_CALLER: Final = web.RequestKey("caller", Caller)
_logger = logging.getLogger("jobgate")
#: What is not a response is answered as JSON.
_Handler = Callable[[web.Request], Awaitable[Any]]


@dataclass
class Console:
    """What the routes show.

    Attributes:
        client: the client of the console itself: of the user with a kubeconfig, of its account in a cluster.
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
        self._user = Caller(self.client)
        self._callers = AnswerCache[Caller](time.monotonic, 100)
        self._unknown = Budget(time.monotonic, *RATE)
        self._threads = ThreadPoolExecutor(THREADS, "trial")
        self._trials = set[Future[Any]]()

    def app(self) -> web.Application:
        """Return the application."""
        app = web.Application(middlewares=[self._guard], client_max_size=2 * BYTES)
        app[streams.OPEN] = set()
        app.on_response_prepare.append(_with_headers)
        app.cleanup_ctx.append(self._running)
        app.router.add_get("/", self._index)
        app.router.add_static("/static", PAGE)
        looks: dict[str, _Handler] = {
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
        for path, handler in looks.items():
            app.router.add_get(f"/api/{path}", handler)
        acts: dict[str, _Handler] = {"audit": self._audit, "doctor": self._doctor, "try": self._try}
        for path, handler in acts.items():
            app.router.add_post(f"/api/{path}", handler)
        return app

    async def _running(self, _: web.Application) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(each) for each in (self.jobs.run(), self._servers.run())]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._threads.shutdown(wait=False, cancel_futures=True)

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
                answer = await handler(request)
                return answer if isinstance(answer, web.StreamResponse) else _json(answer)
        except ConnectionResetError:
            raise  # the client has left
        except Exception as error:  # noqa: BLE001  # one request fails, not the console
            return _fault_of(request, error)

    async def _caller(self, request: web.Request) -> Caller:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or not (token.isascii() and token.isprintable()):
            raise web.HTTPUnauthorized(text="a token is required, as Authorization: Bearer TOKEN")
        if self.token:
            if not hmac.compare_digest(token, self.token):
                raise web.HTTPUnauthorized(text="this is not the token that jobgate console printed")
            return self._user
        key = hashlib.sha256(token.encode()).digest()
        if (known := self._callers.get(key)) is not None:
            return known
        if not self._unknown.take(""):
            raise web.HTTPTooManyRequests(text="too many tokens", headers={"Retry-After": "1"})
        caller = Caller(self.client.acting_as(token))
        try:
            await caller.may_list("", "pods")
        except ApiError as error:
            if error.code == HTTPStatus.UNAUTHORIZED:
                raise web.HTTPUnauthorized(text="the API server does not accept this token") from None
            raise
        self._callers.keep(key, caller, REMEMBERED)
        return caller

    async def _shown(self, request: web.Request) -> list[Server] | None:
        """Return the servers; None if the caller may not list their pods."""
        may_list = self.token or await request[_CALLER].may_list("", "pods", self.namespace)
        return [*self._servers.known.values()] if may_list else None

    async def _states(self, request: web.Request) -> list[dict[str, str]]:
        return [server.to_json() for server in await self._shown(request) or ()]

    # Answers

    async def _index(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(PAGE / "index.html")

    async def _about(self, _: web.Request) -> dict[str, Any]:
        off = {server.message for server in self._servers.known.values() if server.state == "off"}
        return {
            "version": __version__,
            "mode": "kubeconfig" if self.token else "in-cluster",
            "cluster": self.client.server,
            "problems": [*filter(None, (self._servers.fault, *off))],
        }

    async def _reviews(self, request: web.Request) -> dict[str, Any]:
        limit, before = _number(request, "limit", 500, ITEMS), _number(request, "before", 0)
        seen = await self.store.seen_by(request[_CALLER])
        page = [kept.light for kept in reversed(seen) if not before or kept.id < before]
        shown = {"items": page[:limit], "more": len(page) > limit, "total": len(seen)}
        return {**shown, "replicas": await self._states(request)}

    async def _review(self, request: web.Request) -> dict[str, Any]:
        review = await self.store.one(request[_CALLER], int(request.match_info["id"]))
        if review is None:
            raise web.HTTPNotFound(text="this review is not kept any more")
        return review

    async def _review_stream(self, request: web.Request) -> web.StreamResponse:
        after = _number(request, "after", 0)
        events = streams.of_reviews(request[_CALLER], self.store, partial(self._states, request), after)
        return await streams.follow(request, events)

    async def _rules(self, request: web.Request) -> dict[str, Any]:
        return by_rule(await self.store.seen_by(request[_CALLER]))

    async def _jobs(self, request: web.Request) -> dict[str, Any]:
        limit, query = _number(request, "limit", 100, ITEMS), request.query
        rows = await self.jobs.seen_by(request[_CALLER])
        fields = {"plural": "kind", "namespace": "namespace", "phase": "phase"}
        wanted = {field: query[name] for field, name in fields.items() if query.get(name)}
        matched = [row for row in rows if wanted.items() <= row.items() and query.get("q", "") in row["name"]]
        total = {"total": len(rows), "matched": len(matched)}
        return {"items": matched[:limit], "kinds": self.jobs.states(), **total}

    async def _job_list_stream(self, request: web.Request) -> web.StreamResponse:
        events = streams.changes(
            "jobs",
            partial(self.jobs.seen_by, request[_CALLER]),
            self.jobs.touched.total,
            lambda rows: {"reload": True, "total": len(rows)},
        )
        return await streams.follow(request, events, streams.JOB_PERIOD)

    async def _job_stream(self, request: web.Request) -> web.StreamResponse:
        await self._job(request)  # fails before the stream begins
        touched = partial(self.jobs.touched.__getitem__, request.match_info["namespace"])
        events = streams.changes("job", partial(self._job, request), touched)
        return await streams.follow(request, events, streams.JOB_PERIOD)

    async def _job(self, request: web.Request) -> dict[str, Any]:
        """Return one job, read with the rights of the caller."""
        kind, caller = self.jobs.kind_of(request.match_info["plural"]), request[_CALLER]
        if kind is None:
            raise web.HTTPNotFound(text="this is no kind of jobs that is served")
        name, namespace = request.match_info["name"], request.match_info["namespace"]
        if not await caller.visible({(kind.group, kind.plural, namespace)}):
            raise web.HTTPForbidden(text=f"you may not list {kind.qualified_plural} in namespace {namespace}")
        situation = await look_at(caller.client, [kind], name, namespace, self.namespace)
        return await asyncio.to_thread(graph, situation, self.trial.options())

    async def _health(self, request: web.Request) -> dict[str, Any]:
        return await health(request[_CALLER].client, self.name, self._servers, await self._shown(request))

    async def _audit(self, request: web.Request) -> dict[str, Any]:
        namespace = text((await _body(request)).get("namespace"))
        return await audited(request[_CALLER].client, self.jobs, self.trial, namespace)

    async def _doctor(self, request: web.Request) -> dict[str, Any]:
        return await diagnosis(request[_CALLER].client, self.trial, self.name, self.namespace)

    async def _try(self, request: web.Request) -> Any:
        body = await _body(request)
        yaml, namespace = text(body.get("yaml")), text(body.get("namespace")) or "default"
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
        return {"kinds": [about for about, _ in schemas.values()]}

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


def _check_host(request: web.Request, known: frozenset[str]) -> None:
    """Require a name of ours: a page of others may have made a name of theirs mean this address (DNS rebinding)."""
    header = request.headers.get("Host", "")
    if (urlsplit(f"//{header}").hostname if header.isprintable() else None) not in known:
        raise _Misdirected(text="this console is not called by this name: see --host")


def _check_origin(request: web.Request) -> None:
    """Require JSON from our own page: a form of another page can send neither."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
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
    return body


def _number(request: web.Request, name: str, default: int, most: int = 10**18) -> int:
    value = request.query.get(name, str(default))
    if not (value.isascii() and value.isdecimal()) or len(value) > 18:
        raise web.HTTPBadRequest(text=f"{name} must be a whole number")
    return min(int(value), most)


def _json(content: Any, status: int = 200, after: str = "") -> web.Response:
    headers = {"Retry-After": after} if after else {}
    body = orjson.dumps(content, default=str)
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8", headers=headers)


def _fault(code: int, message: str, after: str = "") -> web.Response:
    return _json({"error": {"code": code, "message": message.encode("utf-8", "replace").decode()}}, code, after)


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers.setdefault("Cache-Control", "no-cache" if isinstance(response, web.FileResponse) else "no-store")
