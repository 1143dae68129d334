"""What the server counts of its cluster, beside what any webhook server does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from prometheus_client import Counter, Gauge

from jobgate.kinds.common.members import Claim
from jobgate.pods.lookup import Lookup, Verdict
from webhook.server.metrics import Metrics


class Aging(Protocol):
    """Something that is known as it was some seconds ago."""

    @property
    def age(self) -> float:
        """How many seconds."""


def watch_age(metrics: Metrics, resource: str, known: Aging) -> None:
    """Show how old what is known of a resource is. Each resource is one of a kind's, or the Secret of certificates."""
    gauge = metrics.further(
        "jobgate_cache_age_seconds",
        lambda name, registry: Gauge(
            name,
            "Seconds since the API server was last heard of a resource; infinite before the first time.",
            ["resource"],
            registry=registry,
        ),
    )
    gauge.labels(resource).set_function(lambda: known.age)


def pod_lookups(metrics: Metrics) -> Counter:
    """Return the counter of what was found out about pods."""
    counter: Counter = metrics.further(
        "jobgate_pod_lookups",
        lambda name, registry: Counter(
            name,
            "Pods whose job was looked up, by kind and what was found (found, unasked, unknown, later, refused).",
            ["kind", "verdict"],
            registry=registry,
        ),
    )
    return counter


class CountedLookup(Lookup):
    """A lookup whose verdicts are counted."""

    def __init__(self, *arguments: Any, counted: Callable[[str], Counter], **options: Any) -> None:
        """`counted` returns the counter of a verdict; the rest is as for any lookup."""
        super().__init__(*arguments, **options)
        self._counted = counted

    async def find(self, namespace: str, claim: Claim) -> Verdict:
        """Return what is to be made of a pod's claim, asking the cluster at most once."""
        verdict = await super().find(namespace, claim)
        self._counted(type(verdict).__name__.lower()).inc()
        return verdict
