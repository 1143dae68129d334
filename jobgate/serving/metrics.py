"""Metrics of a server with a view of its cluster."""

from __future__ import annotations

from typing import Any, Final

from prometheus_client import Counter, Gauge

from jobgate.cluster import Informer
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.members import Claim
from jobgate.pods.lookup import DigestCache, Fetch, Lookup, LookupVerdict
from webhook.server.metrics import Metrics
from webhook.server.product import Product

#: jobgate, as its users and those who run it see it.
PRODUCT: Final = Product("jobgate", "`jobgate review` shows them all")


class ServingMetrics(Metrics):
    """The metrics of a server, and those of its caches and lookups."""

    def __init__(self) -> None:
        super().__init__(PRODUCT)
        self._ages = Gauge(
            "jobgate_cache_age_seconds",
            "Seconds since the last response or event of a watched resource; +Inf before the first.",
            ["resource"],
            registry=self.registry,
        )
        self._unkept = Gauge(
            "jobgate_cache_unkept_objects",
            "Objects that are not kept, because there is no room for them.",
            ["resource"],
            registry=self.registry,
        )
        self.unusable = Gauge(
            "jobgate_unusable_packages",
            "Kinds and plugins of installed packages that cannot be loaded: their objects are denied.",
            registry=self.registry,
        )
        self.lookups = Counter(
            "jobgate_pod_lookups",
            "Lookups of a pod's job, by kind and result (found, unasked, unknown, later, refused).",
            ["kind", "verdict"],
            registry=self.registry,
        )

    def watch_age(self, resource: str, known: Informer[Any]) -> None:
        """Expose the state of the cache of a resource: one that a kind looks up, or the Secret of certificates."""
        self._unkept.labels(resource).set_function(lambda: known.unkept)
        self._ages.labels(resource).set_function(lambda: known.age)


class CountedLookup(Lookup):
    """A lookup that counts its verdicts."""

    def __init__(self, kind: CustomKind, known: DigestCache, fetch: Fetch, metrics: ServingMetrics) -> None:
        super().__init__(kind.kind, known, fetch)
        self._counted = kind.qualified_plural, metrics.lookups

    async def find(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Return the verdict on a pod's claim, with at most one request to the cluster."""
        verdict = await super().find(namespace, claim)
        plural, lookups = self._counted
        lookups.labels(plural, verdict.result.value).inc()
        return verdict
