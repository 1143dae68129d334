"""The endpoint that the API server calls: bytes in, bytes out, and nothing that can make it fall over.

A user's mistake is HTTP 200 with `allowed: false`; a broken envelope is 4xx; a failure of our own is 5xx, on which the
configuration's `failurePolicy` decides.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson
from aiohttp import web

from webhook import trace
from webhook.admission import Malformed, Request, Response
from webhook.context import NoObjects, Objects, Settings
from webhook.kind import Kind, Registry
from webhook.review import Phase, review
from webhook.server import deadline
from webhook.server.body import BadRequest, Buffer, Fault, check_headers, decode, too_busy
from webhook.server.connection import GuardedConnection
from webhook.server.limits import Limits, Shed
from webhook.server.log import logger, origin
from webhook.server.metrics import Metrics
from webhook.server.spans import Spans

#: What of the caller's time is left for the way back, in seconds.
MARGIN = 0.2


@dataclass(slots=True)
class Call:
    """What one request amounted to, for the log and the metrics.

    Attributes:
        webhook: the path, where it is one of ours.
        code: of the answer.
        seconds: that the caller waits.
        waited: that it had waited in the server's queue before it was turned to.
        fields: of its line in the log.
    """

    webhook: str = "unknown"
    code: int = 500
    seconds: float = float("inf")
    waited: float = 0.0
    fields: dict[str, Any] = field(default_factory=dict)


#: Answers a request, or says by None that it is not for it. It may wait; within the caller's time, it sees to itself.
Reviewer: TypeAlias = Callable[[Request], Awaitable[Response | None]]


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers on a path.

    Attributes:
        name: what metrics call the objects: the qualified plural of a kind, say.
        phase: which of its two calls the API server makes there.
        review: answers.
    """

    name: str
    phase: Phase
    review: Reviewer


class Endpoint:
    """Answers admission requests for the kinds of a registry, and on what further paths it is given.

    Attributes:
        settings: of the installation; another value holds from the next review on.
        objects: what is known of other objects of the cluster.
        waits_for: says what must be there before the server is ready, and is not; empty once it is.
        lacking: says what is wrong with its certificate; empty where nothing is.
        spans: takes what each request amounted to, for who collects traces; None where nobody does.
    """

    def __init__(
        self,
        kinds: Registry,
        settings: Settings,
        *,
        objects: Objects | None = None,
        further: Mapping[str, Route] | None = None,
        limits: Limits | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.kinds = kinds
        self.settings = settings
        self.objects = objects or NoObjects()
        self.limits = limits or Limits()
        self.metrics = metrics or Metrics()
        self.routes: Mapping[str, Route] = {
            **{
                kind.path(phase): Route(kind.qualified_plural, phase, self._reviewer(kind, phase))
                for kind in kinds
                for phase in Phase
            },
            **(further or {}),
        }
        self.draining = False
        self.waits_for: Callable[[], str] = lambda: ""
        self.lacking: Callable[[], str] = lambda: ""
        self.spans: Spans | None = None
        self._buffer = Buffer(self.limits)
        self._in_flight = 0

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, whatever it is."""
        connection = request.protocol
        if isinstance(connection, GuardedConnection):
            connection.headers_complete()
        call, started = Call(), time.perf_counter()
        self._in_flight += 1
        try:
            response = await self._answer(request, call)
        except BadRequest as error:
            response = web.Response(status=error.code, text=f"{error}\n", headers=error.headers)
            self._count_refusal(error, call)
        except Exception as error:  # noqa: BLE001  # whatever it is: the caller gets an answer, the log the place
            self.metrics.panics.inc()
            logger.error("failed to answer", extra={"fields": {"path": call.webhook, **call.fields, **origin(error)}})
            response = web.Response(status=500, text="jobgate failed to review this; its log says why\n")
        finally:
            self._in_flight -= 1
        # What has not arrived of a body must not be taken for the next request.
        if self.draining or not request.content.is_eof():
            response.force_close()
        call.code = response.status
        self._record(call, time.perf_counter() - started)
        return response

    async def _answer(self, request: web.BaseRequest, call: Call) -> web.Response:
        # As it was sent: what is spelled otherwise, as with an encoded slash, is another path.
        path = request.raw_path.partition("?")[0]
        call.fields |= _follow(request)
        route = self.routes.get(path)
        if route is None:
            raise BadRequest(404, Fault.PATH, "no webhook has this path")
        call.webhook = path
        with self.metrics.in_flight.labels(path).track_inprogress():
            return await self._review(request, route, call)

    async def _review(self, request: web.BaseRequest, route: Route, call: Call) -> web.Response:
        if request.method != "POST":
            raise BadRequest(405, Fault.METHOD, "an AdmissionReview is posted", {"Allow": "POST"})
        check_headers(request)
        if self._in_flight > self.limits.in_flight:
            raise too_busy(Shed.IN_FLIGHT, "too many requests at once")
        call.seconds = deadline.seconds(request.query.get("timeout"))
        remaining = call.seconds - MARGIN
        body = await self._buffer.read(request, min(remaining, self.limits.body_time))
        call.waited = self._waited(request)
        if call.waited > min(remaining, self.limits.queue_time):
            raise too_busy(Shed.QUEUE_TIME, "too many requests before this one")
        call.fields["bytes"] = len(body)
        try:
            admission = Request.parse(decode(body))
        except Malformed as error:
            raise BadRequest(400, Fault.ENVELOPE, str(error)) from None
        call.fields |= _described(admission)
        answer = await self._judge(admission, route)
        self._count(route, answer, call)
        return web.Response(
            body=orjson.dumps((answer or Response(admission.uid)).to_review()), content_type="application/json"
        )

    async def _judge(self, admission: Request, route: Route) -> Response | None:
        try:
            return await route.review(admission)
        except (SystemExit, GeneratorExit) as error:
            # Out of a rule, these would end the server or the connection instead of one request.
            raise RuntimeError("a default or a rule tried to leave") from error

    def _reviewer(self, kind: Kind, phase: Phase) -> Reviewer:
        """Return what reviews the jobs of a kind.

        Another kind on its path is allowed, and counted: somebody has widened the rules of our configuration, and
        refusing, or failing, would stop the cluster for objects that are not ours.
        """

        async def answer(admission: Request) -> Response | None:
            if self.kinds.get(admission.api_version, admission.kind) is not kind:
                return None
            try:
                return review(admission, phase, self.kinds, self.settings, self.objects)
            except asyncio.CancelledError as error:
                raise RuntimeError("a default or a rule tried to leave") from error

        return answer

    def _waited(self, request: web.BaseRequest) -> float:
        connection = request.protocol
        return connection.waited if isinstance(connection, GuardedConnection) else 0.0

    def _count(self, route: Route, answer: Response | None, call: Call) -> None:
        verdict = _verdict(answer)
        self.metrics.reviews.labels(route.name, route.phase, verdict).inc()
        causes = answer.causes if answer else ()
        rules = answer.rules if answer else ()
        for place, cause in enumerate(causes):
            rule = rules[place] if place < len(rules) else ""
            self.metrics.causes.labels(route.name, cause.reason, rule).inc()
        warnings, operations = (len(answer.notices), len(answer.patch)) if answer else (0, 0)
        self.metrics.warnings.labels(route.name, route.phase).inc(warnings)
        self.metrics.operations.labels(route.name).inc(operations)
        call.fields |= {
            "allowed": answer is None or answer.allowed,
            "verdict": verdict,
            "causes": len(causes),
            "warnings": warnings,
            "operations": operations,
        }

    def _count_refusal(self, error: BadRequest, call: Call) -> None:
        call.fields["reason"] = error.reason
        if isinstance(error.reason, Shed):
            self.metrics.shed.labels(error.reason).inc()
        else:
            self.metrics.rejected.labels(error.reason).inc()

    def _record(self, call: Call, elapsed: float) -> None:
        self.metrics.requests.labels(call.webhook, str(call.code)).inc()
        self.metrics.latency.labels(call.webhook).observe(elapsed)
        if call.waited + elapsed > call.seconds:
            self.metrics.late.labels(call.webhook).inc()
        if self.spans:
            end = time.time_ns()
            begin = end - round(elapsed * 1e9)
            self.spans.record(call.webhook, trace.CURRENT.get(), (begin, end), {"code": call.code, **call.fields})
        if logger.isEnabledFor(logging.INFO):
            fields = {"path": call.webhook, "code": call.code, "milliseconds": round(elapsed * 1000, 3), **call.fields}
            logger.info("request", extra={"fields": fields})


def _follow(request: web.BaseRequest) -> dict[str, str]:
    """Make what follows a part of the request's trace, and return what the log says of it."""
    headers = request.headers
    found = trace.Trace.read(headers.getall("traceparent", ()), headers.getall("tracestate", ()))
    trace.CURRENT.set(found)  # None, too: the connection may have brought a request of another trace before
    return {"trace": found.id} if found else {}


def _verdict(answer: Response | None) -> str:
    """Return what an answer amounts to, in a word."""
    if answer is None:
        return "foreign"
    if answer.causes:
        return "denied"
    if answer.later:
        return "later"
    return "patched" if answer.patch else "allowed"


def _described(admission: Request) -> dict[str, Any]:
    """Return what the log says of a request: who, what, where; nothing of the object itself."""
    return {
        "uid": admission.uid,
        "operation": admission.operation,
        "apiVersion": _cut(admission.api_version),
        "kind": _cut(admission.kind),
        "namespace": _cut(admission.namespace),
        "name": _cut(admission.name),
        "user": _cut(admission.user.name),
        "dryRun": admission.dry_run,
    }


def _cut(text: str) -> str:
    return text[:253]
