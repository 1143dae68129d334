"""Parts that all workloads share: the restricted Pod Security level, probes, spread over nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.choices import namespaced
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Expression, If, negated, setting

#: User and group: `nonroot` of distroless images.
USER = 65532

#: Seconds that a new pod must be ready before an old one is deleted: one more probe.
MIN_READY = 5

#: A new pod is ready before an old one is deleted, so that no calls fail.
SURGE_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def deployment(
    account: str, selector: Mapping[str, str], pod: Mapping[str, Any], replicas: int | Expression, **more: Any
) -> dict[str, Any]:
    """Return the Deployment of a component, with the name of its account; `more` has further fields of the spec."""
    labels = {**LABELS, **selector}
    spec = {
        "replicas": replicas,
        **({} if replicas == 1 else {"minReadySeconds": MIN_READY}),
        "selector": {"matchLabels": dict(selector)},
        **more,
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return namespaced("apps/v1", "Deployment", account, {"spec": spec}, labels)


def pod(
    account: str, container: Mapping[str, Any], *, grace: int = 30, critical: bool = False, **more: Any
) -> dict[str, Any]:
    """Return the spec of a component's pod, with the token of its account and further fields.

    A critical pod has the priority class of the installation, because admission needs it. `grace` is in seconds.
    """
    return {
        "serviceAccountName": account,
        "automountServiceAccountToken": True,
        **({"priorityClassName": If(setting("priority_class"), setting("priority_class"))} if critical else {}),
        "terminationGracePeriodSeconds": grace,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        **more,
    }


def container(
    name: str, args: list[Any], cpu: str, limit: str, *, serving: bool = True, ports: Iterable[Any] = (), **more: Any
) -> dict[str, Any]:
    """Return a container that complies with the restricted Pod Security level, with a CPU request and a memory limit.

    A serving container has probes and metrics, on a port in addition to `ports`.
    """
    health = {"name": "health", "containerPort": setting("health_port"), "protocol": "TCP"}
    return {
        "name": name,
        "image": setting("image"),
        "args": args,
        **({"ports": [*ports, health], **_probes()} if serving else {}),
        "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}, "limits": {"memory": limit}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **more,
    }


def _probes() -> dict[str, Any]:
    """Return the probes, on the port `health`. A start may take two minutes on a busy node."""
    alive = {"httpGet": {"path": "/healthz", "port": "health"}}
    return {
        "startupProbe": {**alive, "periodSeconds": 2, "failureThreshold": 60},
        "livenessProbe": {**alive, "periodSeconds": 10, "timeoutSeconds": 3},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 5, "timeoutSeconds": 3},
    }


def spread(selector: Mapping[str, str], *, required: bool = False) -> list[Any]:
    """Return the constraints that spread pods over nodes and zones."""
    nodes = "kubernetes.io/hostname"
    if not required:
        return [_apart(nodes, selector, "ScheduleAnyway")]
    strict = setting("required_spread")
    return [
        If(strict, _apart(nodes, selector, "DoNotSchedule")),
        If(negated(strict), _apart(nodes, selector, "ScheduleAnyway")),
        _apart("topology.kubernetes.io/zone", selector, "ScheduleAnyway"),
    ]


def _apart(key: str, selector: Mapping[str, str], otherwise: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": dict(selector)},
        # Without it, pods of the old version count, and the new ones may share a node.
        "matchLabelKeys": ["pod-template-hash"],
    }


def disruption_budget(name: str, selector: Mapping[str, str]) -> dict[str, Any]:
    """Return the PodDisruptionBudget of a workload: one pod at a time is evicted.

    A minimum of one would block the drain of a node with the only replica.
    """
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": dict(selector)},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return namespaced("policy/v1", "PodDisruptionBudget", name, {"spec": spec})


def component(name: str) -> dict[str, str]:
    """Return the selector of a component's pods."""
    return {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/component": name}
