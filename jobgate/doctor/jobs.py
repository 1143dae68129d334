"""Checks for jobs that are not run, and for jobs that lost fields when a client updated them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from jobgate.cluster import Resource
from jobgate.cluster.bundles import CRDS
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import ClusterSnapshot, place
from jobgate.jobs.erased import erased
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.runner import runner_of
from jobgate.plugins.queueing import KUEUE_CRD

#: Age of a job without a status that is reported. An operator writes a status within seconds.
WITHOUT_STATUS: Final = timedelta(minutes=5)


def resource_of(kind: CustomKind) -> Resource:
    """Return the resource of a kind's jobs."""
    return Resource(kind.plural, kind.version, kind.group)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield the first job that is not run, for each kind, and the first that lost fields, for each client."""
    installation = expected.installation
    if installation.run and not installation.queueing and observed.get(CRDS, KUEUE_CRD) is not None:
        used = "its own queues, and not Kueue" if installation.queues else "Kueue"
        why = f"Kueue is installed, and --queueing is not set: the runner uses {used}"
        yield fault_at("kueue-discovered", f"customresourcedefinitions/{KUEUE_CRD}", why)
    for kind in expected.kinds:
        if runner_of(kind) is None:
            continue
        yield from _erased(observed, kind)
        waiting = [
            job["metadata"]
            for job in observed.all(resource_of(kind)) or ()
            if not job.get("status") and _is_old(job["metadata"].get("creationTimestamp"), observed)
        ]
        if waiting:
            first = waiting[0]
            more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
            where = place(resource_of(kind), first["name"], first.get("namespace", ""))
            yield fault_at("jobs-not-run", where, f"no operator has taken up this job{more}")


def _erased(observed: ClusterSnapshot, kind: CustomKind) -> Iterator[FoundFault]:
    """Yield the first job of each writer that erased fields."""
    writers: dict[str, FoundFault] = {}
    for job in observed.all(resource_of(kind)) or ():
        if erasure := erased(kind, job):
            metadata = job["metadata"]
            where = place(resource_of(kind), metadata["name"], metadata.get("namespace", ""))
            writers.setdefault(erasure.writer, fault_at("fields-erased", where, erasure.message))
    yield from writers.values()


def _is_old(timestamp: object, observed: ClusterSnapshot) -> bool:
    if observed.now is None or not isinstance(timestamp, str):
        return False
    return observed.now - datetime.fromisoformat(timestamp) > WITHOUT_STATUS
