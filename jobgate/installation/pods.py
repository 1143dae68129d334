"""What all pods of ours have in common: the restricted Pod Security profile takes them, and they are on many nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.choices import namespaced
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Given, When, Word, negated

#: User and group, `nonroot` in distroless images.
USER = 65532

#: Seconds that a new pod must be ready before an old one may go: as long as one more probe.
MIN_READY = 5

#: With fewer than all replicas up, calls fail: a new one is ready before an old one goes.
SURGE_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def deployment(
    account: str, selector: Mapping[str, str], pod: Mapping[str, Any], replicas: int | Word, **more: Any
) -> dict[str, Any]:
    """Return the Deployment of a component, called as its account is; `more` is of its spec."""
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
    """Return the spec of a component's pod.

    Args:
        account: that it runs as; its token is mounted.
        container: the only one.
        grace: how many seconds it may take to end.
        critical: whether admission cannot do without it, so that it has the installation's priority class.
        more: further fields.
    """
    return {
        "serviceAccountName": account,
        "automountServiceAccountToken": True,
        **({"priorityClassName": When(Given("priority_class"), Given("priority_class"))} if critical else {}),
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
    """Return a container of ours, which the restricted Pod Security profile takes.

    Args:
        name: its name.
        args: its arguments.
        cpu: what it requests.
        limit: most of its memory.
        serving: whether it answers probes, and has metrics.
        ports: those beside the one for that.
        more: further fields.
    """
    health = {"name": "health", "containerPort": Given("health_port"), "protocol": "TCP"}
    return {
        "name": name,
        "image": Given("image"),
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
    """Return the probes of a container that answers them on its port `health`.

    A start may take two minutes, on a node that is busy; from then on half a minute of silence is a fault.
    """
    alive = {"httpGet": {"path": "/healthz", "port": "health"}}
    return {
        "startupProbe": {**alive, "periodSeconds": 2, "failureThreshold": 60},
        "livenessProbe": {**alive, "periodSeconds": 10, "timeoutSeconds": 3},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 5, "timeoutSeconds": 3},
    }


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
        When(negated(strict), _apart(nodes, selector, "ScheduleAnyway")),
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
    is not ready may always be evicted.
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
