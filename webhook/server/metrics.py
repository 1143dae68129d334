"""What the server counts. The names are controller-runtime's, so that dashboards made for Go webhooks work."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest


class Metrics:
    """The metrics of one server, in a registry of their own.

    The label `webhook` is the path that was called, where it is one of ours, and `unknown` otherwise: labels are
    bounded whatever clients send.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "controller_runtime_webhook_requests",
            "Admission requests by path and HTTP status code.",
            ["webhook", "code"],
            registry=self.registry,
        )
        self.latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Time to answer admission requests, in seconds.",
            ["webhook"],
            registry=self.registry,
            buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self.in_flight = Gauge(
            "controller_runtime_webhook_requests_in_flight",
            "Admission requests being answered.",
            ["webhook"],
            registry=self.registry,
        )
        self.panics = Counter(
            "controller_runtime_webhook_panics",
            "Failures of our own while answering.",
            registry=self.registry,
        )
        self.reviews = Counter(
            "jobgate_reviews",
            "Reviews by kind, phase and verdict (allowed, patched, denied, later, or foreign: another kind).",
            ["kind", "phase", "verdict"],
            registry=self.registry,
        )
        self.causes = Counter(
            "jobgate_denial_causes",
            "Causes of denials by kind and reason.",
            ["kind", "reason"],
            registry=self.registry,
        )
        self.connections = Gauge(
            "jobgate_connections",
            "Open connections to the admission port.",
            registry=self.registry,
        )
        self.shed = Counter(
            "jobgate_shed_requests",
            "Requests that were told to come back later.",
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
