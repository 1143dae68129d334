"""The metrics of the server, with the names of controller-runtime if it has them: dashboards for Go webhooks work."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Iterable
from functools import partial
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from webhook.admission import Response
from webhook.cause import Cause
from webhook.server import body
from webhook.server.candidate import Fault, ServingCertificate
from webhook.server.limits import Shed
from webhook.server.product import NAMELESS, Product
from webhook.server.session import Failure

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
        self._product = product
        self._routes: list[RouteMetrics] = []
        self.registry.register(self)  # the collector of the metrics of the paths
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self.panics = counter("controller_runtime_webhook_panics", "Failures of our own while answering.")
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

    def route(self, webhook: str, name: str = "", phase: str = "") -> RouteMetrics:
        """Create the metrics of a path; `unknown` is for all paths that the server does not have."""
        route = RouteMetrics(self, webhook, name, phase)
        self._routes.append(route)
        return route

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all paths. Any thread may call this."""
        requests = CounterMetricFamily(
            "controller_runtime_webhook_requests",
            "Admission requests by path and HTTP status code.",
            labels=["webhook", "code"],
        )
        latency = HistogramMetricFamily(
            "controller_runtime_webhook_latency_seconds",
            "Time to answer admission requests, in seconds.",
            labels=["webhook"],
        )
        in_flight = GaugeMetricFamily(
            "controller_runtime_webhook_requests_in_flight", "Admission requests being answered.", labels=["webhook"]
        )
        reviews = CounterMetricFamily(
            f"{self._product.name}_reviews",
            "Reviews and conversions by kind, phase and verdict (such as denied, failed, or foreign: another kind).",
            labels=["kind", "phase", "verdict"],
        )
        operations = CounterMetricFamily(
            f"{self._product.name}_patch_operations", "Operations of patches.", labels=["kind"]
        )
        patched: Counted[str] = Counted()
        for route in self._routes:
            for code, count in dict(route.codes).items():
                requests.add_metric([route.webhook, str(code)], count)
            counts = accumulate(route.latencies)
            buckets = [(str(bound), count) for bound, count in zip((*LATENCIES, "+Inf"), counts, strict=True)]
            latency.add_metric([route.webhook], buckets, route.seconds)
            in_flight.add_metric([route.webhook], route.in_flight)
            for verdict, count in dict(route.verdicts).items():
                reviews.add_metric([route.name, route.phase, verdict], count)
            patched[route.name] += route.operations
        for name, count in patched.items():
            operations.add_metric([name], count)
        return requests, latency, in_flight, reviews, operations

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
    """The metrics of one path.

    They are plain numbers until they are collected: Prometheus' metrics take a lock for each request.

    Attributes:
        webhook: the path.
        name: the name of the objects; empty for `unknown`.
        phase: the phase of the review.
        in_flight: the number of requests that are read or answered.
        codes: the number of answers by HTTP status.
        latencies: the number of answers by bucket of `LATENCIES`; the last bucket has no bound.
        seconds: the sum of the times to answer.
        verdicts: the number of reviews by verdict.
        operations: the number of operations of all patches.
    """

    def __init__(self, metrics: Metrics, webhook: str, name: str, phase: str) -> None:
        self._metrics = metrics
        self.webhook, self.name, self.phase = webhook, name, phase
        self.in_flight = 0
        self.codes: Counted[int] = Counted()
        self.latencies = [0] * (len(LATENCIES) + 1)
        self.seconds = 0.0
        self.verdicts: Counted[str] = Counted()
        self.operations = 0

    def answered(self, code: int, seconds: float, *, late: bool) -> None:
        """Count an answer."""
        self.codes[code] += 1
        self.latencies[bisect_left(LATENCIES, seconds)] += 1
        self.seconds += seconds
        if late:
            self._metrics.late.labels(self.webhook).inc()

    def reviewed(self, verdict: str, response: Response | None) -> None:
        """Count a verdict."""
        self.verdicts[verdict] += 1
        if response is None:
            return
        self.operations += len(response.patch)
        if notices := response.notices:
            self._metrics.warnings.labels(self.name, self.phase).inc(len(notices))
        causes = Counted((finding.reason, rule) for rule, finding in response.findings if isinstance(finding, Cause))
        for (reason, rule), count in causes.items():
            self._metrics.causes.labels(self.name, reason, rule).inc(count)
