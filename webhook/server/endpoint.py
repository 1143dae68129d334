"""The endpoint that the API server calls: bytes in, bytes out, and nothing that can make it fall over.

A user's mistake is HTTP 200 with `allowed: false`; a broken envelope is 4xx; a failure of our own is 5xx, on which the
configuration's `failurePolicy` decides.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission import Malformed, Request, Response
from webhook.context import Access, NoObjects, Objects, S
from webhook.kind import Kind, Registry
from webhook.review import Phase, review
from webhook.server import answer, deadline, log
from webhook.server.body import CLIENT_LEFT, BadRequest, BufferedBytes, Rejection, check_headers, decode, too_busy
from webhook.server.connection import Connection
from webhook.server.limits import Limits, Shed
from webhook.server.log import logger, origin
from webhook.server.metrics import Metrics, RouteMetrics
from webhook.server.reader import RequestHead
from webhook.server.review_thread import ReviewThread
from webhook.server.session import Failure
from webhook.server.spans import OpenTelemetry
from webhook.trace import CURRENT, Trace

#: What of the caller's time is left for the way back, in seconds.
MARGIN = 0.2

#: For how long requests are answered before the event loop reads what has arrived meanwhile, in seconds.
SLICE = 0.01

#: What metrics and the log call a path that is none of ours.
UNKNOWN = "unknown"

#: Answers a request, or says by None that it is not for it. What returns at once costs no task; what has to wait
#: returns an awaitable, and sees to the caller's time itself. It may be called in a thread, where the object is large.
Reviewer: TypeAlias = Callable[[Request], Response | Awaitable[Response | None] | None]


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers on a path.

    Attributes:
        name: what metrics call the objects: the qualified plural of a kind, say.
        phase: which of its two calls the API server makes there.
        review: answers; None where the objects are jobs of a kind.
        kind: that kind.
    """

    name: str
    phase: Phase
    review: Reviewer | None = None
    kind: Kind | None = None


class Call(Struct, eq=False):
    """One request, from its head to its answer.

    Attributes:
        connection: that it came on.
        path: where it is one of ours; else `UNKNOWN`.
        route: who answers; None where nobody does.
        metrics: of the path.
        started: when its head was complete, on the performance counter.
        trace: that it belongs to.
        rejection: why it is not read; None where it is.
        seconds: that the caller waits.
        wanted: that the body is waited for.
        left: whether the client has left.
        body: once it has arrived, until it is decoded.
        size: of the body in bytes; -1 until it has arrived.
        admission: what it asks, once that is read; without its objects.
    """

    connection: Connection[Call]
    path: str
    route: Route | None
    metrics: RouteMetrics
    started: float
    trace: Trace | None = None
    rejection: BadRequest | None = None
    seconds: float = float("inf")
    wanted: float = 0.0
    left: bool = False
    body: bytes = b""
    size: int = -1
    admission: Request | None = None

    def fields(self, **answered: Any) -> dict[str, Any]:
        """Return what the log says of a request: who, what, where; nothing of the object itself."""
        fields = {"path": self.path, **answered}
        if self.trace is not None:
            fields["trace"] = self.trace.id
        if self.size >= 0:
            fields["bytes"] = self.size
        if (admission := self.admission) is not None:
            fields |= {
                "uid": admission.uid,
                "operation": admission.operation,
                "apiVersion": admission.api_version[:253],
                "kind": admission.kind[:253],
                "namespace": admission.namespace[:253],
                "name": admission.name[:253],
                "user": admission.user.name[:253],
                "dryRun": admission.dry_run,
            }
        return fields


class Endpoint(Generic[S]):
    """Answers admission requests for the kinds of a registry, and on what further paths it is given.

    Attributes:
        settings: of the installation; another value holds from the next review on.
        objects: what is known of other objects of the cluster.
        waits_for: says what must be there before the server is ready, and is not; empty once it is.
        access: what is known of who may do what; None where nobody is to be asked.
        needs: gives what has to be known of a job's request before it is reviewed, as an awaitable; None where all is.
            A response, which may also come of the awaitable, is the answer instead of a review.
        review_thread: the thread for large objects.
        lacking: says what is wrong with its certificate; empty where nothing is.
        spans: takes what each request amounted to, for who collects traces; None where nobody does.
        draining: whether each answer closes its connection.
        held: the bytes of bodies that it holds.
        in_flight: how many requests are being read, or wait for an answer that is not made at once.
    """

    def __init__(
        self,
        kinds: Registry[Any],
        settings: S,
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
            **{kind.path(phase): Route(kind.qualified_plural, phase, kind=kind) for kind in kinds for phase in Phase},
            **(further or {}),
        }
        self.draining = False
        self.waits_for: Callable[[], str] = lambda: ""
        self.access: Access | None = None
        self.needs: Callable[[Kind, Request], Response | Awaitable[Response | None] | None] = lambda _, __: None
        self.lacking: Callable[[], str] = lambda: ""
        self.spans: OpenTelemetry | None = None
        self.held = BufferedBytes(self.limits)
        self.in_flight = 0
        #: The metrics of each path that has been called.
        self._bound = {UNKNOWN: self.metrics.route(UNKNOWN)}
        #: Requests that wait to be answered, and whether `_answer_waiting` is due.
        self._queue: deque[Call] = deque()
        self._due = False
        self.review_thread = ReviewThread(self.limits.large)
        self._waiting: set[asyncio.Task[None]] = set()

    def not_ready(self) -> str:
        """Return why it is not ready, in words for a probe; empty where it is."""
        if self.draining:
            return "draining"
        if lacking := self.lacking():
            return lacking
        waits_for = self.waits_for()
        return f"waiting for {waits_for}" if waits_for else ""

    # What connections tell

    def begin(self, connection: Connection[Call], head: RequestHead) -> Call:
        """Take the head of a request."""
        # As it was sent: what is spelled otherwise, as with an encoded slash, is another path.
        path, _, query = head.path.partition("?")
        route = self.routes.get(path)
        if route is None:
            path = UNKNOWN
        call = Call(connection, path, route, self._bound.get(path) or self._bind(path, route), time.perf_counter())
        if "traceparent" in head.headers:
            call.trace = Trace.read(head.headers.getall("traceparent"), head.headers.getall("tracestate", ()))
        try:
            if route is None:
                raise BadRequest(404, Rejection.PATH, "no webhook has this path")  # noqa: TRY301
            if head.method != "POST":
                raise BadRequest(405, Rejection.METHOD, "an AdmissionReview is posted", {"Allow": "POST"})  # noqa: TRY301
            check_headers(head.headers)
            if self.in_flight >= self.limits.in_flight:
                raise too_busy(Shed.IN_FLIGHT, "too many requests at once")
        except BadRequest as error:
            call.rejection = error
            return call
        call.seconds = deadline.seconds(query)
        call.wanted = min(call.seconds - MARGIN, self.limits.body_time)
        self.in_flight += 1
        call.metrics.in_flight += 1
        return call

    def complete(self, call: Call, body: bytes) -> None:
        """Take the whole body, and answer when the turn of the request comes."""
        call.body = body
        if call.rejection is None:
            call.size = len(body)
        self._queue.append(call)
        if not self._due:
            self._due = True
            loop = call.connection.loop
            loop.call_soon(self._answer_waiting, loop)

    def fail(self, call: Call, error: BadRequest) -> None:
        """Answer a request that is rejected before it is reviewed."""
        if isinstance(error.reason, Shed):
            self.metrics.shed.labels(error.reason).inc()
        else:
            self.metrics.rejected.labels(error.reason).inc()
        self._send(call, error.code, f"{error}\n".encode(), {"reason": error.reason}, headers=error.headers)
        _forget_origin(error)

    def failed(self, why: Rejection | Failure) -> None:
        """Count what never came to a request."""
        (self.metrics.handshake_failures if isinstance(why, Failure) else self.metrics.rejected).labels(why).inc()

    # What is made of a request

    def _answer_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer requests for a slice of time. All that has arrived is read before the first is answered.

        So it is known how long each has waited, and the event loop gets to run between two of them.
        """
        now = loop.time()
        end = now + SLICE
        try:
            while self._queue and now < end:
                self._turn(self._queue.popleft(), now)
                now = loop.time()
        finally:
            self._due = bool(self._queue)
            if self._due:
                loop.call_soon(self._answer_waiting, loop)

    def _turn(self, call: Call, now: float) -> None:
        if call.rejection is not None:
            self.fail(call, call.rejection)
            return
        if now - call.connection.heard > min(call.seconds - MARGIN, self.limits.queue_time):
            self.fail(call, too_busy(Shed.QUEUE_TIME, "too many requests before this one"))
        elif call.size > self.limits.inline:
            if self.review_thread.full:
                self.fail(call, too_busy(Shed.LARGE, "too many large objects at once"))
            else:
                self._wait(self._apart(call))
        else:
            outcome = self._judged(call)
            if isinstance(outcome, Response) or not inspect.isawaitable(outcome):
                self._answer(call, *_encoded(call, outcome))
            else:
                self._wait(self._awaited(call, outcome))

    def _judged(self, call: Call) -> Any:
        """Return what a reviewer says: a response, None, an awaitable of these; or the exception that it raised."""
        assert call.route is not None
        CURRENT.set(call.trace)  # None, too: the one before may have belonged to another trace
        try:
            try:
                admission = Request.parse(decode(call.body))
            except Malformed as error:
                raise BadRequest(400, Rejection.ENVELOPE, str(error)) from None
            call.body = b""
            # The objects are freed once they are reviewed, and by the thread that does.
            call.admission = replace(admission, document=None, old_document=None)
            if call.route.review is not None:
                return call.route.review(admission)
            if call.route.kind is not None and (needed := self.needs(call.route.kind, admission)) is not None:
                return needed if isinstance(needed, Response) else self._reviewed_after(needed, call, admission)
            return self._reviewed(call.route, admission, self._budget(call))
        except BaseException as error:  # noqa: BLE001  # whatever leaves a rule: one request fails, and not the server
            return error

    async def _reviewed_after(
        self, needed: Awaitable[Response | None], call: Call, admission: Request
    ) -> Response | None:
        """Review a job once what has to be known of it is; a large one in the thread for these, as before."""
        if (instead := await needed) is not None:
            return instead
        route = call.route
        assert route is not None
        if call.size <= self.limits.inline:
            return self._reviewed(route, admission, self._budget(call))
        return await self.review_thread.run(lambda: self._reviewed(route, admission, self._budget(call)))

    async def _apart(self, call: Call) -> None:
        """Review a large object in the thread for these, unless its caller has left meanwhile."""

        def judged() -> tuple[Any, bytes]:
            if call.left:
                return BadRequest(CLIENT_LEFT, Rejection.LEFT, "the client left"), b""
            if time.perf_counter() - call.started > call.seconds - MARGIN:
                return too_busy(Shed.QUEUE_TIME, "too many large objects before this one"), b""
            outcome = self._judged(call)
            return (outcome, b"") if inspect.isawaitable(outcome) else _encoded(call, outcome)

        outcome, body = await self.review_thread.run(judged)
        if inspect.isawaitable(outcome):
            await self._awaited(call, outcome)
        else:
            self._answer(call, outcome, body)

    async def _awaited(self, call: Call, outcome: Awaitable[Any]) -> None:
        try:
            response = await outcome
        except asyncio.CancelledError as error:
            if not call.left and (task := asyncio.current_task()) is not None and task.cancelling():
                raise  # the server's own end
            response = error
        except BaseException as error:  # noqa: BLE001  # as above
            response = error
        self._answer(call, *_encoded(call, response))

    def _wait(self, work: Any) -> None:
        """Run what has to wait."""
        task = asyncio.get_running_loop().create_task(work)
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def _answer(self, call: Call, outcome: Any, body: bytes) -> None:
        """Answer with a response and its bytes, or say what else has come of it."""
        if isinstance(outcome, BadRequest):
            self.fail(call, outcome)
            return
        if isinstance(outcome, BaseException):
            self._panic(call, outcome)
            return
        verdict = _verdict(outcome)
        call.metrics.reviewed(verdict, outcome)
        said = {
            "allowed": outcome is None or outcome.allowed,
            "verdict": verdict,
            "causes": len(outcome.causes) if outcome else 0,
            "warnings": len(outcome.notices) if outcome else 0,
            "operations": len(outcome.patch) if outcome else 0,
        }
        self._send(call, 200, body, said, media=answer.JSON)

    def _panic(self, call: Call, error: BaseException) -> None:
        """Answer that we failed; the log says where."""
        self.metrics.panics.inc()
        logger.error("failed to answer", extra={"fields": {**call.fields(), **origin(error)}})
        self._send(call, 500, b"jobgate failed to review this; its log says why\n", {})
        _forget_origin(error)

    def _send(
        self,
        call: Call,
        code: int,
        body: bytes,
        said: Mapping[str, Any],
        *,
        media: str = answer.TEXT,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer, count and log; `said` is what the log says of the answer."""
        call.connection.answer(code, body, media, headers)
        elapsed = time.perf_counter() - call.started
        if call.wanted:
            self.in_flight -= 1
            call.metrics.in_flight -= 1
        call.metrics.answered(code, elapsed, late=elapsed > call.seconds)
        logs = logger.isEnabledFor(logging.INFO)
        if not (logs or self.spans):
            return
        fields = call.fields(code=code, milliseconds=round(elapsed * 1000, 3))
        fields |= said
        if self.spans:
            end = time.time_ns()
            self.spans.record(call.path, call.trace, (end - round(elapsed * 1e9), end), fields)
        if logs:
            log.info("request", fields)

    def _bind(self, path: str, route: Route | None) -> RouteMetrics:
        """Make the metrics of a path that is called for the first time."""
        assert route is not None
        return self._bound.setdefault(path, self.metrics.route(path, route.name, route.phase))

    def _budget(self, call: Call) -> Callable[[], bool]:
        """Return what tells whether a review that begins now has taken too long: for us, or for its caller."""
        end = call.started + call.seconds - MARGIN
        if call.size <= self.limits.inline:  # a tenth of a second at most, of which the time need not be taken
            return lambda: time.perf_counter() > end
        return deadline.review_budget(end, self.limits.review_time)

    def _reviewed(self, route: Route, admission: Request, spent: Callable[[], bool]) -> Response | None:
        """Review a job of a kind.

        Another kind on its path is allowed, and counted: the rules of our configuration have been widened, and
        rejecting, or failing, would stop the cluster for objects that are not ours.
        """
        if self.kinds.get(admission.api_version, admission.kind) is not route.kind:
            return None
        return review(admission, route.phase, self.kinds, self.settings, self.objects, access=self.access, spent=spent)


def _forget_origin(error: BaseException) -> None:
    """Forget where an error was raised: the frames hold the body, and the error, until the garbage is collected."""
    error.__traceback__ = error.__context__ = error.__cause__ = None


def _encoded(call: Call, outcome: Any) -> tuple[Any, bytes]:
    """Return an outcome and its bytes; where what a rule gave is no cause or no text, the exception for it."""
    if isinstance(outcome, BaseException):
        return outcome, b""
    try:
        assert call.admission is not None
        return outcome, answer.review(call.admission.uid, outcome)
    except Exception as error:  # noqa: BLE001  # whatever a rule gave
        return error, b""


def _verdict(answer: Response | None) -> str:
    """Return what an answer amounts to, in a word."""
    if answer is None:
        return "foreign"
    if answer.causes:
        return "denied"
    if answer.later:
        return "later"
    return "patched" if answer.patch else "allowed"
