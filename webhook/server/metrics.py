"""The metrics of the server, with the names of controller-runtime if it has them: dashboards for Go webhooks work."""

from __future__ import annotations

from collections import Counter as Counted
from functools import cache, partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest

from webhook.admission import Response
from webhook.cause import Cause
from webhook.server import body
from webhook.server.candidate import Fault, ServingCertificate
from webhook.server.limits import Shed
from webhook.server.product import NAMELESS, Product
from webhook.server.session import Failure

# Nobody reads when a series began, and it would double the series of each counter.
disable_created_metrics()  # type: ignore[no-untyped-call]
#: The result of a certificate that is served.
SERVED = "served"

#: The bounds of the buckets for the time to answer, in seconds.
LATENCIES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The metrics of one server, in a registry of their own.

    Metrics that controller-runtime does not have begin with the name of the product.

    The label `webhook` is the path if the server has it, and `unknown` otherwise, so that clients cannot add labels.

    Attributes:
        registry: the registry of all metrics.
    """

    def __init__(self, product: Product = NAMELESS) -> None:
        self.registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self.requests = counter(
            "controller_runtime_webhook_requests",
            "Admission requests by path and HTTP status code.",
            ["webhook", "code"],
        )
        self.latency = histogram(
            "controller_runtime_webhook_latency_seconds",
            "Time to answer admission requests, in seconds.",
            ["webhook"],
            buckets=LATENCIES,
        )
        self.in_flight = gauge(
            "controller_runtime_webhook_requests_in_flight", "Admission requests being answered.", ["webhook"]
        )
        self.panics = counter("controller_runtime_webhook_panics", "Failures of our own while answering.")
        self.reviews = counter(
            f"{product.name}_reviews",
            "Reviews and conversions by kind, phase and verdict (such as denied, failed, or foreign: another kind).",
            ["kind", "phase", "verdict"],
        )
        self.operations = counter(f"{product.name}_patch_operations", "Operations of patches.", ["kind"])
        self.rejected = counter(
            f"{product.name}_rejected_requests", "Requests that were rejected before the review, by reason.", ["reason"]
        )
        self.late = counter(
            f"{product.name}_deadline_exceeded",
            "Requests that were answered later than their caller waits.",
            ["webhook"],
        )
        self.causes = counter(
            f"{product.name}_denial_causes", "Causes of denials by kind, reason and rule.", ["kind", "reason", "rule"]
        )
        self.warnings = counter(
            f"{product.name}_warnings", "Warnings of reviews, before duplicates are removed.", ["kind", "phase"]
        )
        # Load.
        self.connections = gauge(f"{product.name}_connections", "Open connections to the admission port.")
        self.shed = counter(
            f"{product.name}_shed_requests", "Requests answered 429, by the limit that they exceeded.", ["reason"]
        )
        self.refused = counter(
            f"{product.name}_refused_connections",
            "Connections to the admission port that were closed at once: too many, or no file left for them.",
        )
        self.lag = histogram(
            f"{product.name}_event_loop_lag_seconds",
            "Delay of the event loop in seconds.",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
        )
        # Certificates.
        self.generation = gauge(
            f"{product.name}_certificate_generation",
            "Generation of the served certificate; 0 if it has none.",
        )
        self.not_before = gauge(
            f"{product.name}_certificate_not_before_timestamp_seconds",
            "Start of validity of the served certificate or of its CA, whichever is later.",
        )
        self.not_after = gauge(
            f"{product.name}_certificate_not_after_timestamp_seconds",
            "Expiry of the served certificate or of its CA, whichever is earlier; 0 if there is none.",
        )
        self.authority = gauge(
            f"{product.name}_certificate_info",
            "1 for the served certificate, by the beginning of the SHA-256 of its CA.",
            ["ca"],
        )
        self.reloads = counter(
            f"{product.name}_certificate_reloads",
            "Certificates that were offered, by result: served, or the fault.",
            ["result"],
        )
        self.read = counter("certwatcher_read_certificate", "Certificates that were offered.")
        self.read_errors = counter(
            "certwatcher_read_certificate_errors", "Certificates that were offered and not served."
        )
        self.handshake_failures = counter(
            f"{product.name}_tls_handshake_errors", "TLS handshakes that failed, by reason.", ["reason"]
        )
        for counted, reasons in (
            (self.rejected, body.Rejection),
            (self.shed, Shed),
            (self.reloads, (SERVED, *Fault)),
            (self.handshake_failures, Failure),
        ):
            for reason in reasons:  # a reason that has not occurred is 0, not absent
                counted.labels(reason)

    def serves(self, served: ServingCertificate) -> None:
        """Count a certificate that is served from now on."""
        self.generation.set(served.generation)
        self.not_before.set(served.not_before)
        self.not_after.set(served.not_after)
        self.authority.clear()  # otherwise there would be one label more after each rotation
        self.authority.labels(served.authority).set(1)
        self.read.inc()
        self.reloads.labels(SERVED).inc()

    def rejects(self, fault: Fault) -> None:
        """Count a certificate that is not served."""
        self.read.inc()
        self.read_errors.inc()
        self.reloads.labels(fault).inc()

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class RouteMetrics:
    """The metrics of one path, looked up once: `labels` takes longer than counting.

    Attributes:
        in_flight: the number of requests that are read or answered.
    """

    def __init__(self, metrics: Metrics, webhook: str, name: str = "", phase: str = "") -> None:
        """Begin to count.

        Args:
            metrics: the metrics of the server.
            webhook: the path; `unknown` for all paths that the server does not have.
            name: the name of the objects.
            phase: the phase of the review.
        """
        self.in_flight = 0
        metrics.in_flight.labels(webhook).set_function(lambda: self.in_flight)
        self._metrics = metrics
        self._webhook, self._name, self._phase = webhook, name, phase
        self._latency, self._operations = metrics.latency.labels(webhook), metrics.operations.labels(name)
        self._codes = cache(partial(metrics.requests.labels, webhook))
        self._verdicts = cache(partial(metrics.reviews.labels, name, phase))

    def answered(self, code: int, seconds: float, *, late: bool) -> None:
        """Count an answer."""
        self._codes(code).inc()
        self._latency.observe(seconds)
        if late:
            self._metrics.late.labels(self._webhook).inc()

    def reviewed(self, verdict: str, response: Response | None) -> None:
        """Count a verdict."""
        self._verdicts(verdict).inc()
        if response is None:
            return
        if response.patch:
            self._operations.inc(len(response.patch))
        if notices := response.notices:
            self._metrics.warnings.labels(self._name, self._phase).inc(len(notices))
        causes = Counted((finding.reason, rule) for rule, finding in response.findings if isinstance(finding, Cause))
        for (reason, rule), count in causes.items():
            self._metrics.causes.labels(self._name, reason, rule).inc(count)
