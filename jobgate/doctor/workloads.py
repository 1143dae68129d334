"""Checks the workloads: server, controller, certificate rotation and runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import CONFIGURATIONS, CRON_JOBS, DEPLOYMENTS, ClusterSnapshot, place
from jobgate.installation.configurations import NAME
from jobgate.installation.workload import ACCOUNT


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield workloads that are missing or do not run."""
    namespace = expected.namespace
    for kind, resource in (("Deployment", DEPLOYMENTS), ("CronJob", CRON_JOBS)):
        for shipped in expected.of(kind):
            name = shipped["metadata"]["name"]
            where = place(resource, name, namespace)
            if observed.missing(resource, name, namespace):
                yield fault_at("workload-missing", where, "not found")
            elif (found := observed.get(resource, name, namespace)) is not None:
                yield from _runs(found, where)


def not_installed(observed: ClusterSnapshot, expected: Expected) -> FoundFault | None:
    """Return one fault if nothing is installed, instead of one for each missing object."""
    namespace = expected.namespace
    refs = [(resource, NAME, "") for resource in CONFIGURATIONS]
    refs += [(SERVICES, expected.installation.service, namespace), (DEPLOYMENTS, ACCOUNT, namespace)]
    if all(observed.missing(*ref) for ref in refs):
        return fault_at("not-installed", f"namespaces/{namespace}", "jobgate is not installed")
    return None


def _runs(workload: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    spec = workload["spec"]
    if spec.get("suspend"):
        yield fault_at("workload-stopped", where, "suspended")
    if "schedule" in spec:
        return
    asked, available = spec.get("replicas", 1), (workload.get("status") or {}).get("availableReplicas", 0)
    if not asked:
        yield fault_at("workload-stopped", where, "spec.replicas is 0")
    elif available < asked:
        yield fault_at("workload-unavailable", where, f"{available} of {asked} replicas are available")
