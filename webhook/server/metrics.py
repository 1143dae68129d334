"""What the server counts. The names are controller-runtime's, so that dashboards made for Go webhooks work."""

from __future__ import annotations

from collections import Counter as Counted
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.exposition import generate_latest

from webhook.admission import Response
from webhook.server import body
from webhook.server.candidate import Fault, ServingCertificate
from webhook.server.limits import Shed
from webhook.server.session import Failure

T = TypeVar("T")

#: What came of a certificate that is served.
SERVED = "served"

#: As many answers of a path are noted before they are counted. The next request waits meanwhile, about 40 µs.
TOGETHER = 64


class Metrics:
    """The metrics of one server, in a registry of their own.

    The label `webhook` is the path that was called, where it is one of ours, and `unknown` otherwise: labels are
    bounded whatever clients send. `docs/how-to/observe.md` says of each what it tells.

    Attributes:
        registry: where they all are.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._routes: list[RouteMetrics] = []
        self.registry.register(self)  # the first of them
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        path, kind = ["webhook"], ["kind", "phase"]
        # Requests, as controller-runtime counts them.
        self.requests = counter(
            "controller_runtime_webhook_requests", "Admission requests by path and HTTP status code.", [*path, "code"]
        )
        self.latency = histogram(
            "controller_runtime_webhook_latency_seconds",
            "Time to answer admission requests, in seconds.",
            path,
            buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self.in_flight = gauge(
            "controller_runtime_webhook_requests_in_flight", "Admission requests being answered.", path
        )
        self.panics = counter("controller_runtime_webhook_panics", "Failures of our own while answering.")
        self.rejected = counter(
            "jobgate_rejected_requests", "Requests that are no AdmissionReview, by what is wrong with them.", ["reason"]
        )
        self.late = counter(
            "jobgate_deadline_exceeded", "Requests that were answered later than their caller waits.", path
        )
        # Verdicts.
        self.reviews = counter(
            "jobgate_reviews",
            "Reviews by kind, phase and verdict (allowed, patched, denied, later, or foreign: another kind).",
            [*kind, "verdict"],
        )
        self.causes = counter(
            "jobgate_denial_causes", "Causes of denials by kind, reason and rule.", ["kind", "reason", "rule"]
        )
        self.warnings = counter("jobgate_warnings", "Warnings to users.", kind)
        self.operations = counter("jobgate_patch_operations", "Operations of patches.", ["kind"])
        # Load.
        self.connections = gauge("jobgate_connections", "Open connections to the admission port.")
        self.shed = counter(
            "jobgate_shed_requests", "Requests answered 429, by the limit that they exceeded.", ["reason"]
        )
        self.refused = counter(
            "jobgate_refused_connections",
            "Connections to the admission port that were closed at once: too many, or no file left for them.",
        )
        self.lag = histogram(
            "jobgate_event_loop_lag_seconds",
            "Delay of the event loop in seconds.",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
        )
        # Certificates.
        self.generation = gauge(
            "jobgate_certificate_generation",
            "Generation of the certificate that is served; 0 where there is none, or none is counted.",
        )
        self.not_before = gauge(
            "jobgate_certificate_not_before_timestamp_seconds",
            "From when on the certificate that is served, and its CA, hold.",
        )
        self.not_after = gauge(
            "jobgate_certificate_not_after_timestamp_seconds",
            "Expiry of the served certificate or of its CA, whichever is earlier; 0 if there is none.",
        )
        self.authority = gauge(
            "jobgate_certificate_info",
            "1 for the certificate that is served, by the beginning of its CA's SHA-256.",
            ["ca"],
        )
        self.reloads = counter(
            "jobgate_certificate_reloads",
            "Certificates that were offered, by what came of it (served, or why not).",
            ["result"],
        )
        self.read = counter("certwatcher_read_certificate", "Certificates that were offered.")
        self.read_errors = counter(
            "certwatcher_read_certificate_errors", "Certificates that were offered and not served."
        )
        self.handshake_failures = counter(
            "jobgate_tls_handshake_errors", "TLS handshakes that failed, by why.", ["reason"]
        )
        for counted, reasons in (
            (self.rejected, body.Rejection),
            (self.shed, Shed),
            (self.reloads, (SERVED, *Fault)),
            (self.handshake_failures, Failure),
        ):
            for reason in reasons:  # those that have not been met are 0, and not absent
                counted.labels(reason)

    def route(self, webhook: str, name: str = "", phase: str = "") -> RouteMetrics:
        """Return the metrics of a path. `unknown` is that of the others."""
        made = RouteMetrics(self, webhook, name, phase)
        self._routes.append(made)
        return made

    def collect(self) -> Iterable[Metric]:
        """Have all that is noted counted before the metrics after this one are read; this is none itself."""
        for route in self._routes:
            route.settle()
        return ()

    def serves(self, served: ServingCertificate) -> None:
        """Tell of another certificate that is served from now on."""
        self.generation.set(served.generation)
        self.not_before.set(served.not_before)
        self.not_after.set(served.not_after)
        self.authority.clear()  # what was served before must not stay, or there would be more with every rotation
        self.authority.labels(served.authority).set(1)
        self.read.inc()
        self.reloads.labels(SERVED).inc()

    def rejects(self, fault: Fault) -> None:
        """Tell of a certificate that is not served."""
        self.read.inc()
        self.read_errors.inc()
        self.reloads.labels(fault).inc()

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class RouteMetrics:
    """The metrics of one path.

    What is counted for each request is noted, and given to Prometheus' metrics when these are read, or when much has
    come together: one after another, while a request is answered, they would be a good part of what it costs.

    Attributes:
        in_flight: requests being read, or waiting for an answer that is not made at once.
    """

    def __init__(self, metrics: Metrics, webhook: str, name: str, phase: str) -> None:
        self.in_flight = 0
        metrics.in_flight.labels(webhook).set_function(lambda: self.in_flight)
        self._metrics = metrics
        self._webhook, self._name, self._phase = webhook, name, phase
        self._latency = metrics.latency.labels(webhook)
        self._operations = metrics.operations.labels(name)
        self._answers: deque[tuple[int, float]] = deque()
        self._verdicts: deque[tuple[str, int]] = deque()

    def settle(self) -> None:
        """Count what has been noted, in whatever thread."""
        answers, verdicts = _taken(self._answers), _taken(self._verdicts)
        for _, seconds in answers:
            self._latency.observe(seconds)
        for code, count in Counted(code for code, _ in answers).items():
            self._metrics.requests.labels(self._webhook, str(code)).inc(count)
        for verdict, count in Counted(verdict for verdict, _ in verdicts).items():
            self._metrics.reviews.labels(self._name, self._phase, verdict).inc(count)
        if operations := sum(operations for _, operations in verdicts):
            self._operations.inc(operations)

    def answered(self, code: int, seconds: float, *, late: bool) -> None:
        """Count an answer."""
        self._answers.append((code, seconds))
        if len(self._answers) >= TOGETHER:
            self.settle()
        if late:
            self._metrics.late.labels(self._webhook).inc()

    def reviewed(self, verdict: str, response: Response | None) -> None:
        """Count a verdict."""
        self._verdicts.append((verdict, len(response.patch) if response is not None else 0))
        if response is None:
            return
        if response.notices:
            self._metrics.warnings.labels(self._name, self._phase).inc(len(response.notices))
        if not response.causes:
            return
        rules = response.rules or [""] * len(response.causes)
        for (reason, rule), count in Counted(zip((one.reason for one in response.causes), rules, strict=False)).items():
            self._metrics.causes.labels(self._name, reason, rule).inc(count)


def _taken(noted: deque[T]) -> list[T]:
    """Take all that is there; another thread may take some of it meanwhile."""
    taken: list[T] = []
    with suppress(IndexError):
        while True:
            taken.append(noted.popleft())
    return taken
