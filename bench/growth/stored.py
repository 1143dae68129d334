"""What a start costs, by the jobs that are stored in the cluster: each is remembered, so that its pods can be wired."""

from __future__ import annotations

from bench.comparison.scenarios import Pods
from bench.growth.probe import probing
from bench.growth.series import Point, Series
from webhook import Phase


def stored(count: int) -> dict[str, Point]:
    """Measure a start, and a pod's wiring, with so many jobs in the cluster."""
    pods = Pods()
    with probing(jobs=count) as probe:
        seconds = probe.server.cpu()
        start = Point(count, seconds * 1000, probe.server.peak())
        milliseconds, answered = probe.cost(pods.path(Phase.MUTATE), pods.requests(Phase.MUTATE)[: min(count, 100)])
        return {"start": start, "a pod": Point(count, milliseconds, probe.server.peak(), answered)}


STORED = Series("stored", "Jobs in the cluster", "jobs", "(start; a pod)", (1, 1_000, 3_000, 10_000, 50_000), stored)
