"""Prometheus metrics of the controller, with the names of controller-runtime if it has the same metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

from jobgate.cluster import Informer
from jobgate.serving.leader import LeaderMetrics

#: The label `controller` of controller-runtime's metrics.
NAME = "jobgate"


class ControllerMetrics(LeaderMetrics):
    """The metrics of one controller."""

    def __init__(self) -> None:
        super().__init__()
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        self.reconciles = counter(
            "controller_runtime_reconcile",
            "Reconciliations by result (fine, wrote, status, again).",
            ["controller", "result"],
        )
        self.errors = counter(
            "controller_runtime_reconcile_errors", "Reconciliations that failed with an error.", ["controller"]
        )
        self.latency = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "Duration of reconciliations in seconds.",
            ["controller"],
            registry=self.registry,
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60),
        )
        self.writes = counter(
            "jobgate_controller_writes", "Objects created, changed and deleted.", ["resource", "action"]
        )
        self.blocked = counter(
            "jobgate_controller_blocked",
            "Objects that could not be created or updated, by reason.",
            ["resource", "reason"],
        )
        self._unkept = gauge(
            "jobgate_cache_unkept_objects",
            "Objects that are not kept, because there is no room for them.",
            ["resource"],
        )
        self.notifications = counter(
            "jobgate_notifications", "Notifications of ended jobs (sent, given_up), and failed attempts.", ["outcome"]
        )
        self.waiting = gauge("jobgate_notifications_waiting", "Notifications of ended jobs that are not sent yet.")
        self.depth = gauge("workqueue_depth", "Jobs in the work queue.", ["name"])
        self.struggling = gauge(
            "jobgate_controller_unsettled_jobs", "Jobs whose last reconciliation failed or changed something."
        )

    def watch(self, informers: Iterable[Informer[Any]]) -> None:
        """Read the gauges of caches from these informers."""
        for informer in informers:
            self._unkept.labels(str(informer.resource)).set_function(partial(getattr, informer, "unkept"))

    def follow(self, name: str, *, depth: Callable[[], float], struggling: Callable[[], float]) -> None:
        """Read the gauges of the work queue from these functions."""
        self.depth.labels(name).set_function(depth)
        self.struggling.set_function(struggling)
