"""Metrics of the server's view of its cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prometheus_client import Counter, Gauge

from jobgate.cluster import Informer
from jobgate.kinds.common.members import Claim
from jobgate.pods.lookup import Lookup, LookupVerdict
from webhook.server.metrics import Metrics


def watch_age(metrics: Metrics, resource: str, known: Informer[Any]) -> None:
    """Expose the age of the cache of a resource: one that a kind looks up, or the Secret of certificates."""
    gauge = metrics.further(
        "jobgate_cache_age_seconds",
        lambda name, registry: Gauge(
            name,
            "Seconds since the last response or event of a watched resource; +Inf before the first.",
            ["resource"],
            registry=registry,
        ),
    )
    gauge.labels(resource).set_function(lambda: known.age)


def pod_lookups(metrics: Metrics) -> Counter:
    """Return the counter of job lookups for pods."""
    counter: Counter = metrics.further(
        "jobgate_pod_lookups",
        lambda name, registry: Counter(
            name,
            "Lookups of a pod's job, by kind and result (found, unasked, unknown, later, refused).",
            ["kind", "verdict"],
            registry=registry,
        ),
    )
    return counter


class CountedLookup(Lookup):
    """A lookup that counts its verdicts."""

    def __init__(self, *arguments: Any, counted: Callable[[str], Counter], **options: Any) -> None:
        """`counted` returns the counter of a verdict; the other arguments are those of `Lookup`."""
        super().__init__(*arguments, **options)
        self._counted = counted

    async def find(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Return the verdict on a pod's claim, with at most one request to the cluster."""
        verdict = await super().find(namespace, claim)
        self._counted(verdict.result.value).inc()
        return verdict
