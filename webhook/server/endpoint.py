"""The endpoint that the API server calls: from request bytes to response bytes, of reviews and conversions.

A mistake of the user is HTTP 200 with `allowed: false`, a body that is not an AdmissionReview is 4xx, and a failure of
ours is 5xx: then the `failurePolicy` of the configuration decides.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission import Malformed, Request, Response
from webhook.context import Access, NoObjects, Objects, S
from webhook.conversion import CONVERSION_PATH, Conversion, ConversionRequest, convert_objects
from webhook.kind import Kind, Registry
from webhook.review import Phase, review
from webhook.server import answer, deadline, log
from webhook.server.body import CLIENT_LEFT, BadRequest, BufferedBytes, Rejection, check_headers, decode, too_busy
from webhook.server.connection import Connection
from webhook.server.limits import Limits, Shed
from webhook.server.log import logger, origin
from webhook.server.metrics import Metrics, RouteMetrics
from webhook.server.product import NAMELESS, Product
from webhook.server.reader import RequestHead
from webhook.server.review_thread import ReviewThread
from webhook.server.session import Failure
from webhook.server.spans import OpenTelemetry
from webhook.trace import CURRENT, Trace

if TYPE_CHECKING:
    from webhook.server.reviews import KeptReviews

#: Seconds of the caller's time that are reserved for the way back.
MARGIN = 0.2

#: Seconds for which requests are answered before the event loop reads again.
SLICE = 0.01

#: The name of all other paths, in metrics and the log.
UNKNOWN = "unknown"

#: Answers an admission request; None allows it, as not its own. A reviewer that must wait returns an awaitable, and
#: must end in the caller's time. For a large object, it is called in a thread.
Reviewer: TypeAlias = Callable[[Request], Response | Awaitable[Response | None] | None]

#: The outcome of a request: a response, None to allow what is not ours, or the exception that was raised.
Outcome: TypeAlias = Response | Conversion | BaseException | None


@dataclass(frozen=True, slots=True)
class Route:
    """The reviewer of a path.

    Attributes:
        name: the name of the objects in metrics, such as the qualified plural of a kind.
        phase: which of the two calls of admission the API server makes on the path; None for conversions.
        review: the reviewer; None if the objects are those of a kind.
        kind: that kind.
    """

    name: str
    phase: Phase | None
    review: Reviewer | None = None
    kind: Kind | None = None


class Call(Struct, eq=False):
    """One request, from its head to its answer.

    Attributes:
        connection: its connection.
        path: its path, or `UNKNOWN`.
        route: who answers; None if the path is unknown.
        metrics: the metrics of the path.
        started: when its head was complete, on the performance counter.
        trace: the trace that it belongs to.
        rejection: why its body is not read; None if it is.
        seconds: how long the caller waits.
        wanted: how long to wait for the body.
        left: whether the client has left.
        body: the body, from its arrival until it is decoded.
        size: the size of the body in bytes; -1 until it has arrived.
        request: the request, once it is read; without its objects, unless reviews are kept and it has no answer yet.
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
    request: Request | ConversionRequest | None = None

    def fields(self, **answered: Any) -> dict[str, Any]:
        """Return the fields of its log line: who, what, where, but nothing of the object itself."""
        fields = {"path": self.path, **answered}
        if self.trace is not None:
            fields["trace"] = self.trace.id
        if self.size >= 0:
            fields["bytes"] = self.size
        if (request := self.request) is None:
            return fields
        fields |= {"uid": request.uid, "apiVersion": request.api_version[:253]}
        if isinstance(request, Request):
            fields |= {
                "operation": request.operation,
                "kind": request.kind[:253],
                "namespace": request.namespace[:253],
                "name": request.name[:253],
                "user": request.user.name[:253],
                "dryRun": request.dry_run,
            }
        return fields


class Endpoint(Generic[S]):
    """Answers requests for the kinds of a registry, and on further paths.

    Attributes:
        kinds: the kinds.
        settings: the settings of the installation. A new value takes effect with the next review.
        objects: the known objects of the cluster.
        limits: the limits of the server.
        metrics: the metrics of the server.
        routes: who answers, by path.
        waits_for: returns what is missing before the server is ready; empty if nothing is.
        product: the program that answers.
        access: the known answers of RBAC; None if rights are not checked.
        needs: called before the review of an object of a kind. It returns None, or an awaitable of what must be known
            first. If it returns a response, or the awaitable does, that is the answer instead of a review.
        review_thread: the thread for large objects.
        lacking: returns what is wrong with the certificate; empty if nothing is.
        impaired: what does not work although the server is ready, a sentence each; by default the kinds that it lacks.
        spans: records a span for each request; None without traces.
        reviews: the reviews that are kept; None if none are.
        may_read: returns the HTTP status for a token and an address that ask for them; None if nobody may read them.
        draining: whether each answer closes its connection.
        held: the bytes of bodies that it holds.
        in_flight: the number of requests that are read or answered.
    """

    def __init__(
        self,
        kinds: Registry[Any],
        settings: S,
        *,
        product: Product = NAMELESS,
        objects: Objects | None = None,
        further: Mapping[str, Route] | None = None,
        limits: Limits | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.kinds = kinds
        self.settings = settings
        self.objects = objects or NoObjects()
        self.limits = limits or Limits()
        self.product = product
        self.metrics = metrics or Metrics(product)
        self.routes: Mapping[str, Route] = {
            **{kind.path(phase): Route(kind.qualified_plural, phase, kind=kind) for kind in kinds for phase in Phase},
            **({CONVERSION_PATH: Route("conversions", None)} if any(kind.versions for kind in kinds) else {}),
            **(further or {}),
        }
        self.draining = False
        self.waits_for: Callable[[], str] = lambda: ""
        self.access: Access | None = None
        self.needs: Callable[[Kind, Request], Response | Awaitable[Response | None] | None] = lambda _, __: None
        self.lacking: Callable[[], str] = lambda: ""
        self.impaired: Sequence[str] = kinds.lacking
        self.spans: OpenTelemetry | None = None
        self.reviews: KeptReviews | None = None
        self.may_read: Callable[[str, str], Coroutine[Any, Any, int]] | None = None
        self.held = BufferedBytes(self.limits)
        self.in_flight = 0
        #: The metrics of each path that has been called.
        self._bound: dict[str, RouteMetrics] = {}
        #: Requests that wait to be answered, and whether `_answer_waiting` is due.
        self._queue: deque[Call] = deque()
        self._due = False
        self.review_thread = ReviewThread(self.limits.large)
        self._waiting: set[asyncio.Task[None]] = set()

    def not_ready(self) -> str:
        """Return why it is not ready, for a probe; empty if it is."""
        if self.draining:
            return "draining"
        if lacking := self.lacking():
            return lacking
        waits_for = self.waits_for()
        return f"waiting for {waits_for}" if waits_for else ""

    # Called by connections

    def begin(self, connection: Connection[Call], head: RequestHead) -> Call:
        """Take the head of a request."""
        # The path as it was sent: with an encoded slash, for example, it is another path.
        path, _, query = head.path.partition("?")
        route = self.routes.get(path)
        if route is None:
            path = UNKNOWN
        metrics = self._bound.get(path)
        if metrics is None:
            name, phase = (route.name, route.phase or "convert") if route is not None else ("", "")
            metrics = self._bound[path] = RouteMetrics(self.metrics, path, name, phase)
        call = Call(connection, path, route, metrics, time.perf_counter())
        if "traceparent" in head.headers:
            call.trace = Trace.read(head.headers.getall("traceparent"), head.headers.getall("tracestate", ()))
        try:
            if route is None:
                raise self._unknown(head.path)
            if head.method != "POST":
                raise BadRequest(405, Rejection.METHOD, "a review is posted", {"Allow": "POST"})  # noqa: TRY301
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

    def reject(self, call: Call, error: BadRequest) -> None:
        """Answer a request that is rejected before it is reviewed."""
        if isinstance(error.reason, Shed):
            self.metrics.shed.labels(error.reason).inc()
        else:
            self.metrics.rejected.labels(error.reason).inc()
        self._send(call, error.code, f"{error}\n".encode(), {"reason": error.reason}, headers=error.headers)
        _forget_origin(error)

    def count_failure(self, why: Rejection | Failure) -> None:
        """Count what did not become a request."""
        (self.metrics.handshake_failures if isinstance(why, Failure) else self.metrics.rejected).labels(why).inc()

    def _unknown(self, path: str) -> BadRequest:
        """Return the rejection of a path that is not served: a failure of ours, if it may be that of a missing kind.

        The API server shows the text of a 500 to the user, and none of a 404.
        """
        if self.kinds.lacking and path.startswith(tuple(f"/{phase}-" for phase in Phase)):
            why = "; ".join(self.kinds.lacking)
            return BadRequest(500, Rejection.LACKING, f"{self.product.name} does not serve this kind: {why}")
        return BadRequest(404, Rejection.PATH, "no webhook has this path")

    # Reviews and answers

    def _answer_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer requests for a slice of time, after the event loop has read all that has arrived.

        So it is known how long each has waited, and the event loop runs between two slices.
        """
        now = loop.time()
        end = now + SLICE
        try:
            while self._queue and now < end:
                self._dispatch(self._queue.popleft(), now)
                now = loop.time()
        finally:
            self._due = bool(self._queue)
            if self._due:
                loop.call_soon(self._answer_waiting, loop)

    def _dispatch(self, call: Call, now: float) -> None:
        """Answer a request at once, reject it, or start a task that answers it."""
        if call.rejection is not None:
            self.reject(call, call.rejection)
            return
        if now - call.connection.heard > min(call.seconds - MARGIN, self.limits.queue_time):
            self.reject(call, too_busy(Shed.QUEUE_TIME, "too many requests before this one"))
        elif call.size > self.limits.inline:
            if self.review_thread.full:
                self.reject(call, too_busy(Shed.LARGE, "too many large objects at once"))
            else:
                self._spawn(self._review_in_thread(call))
        else:
            outcome = self._run_review(call)
            if isinstance(outcome, Response) or not isinstance(outcome, Awaitable):
                self._answer(call, *self._encode(call, outcome))
            else:
                self._spawn(self._finish_later(call, outcome))

    def _run_review(self, call: Call) -> Outcome | Awaitable[Response | None]:
        """Return the outcome of a review, or an awaitable if it must wait."""
        assert call.route is not None
        CURRENT.set(call.trace)  # None, too: the previous request may have had a trace
        try:
            try:
                if call.route.phase is None:
                    return self._convert(call)
                admission = Request.parse(decode(call.body))
            except Malformed as error:
                raise BadRequest(400, Rejection.ENVELOPE, str(error)) from None
            call.body = b""
            # The objects are freed after their review, by the thread of the review.
            keeps = self.reviews is not None
            call.request = admission if keeps else replace(admission, document=None, old_document=None)
            if call.route.review is not None:
                return call.route.review(admission)
            if call.route.kind is not None and (needed := self.needs(call.route.kind, admission)) is not None:
                return needed if isinstance(needed, Response) else self._review_after_lookup(needed, call, admission)
            return self._review_kind(call.route, admission, self._budget(call))
        except BaseException as error:  # noqa: BLE001  # whatever a rule raises: one request fails, not the server
            return error

    def _convert(self, call: Call) -> Conversion:
        """Return the objects of a ConversionReview in the wanted version."""
        request = ConversionRequest.parse(decode(call.body))
        call.body = b""
        call.request = replace(request, objects=[])
        return convert_objects(request, self.kinds, spent=self._budget(call))

    def _review_kind(self, route: Route, admission: Request, spent: Callable[[], bool]) -> Response | None:
        """Review an object of the kind of a path.

        An object of another kind is allowed, and counted: someone has widened the rules of the configuration, and a
        denial or an error would block objects that are not ours.
        """
        if self.kinds.get(admission.api_version, admission.kind) is not route.kind or route.phase is None:
            return None
        return review(admission, route.phase, self.kinds, self.settings, self.objects, access=self.access, spent=spent)

    def _budget(self, call: Call) -> Callable[[], bool]:
        """Return a function that tells whether a review that begins now has taken too long."""
        end = call.started + call.seconds - MARGIN
        if call.size <= self.limits.inline:  # it takes a tenth of a second at most, so its CPU time is not measured
            return lambda: time.perf_counter() > end
        return deadline.review_budget(end, self.limits.review_time)

    async def _review_after_lookup(
        self, needed: Awaitable[Response | None], call: Call, admission: Request
    ) -> Response | None:
        """Review an object once everything that it needs is known; a large one in the thread for large objects."""
        if (response := await needed) is not None:
            return response
        route = call.route
        assert route is not None
        if call.size <= self.limits.inline:
            return self._review_kind(route, admission, self._budget(call))
        return await self.review_thread.run(lambda: self._review_kind(route, admission, self._budget(call)))

    async def _review_in_thread(self, call: Call) -> None:
        """Review a large object in the thread for large objects, unless its client has left."""

        def work() -> tuple[Outcome | Awaitable[Response | None], bytes]:
            if call.left:
                return BadRequest(CLIENT_LEFT, Rejection.LEFT, "the client left"), b""
            if time.perf_counter() - call.started > call.seconds - MARGIN:
                return too_busy(Shed.QUEUE_TIME, "too many large objects before this one"), b""
            outcome = self._run_review(call)
            return (outcome, b"") if isinstance(outcome, Awaitable) else self._encode(call, outcome)

        outcome, body = await self.review_thread.run(work)
        if isinstance(outcome, Awaitable):
            await self._finish_later(call, outcome)
        else:
            self._answer(call, outcome, body)

    async def _finish_later(self, call: Call, response: Awaitable[Response | None]) -> None:
        """Answer once a response is there."""
        outcome: Outcome
        try:
            outcome = await response
        except asyncio.CancelledError as error:
            if not call.left and (task := asyncio.current_task()) is not None and task.cancelling():
                raise  # the server ends
            outcome = error
        except BaseException as error:  # noqa: BLE001  # as above
            outcome = error
        self._answer(call, *self._encode(call, outcome))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def _encode(self, call: Call, outcome: Outcome) -> tuple[Outcome, bytes]:
        """Return an outcome and its bytes; or the exception, if a rule yielded something that cannot be written."""
        request = call.request
        if self.reviews is not None and isinstance(request, Request):
            call.request = replace(request, document=None, old_document=None)
        if isinstance(outcome, BaseException):
            return outcome, b""
        try:
            assert request is not None
            if isinstance(outcome, Conversion):
                return outcome, answer.conversion(outcome)
            changes = answer.patch(outcome)
            body = answer.review(request.uid, outcome, self.product.hint, changes)
            if self.reviews is not None and outcome is not None and call.route is not None:
                assert isinstance(request, Request)
                self.reviews.add(request, outcome, call.route.phase or "", call.size, changes, call.started)
        except Exception as error:  # noqa: BLE001  # whatever a rule has yielded
            return error, b""
        return outcome, body

    def _answer(self, call: Call, outcome: Outcome, body: bytes) -> None:
        """Answer with the bytes of a response, or with an error."""
        if isinstance(outcome, BadRequest):
            self.reject(call, outcome)
            return
        if isinstance(outcome, BaseException):
            self._answer_panic(call, outcome)
            return
        if isinstance(outcome, Conversion):
            self._answer_conversion(call, outcome, body)
            return
        verdict = _verdict(outcome)
        call.metrics.reviewed(verdict, outcome)
        fields = {
            "allowed": outcome is None or outcome.allowed,
            "verdict": verdict,
            "causes": len(outcome.causes) if outcome else 0,
            "warnings": len(outcome.notices) if outcome else 0,
            "operations": len(outcome.patch) if outcome else 0,
        }
        self._send(call, 200, body, fields, media=answer.JSON)

    def _answer_conversion(self, call: Call, outcome: Conversion, body: bytes) -> None:
        """Answer with converted objects, or with the reasons why they cannot be converted."""
        verdict = "failed" if outcome.faults else "converted"
        call.metrics.reviewed(verdict, None)
        for error in outcome.errors:
            self.metrics.panics.inc()
            logger.error("failed to convert", extra={"fields": {**call.fields(), **origin(error)}})
            _forget_origin(error)
        fields = {"verdict": verdict, "objects": len(outcome.objects), "faults": len(outcome.faults)}
        self._send(call, 200, body, fields, media=answer.JSON)

    def _answer_panic(self, call: Call, error: BaseException) -> None:
        """Answer with 500, and log where the error was raised."""
        self.metrics.panics.inc()
        logger.error("failed to answer", extra={"fields": {**call.fields(), **origin(error)}})
        self._send(call, 500, f"{self.product.name} failed to review this; its log says why\n".encode(), {})
        _forget_origin(error)

    def _send(
        self,
        call: Call,
        code: int,
        body: bytes,
        answered: Mapping[str, Any],
        *,
        media: str = answer.TEXT,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer, count and log; `answered` has the fields of the answer in the log."""
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
        fields |= answered
        if self.spans:
            end = time.time_ns()
            self.spans.record(call.path, call.trace, (end - round(elapsed * 1e9), end), fields)
        if logs:
            log.info("request", fields)


def _forget_origin(error: BaseException) -> None:
    """Drop the traceback of an error: its frames hold the body until the garbage is collected."""
    error.__traceback__ = error.__context__ = error.__cause__ = None


def _verdict(response: Response | None) -> str:
    """Return the verdict of a response."""
    if response is None:
        return "foreign"
    if response.causes:
        return "denied"
    if response.later:
        return "later"
    return "patched" if response.patch else "allowed"
