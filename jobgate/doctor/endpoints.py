"""Checks the path from a webhook to a server: the Service, and whether servers are ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.cluster.endpoints import SERVICES, SLICES
from jobgate.doctor.expected import Expected, differences
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import DEPLOYMENTS, ClusterSnapshot, place
from jobgate.installation.workload import ACCOUNT


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults between a webhook and a server."""
    name, namespace = expected.installation.service, expected.namespace
    where = place(SERVICES, name, namespace)
    if observed.missing(SERVICES, name, namespace):
        yield fault_at("service-missing", where, "not found")
        return
    service = observed.get(SERVICES, name, namespace)
    shipped = next(one for one in expected.of("Service") if one["metadata"]["name"] == name)
    if service is not None and (differs := differences(shipped, service)):
        yield fault_at("service-differs", where, differs)
    if not expected.outside:
        yield from _ready(observed, expected, where)


def _ready(observed: ClusterSnapshot, expected: Expected, where: str) -> Iterator[FoundFault]:
    namespace = expected.namespace
    deployment = observed.get(DEPLOYMENTS, ACCOUNT, namespace)
    replicas = (deployment or {}).get("spec", {}).get("replicas", 1) if deployment is not None else None
    slices = observed.all(SLICES, namespace)
    ready = None if slices is None else _ready_endpoints(slices)
    if ready is not None and not ready:
        yield fault_at("no-ready-endpoint", where, "no ready endpoints")
    elif expected.installation.failure_policy != "Fail":
        return
    elif replicas == 1:
        yield fault_at("single-server", place(DEPLOYMENTS, ACCOUNT, namespace), "spec.replicas is 1")
    elif ready is not None and len(ready) == 1:
        yield fault_at("single-server", where, f"only one endpoint is ready: {', '.join(ready)}")


def _ready_endpoints(slices: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ready pods or addresses, a pod with several addresses once.

    An endpoint without the condition is ready (discovery.k8s.io/v1).
    """
    return {
        (endpoint.get("targetRef") or {}).get("name") or ", ".join(endpoint.get("addresses") or ())
        for one in slices
        for endpoint in one.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
    }
