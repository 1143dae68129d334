"""Checks the workloads: server, controller, certificate rotation and runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import APPLY, FoundFault, error, warning
from jobgate.doctor.observed import CONFIGURATIONS, CRON_JOBS, DEPLOYMENTS, SERVICES, ClusterSnapshot, place
from jobgate.installation.configurations import NAME
from jobgate.installation.workload import ACCOUNT

NOT_INSTALLED = error(
    "not-installed",
    "jobgate is not installed: there is no webhook configuration, Service or server.",
    "install it, or set its namespace with `--namespace`",
)
MISSING = error(
    "workload-missing",
    "A Deployment or CronJob of the installation does not exist.",
    APPLY,
)
STOPPED = warning(
    "workload-stopped",
    "A workload is scaled to 0 replicas or suspended.",
    "scale it up with `kubectl scale`, or set its `suspend` to false",
)
UNAVAILABLE = warning(
    "workload-unavailable",
    "A Deployment has fewer available replicas than desired.",
    "find out why with `kubectl describe deployment`, `kubectl describe pod` and the logs of its pods",
)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield workloads that are missing or do not run."""
    namespace = expected.namespace
    for kind, resource in (("Deployment", DEPLOYMENTS), ("CronJob", CRON_JOBS)):
        for shipped in expected.of(kind):
            name = shipped["metadata"]["name"]
            where = place(resource, name, namespace)
            if observed.missing(resource, name, namespace):
                yield MISSING.at(where, "not found")
            elif (found := observed.get(resource, name, namespace)) is not None:
                yield from _runs(found, where)


def not_installed(observed: ClusterSnapshot, expected: Expected) -> FoundFault | None:
    """Return one fault if nothing is installed, instead of one for each missing object."""
    namespace = expected.namespace
    refs = [(resource, NAME, "") for resource in CONFIGURATIONS]
    refs += [(SERVICES, expected.installation.service, namespace), (DEPLOYMENTS, ACCOUNT, namespace)]
    if all(observed.missing(*ref) for ref in refs):
        return NOT_INSTALLED.at(f"namespaces/{namespace}", "jobgate is not installed")
    return None


def _runs(workload: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    spec = workload["spec"]
    if spec.get("suspend"):
        yield STOPPED.at(where, "suspended")
    if "schedule" in spec:
        return
    asked, available = spec.get("replicas", 1), (workload.get("status") or {}).get("availableReplicas", 0)
    if not asked:
        yield STOPPED.at(where, "spec.replicas is 0")
    elif available < asked:
        yield UNAVAILABLE.at(where, f"{available} of {asked} replicas are available")
