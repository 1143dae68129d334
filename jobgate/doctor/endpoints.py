"""Checks the path from a webhook to a server: the Service, its ports, its pods, and whether they are ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.cluster.endpoints import SERVICES, SLICES, ours_of
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import DEPLOYMENTS, PODS, ClusterSnapshot, labels_of, place
from jobgate.installation.workload import ACCOUNT, SELECTOR

_HTTPS = 443


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults between a webhook and a server."""
    name, namespace = expected.installation.service, expected.namespace
    where = place(SERVICES, name, namespace)
    if observed.missing(SERVICES, name, namespace):
        yield fault_at("service-missing", where, "not found")
        return
    service = observed.get(SERVICES, name, namespace)
    if service is not None:
        yield from _ports(observed, expected, service, where)
    if expected.outside:
        return
    pods = observed.all(PODS, namespace)
    selector = (service or {}).get("spec", {}).get("selector")
    if service is not None and pods is not None and selector:
        selected = [pod for pod in pods if selector.items() <= labels_of(pod).items()]
        if not selected:
            labels = ", ".join(f"{key}={value}" for key, value in selector.items())
            yield fault_at("service-selects-nothing", where, f"no pod has labels {labels}")
            return
        yield from _selected(expected, service, selected, where)
    yield from _ready(observed, expected, where)


def _ports(
    observed: ClusterSnapshot, expected: Expected, service: Mapping[str, Any], where: str
) -> Iterator[FoundFault]:
    ports = {port["port"] for port in service["spec"].get("ports") or ()}
    called = {
        client["service"].get("port") or _HTTPS
        for _, entry in observed.webhooks()
        for client in [entry["clientConfig"]]
        if (client.get("service") or {}).get("name") == expected.installation.service
    }
    if absent := sorted(called - ports):
        has = ", ".join(map(str, sorted(ports))) or "none"
        yield fault_at(
            "service-port-wrong", where, f"webhooks call port {', '.join(map(str, absent))}; its ports are {has}"
        )


def _selected(
    expected: Expected, service: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], where: str
) -> Iterator[FoundFault]:
    others = [pod["metadata"]["name"] for pod in pods if not SELECTOR.items() <= labels_of(pod).items()]
    if others:
        yield fault_at("service-selects-others", where, f"matches {', '.join(sorted(others))}")
        return
    listens = expected.installation.target_port
    for port in ours_of(service["spec"].get("ports") or ())[:1]:
        target = port.get("targetPort") or port["port"]
        reached = {_number(target, pod) for pod in pods}
        if reached != {listens}:
            what = f"{target}, which pods do not define" if reached == {None} else f"{target}"
            yield fault_at("target-port-wrong", where, f"targetPort is {what}; the server listens on {listens}")


def _number(target: str | int, pod: Mapping[str, Any]) -> int | None:
    """Return the port number of a targetPort in a pod; None if the pod has no port of this name."""
    if isinstance(target, int):
        return target
    ports = [port for one in pod["spec"]["containers"] for port in one.get("ports") or ()]
    return next((port["containerPort"] for port in ports if port.get("name") == target), None)


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
