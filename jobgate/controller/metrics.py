"""What the controller counts. Where controller-runtime counts the same, the names are its own."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

#: The label `controller` of controller-runtime's metrics.
NAME = "jobgate"


class Metrics:
    """The metrics of one controller, in a registry of their own."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.reconciles = Counter(
            "controller_runtime_reconcile",
            "Looks at a job, by what came of it (fine, wrote, again).",
            ["controller", "result"],
            registry=self.registry,
        )
        self.errors = Counter(
            "controller_runtime_reconcile_errors",
            "Looks at a job that ended with an error.",
            ["controller"],
            registry=self.registry,
        )
        self.latency = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "Time of a look at a job, in seconds.",
            ["controller"],
            registry=self.registry,
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60),
        )
        self.writes = Counter(
            "jobgate_controller_writes",
            "Objects made, changed and deleted.",
            ["resource", "action"],
            registry=self.registry,
        )
        self.blocked = Counter(
            "jobgate_controller_blocked",
            "Looks at an object that could not be made or kept, by why.",
            ["resource", "why"],
            registry=self.registry,
        )
        self.depth = Gauge("workqueue_depth", "Jobs that wait to be looked at.", ["name"], registry=self.registry)
        self.struggling = Gauge(
            "jobgate_controller_unsettled_jobs",
            "Jobs that were not found as they should be when they were last looked at.",
            registry=self.registry,
        )
        self.leader = Gauge(
            "leader_election_master_status", "Whether this is the one that works.", ["name"], registry=self.registry
        )

    def follow(self, name: str, *, depth: Callable[[], float], struggling: Callable[[], float]) -> None:
        """Take what a queue holds from the queue."""
        self.depth.labels(name).set_function(depth)
        self.struggling.set_function(struggling)

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
