"""Metrics of the server about its cluster and packages."""

from pathlib import Path

import pytest

from jobgate.cluster import Informer, Resource, slim
from jobgate.jobs.members import Claim
from jobgate.kinds import installed
from jobgate.pods.digest import Digest
from jobgate.serving.cluster import ClusterView
from jobgate.serving.metrics import CountedLookup, ServingMetrics


class Nothing:
    """A cache that knows that there is nothing."""

    def get(self, name: str, namespace: str = "") -> Digest | None:
        return None


async def fetched(name: str, namespace: str) -> None:
    return None


@pytest.mark.parametrize("uid, verdict", [("", "unknown"), ("a", "refused")])
async def test_what_was_found_out_about_pods_is_counted(uid: str, verdict: str) -> None:
    metrics = ServingMetrics()
    kind = next(iter(installed()))
    lookup = CountedLookup(kind, Nothing(), fetched, metrics)
    for name in ("demo", "other"):
        await lookup.find("default", Claim(job=name, task="a", index=0, uid=uid, owned=bool(uid)))
    labels = {"kind": kind.qualified_plural, "verdict": verdict}
    assert metrics.registry.get_sample_value("jobgate_pod_lookups_total", labels) == 2
    assert metrics.exposition().count(b"\njobgate_pod_lookups_total{") == 1


def test_what_was_never_heard_of_is_infinitely_old() -> None:
    metrics = ServingMetrics()
    metrics.watch_age("queues.v1.example.com", Informer(Resource("queues", "v1", "example.com"), keep=slim))
    age = metrics.registry.get_sample_value("jobgate_cache_age_seconds", {"resource": "queues.v1.example.com"})
    assert age == float("inf")


@pytest.mark.parametrize("reached", [True, False])
def test_ages_are_shown_of_what_is_watched(reached: bool) -> None:
    metrics = ServingMetrics()
    ClusterView(installed(), reached=reached, metrics=metrics)
    ages = [
        line for line in metrics.exposition().decode().splitlines() if line.startswith("jobgate_cache_age_seconds{")
    ]
    assert ('jobgate_cache_age_seconds{resource="dijobs.v2alpha1.diengine.opendilab.org"} +Inf' in ages) is reached
    assert bool(ages) is reached


def test_it_is_not_exposed_when_a_series_began() -> None:
    metrics = ServingMetrics()
    metrics.lookups.labels("dijobs", "found").inc()
    assert b"jobgate_pod_lookups_total{" in metrics.exposition()
    assert b"_created" not in metrics.exposition()


def test_every_metric_is_documented() -> None:
    page = Path("docs/how-to/observe.md").read_text(encoding="utf-8")
    names = {each.name + "_total" * (each.type == "counter") for each in ServingMetrics().registry.collect()}
    assert {name for name in names if f"`{name}`" not in page} == set()
    assert "jobgate_pod_lookups_total" in names
