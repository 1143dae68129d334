"""What all pods of ours have in common: the restricted Pod Security profile takes them, and they are on many nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.render.choices import NAMESPACE
from jobgate.render.installation import LABELS
from jobgate.render.tree import Given, Not, When

#: A user that is nobody's in particular, as distroless images call `nonroot`.
USER = 65532

#: Seconds that a new pod must be ready before an old one may go: as long as one more probe.
MIN_READY = 5

#: With fewer than all replicas up, calls fail: a new one is ready before an old one goes.
SURGE_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def pod_security() -> dict[str, Any]:
    """Return the security context of a pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> dict[str, Any]:
    """Return the security context of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def probes() -> dict[str, Any]:
    """Return the probes of a container that answers them on its port `health`.

    A start may take two minutes, on a node that is busy; from then on half a minute of silence is a fault.
    """
    alive = {"httpGet": {"path": "/healthz", "port": "health"}}
    return {
        "startupProbe": {**alive, "periodSeconds": 2, "failureThreshold": 60},
        "livenessProbe": {**alive, "periodSeconds": 10, "timeoutSeconds": 3},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 5, "timeoutSeconds": 3},
    }


def priority() -> When:
    """Return the priority class of what admission cannot do without."""
    return When(Given("priority_class"), Given("priority_class"))


def spread(selector: Mapping[str, str], *, required: bool = False) -> list[Any]:
    """Return the constraints by which the pods of a selector are on different nodes and in different zones.

    Args:
        selector: of the pods.
        required: whether the installation may insist on different nodes, rather than wish for them.
    """
    nodes = "kubernetes.io/hostname"
    if not required:
        return [_apart(nodes, selector, "ScheduleAnyway")]
    strict = Given("required_spread")
    return [
        When(strict, _apart(nodes, selector, "DoNotSchedule")),
        When(Not(strict), _apart(nodes, selector, "ScheduleAnyway")),
        _apart("topology.kubernetes.io/zone", selector, "ScheduleAnyway"),
    ]


def _apart(key: str, selector: Mapping[str, str], otherwise: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": dict(selector)},
        # Else the pods of the version that is replaced count as well, and the new ones end up side by side.
        "matchLabelKeys": ["pod-template-hash"],
    }


def disruption_budget(name: str, selector: Mapping[str, str]) -> dict[str, Any]:
    """Return the PodDisruptionBudget of a workload: nodes are drained one after the other, and never held up for ever.

    One at a time rather than a minimum: a minimum of one would stop every drain where there is one replica. A pod that
    is not ready serves nobody, and may always go.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": LABELS},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": dict(selector)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def component(name: str) -> dict[str, str]:
    """Return the selector of a component's pods."""
    return {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/component": name}
