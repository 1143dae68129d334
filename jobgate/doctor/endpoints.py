"""Checks the path from a webhook to a server: the Service, its ports and pods, and whether servers are ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.cluster.endpoints import SERVICES, SLICES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import DEPLOYMENTS, PODS, ClusterSnapshot, labels_of, place
from jobgate.installation.workload import ACCOUNT
from webhook.values import deviations


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults between a webhook and a server."""
    name, namespace = expected.installation.service, expected.namespace
    where = place(SERVICES, name, namespace)
    if observed.missing(SERVICES, name, namespace):
        yield fault_at("service-missing", where, "not found")
        return
    service = observed.get(SERVICES, name, namespace)
    shipped = next(service for service in expected.of("Service") if service["metadata"]["name"] == name)
    if service is not None and (differs := "; ".join(_deviations(shipped["spec"], service["spec"], expected))):
        yield fault_at("service-differs", where, differs)
    elif not expected.outside and (labels := _selects_nothing(service, observed.all(PODS, namespace))):
        yield fault_at("service-selects-nothing", where, f"no pod has labels {labels}")
    elif not expected.outside:
        yield from _ready(observed, expected, where)


def _deviations(shipped: Mapping[str, Any], stored: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """Yield differences that keep calls from reaching servers. More ports and selected labels are no difference."""
    for field in ("selector", "externalName"):
        if field in shipped:
            yield from deviations({"spec": {field: shipped[field]}}, {"spec": {field: stored.get(field)}}, added=False)
    ports = {port["port"]: port.get("targetPort") or port["port"] for port in stored.get("ports") or ()}
    for port in shipped["ports"]:
        number, target = port["port"], port.get("targetPort") or port["port"]
        if number not in ports:
            yield f"spec.ports lacks port {number}, which webhooks call: {', '.join(map(str, ports)) or 'none'}"
        elif ports[number] not in {target, expected.installation.target_port}:
            yield f"targetPort of port {number} is {ports[number]}, must be {target}"


def _selects_nothing(service: Mapping[str, Any] | None, pods: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the labels that a Service selects if no pod has them; empty if a pod has them, or if that is not known."""
    selector = (service or {}).get("spec", {}).get("selector") or {}
    if pods is None or any(selector.items() <= labels_of(pod).items() for pod in pods):
        return ""
    return ", ".join(f"{key}={value}" for key, value in selector.items())


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
        for endpoint_slice in slices
        for endpoint in endpoint_slice.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
    }
