"""Parts that all workloads share: the restricted Pod Security level, probes, spread over nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.choices import INSTALLED, namespaced
from jobgate.installation.tree import ITEM, OBJECT, Expression, ForEach, If, added_to, entry, negated, setting

_PULL_SECRETS = setting("image_pull_secrets")
#: Fields of pods that say on which nodes they run, and their settings.
_PLACEMENT = {"nodeSelector": "node_selector", "tolerations": "tolerations", "affinity": "affinity"}

#: Seconds that a new pod must be ready before an old one is deleted: one more probe.
MIN_READY = 5

#: A new pod is ready before an old one is deleted, so that no calls fail.
SURGE_FIRST = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def deployment(
    account: str, selector: Mapping[str, str], pod: Mapping[str, Any], replicas: int | Expression, **more: Any
) -> dict[str, Any]:
    """Return the Deployment of a component, with the name of its account; `more` has further fields of the spec."""
    labels = {**INSTALLED, **selector}
    spec = {
        "replicas": replicas,
        **({} if replicas == 1 else {"minReadySeconds": MIN_READY}),
        "selector": {"matchLabels": dict(selector)},
        **more,
        "template": {"metadata": pod_metadata(labels), "spec": pod},
    }
    return namespaced("apps/v1", "Deployment", account, {"spec": spec}, labels)


def pod_metadata(labels: Mapping[str, str | Expression]) -> dict[str, Any]:
    """Return the metadata of a component's pods: its labels, and those of the installation."""
    return {
        "labels": added_to(labels, setting("pod_labels")),
        "annotations": If(setting("pod_annotations"), setting("pod_annotations")),
    }


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
        "imagePullSecrets": If(_PULL_SECRETS, [ForEach(_PULL_SECRETS, {"name": ITEM})]),
        **{name: If(setting(field), setting(field)) for name, field in _PLACEMENT.items()},
        "securityContext": setting("pod_security_context"),
        "containers": [container],
        **more,
    }


def container(
    name: str, args: list[Any], *, serving: bool = True, ports: Iterable[Any] = (), **more: Any
) -> dict[str, Any]:
    """Return a container with the resources, and the further arguments and variables, of its component.

    A serving container has probes and metrics, on a port in addition to `ports`.
    """
    env = entry("extra_env", name, ())
    health = {"name": "health", "containerPort": setting("health_port"), "protocol": "TCP"}
    return {
        "name": name,
        "image": setting("image"),
        "imagePullPolicy": If(setting("image_pull_policy"), setting("image_pull_policy")),
        "args": [*args, ForEach(entry("extra_args", name, ()), ITEM)],
        "env": If(env, env),
        **({"ports": [*ports, health], **_probes()} if serving else {}),
        "resources": entry("resources", name, {}),
        "securityContext": setting("security_context"),
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
    further = ForEach(setting("topology_spread"), OBJECT)
    if not required:
        return [_apart(nodes, selector, "ScheduleAnyway"), further]
    strict = setting("required_spread")
    return [
        If(strict, _apart(nodes, selector, "DoNotSchedule")),
        If(negated(strict), _apart(nodes, selector, "ScheduleAnyway")),
        _apart("topology.kubernetes.io/zone", selector, "ScheduleAnyway"),
        further,
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


def disruption_budget(name: str, selector: Mapping[str, str]) -> If:
    """Return the PodDisruptionBudget of a workload: one pod at a time is evicted.

    A minimum of one would block the drain of a node with the only replica.
    """
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": dict(selector)},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return If(setting("disruption_budgets"), namespaced("policy/v1", "PodDisruptionBudget", name, {"spec": spec}))


def component(name: str) -> dict[str, str]:
    """Return the selector of a component's pods."""
    return {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/component": name}
