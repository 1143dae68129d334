"""The companion controller: who it is, what it may do, and the Deployment that runs it.

It may read jobs, and keep ConfigMaps, Services and NetworkPolicies: RBAC cannot say "those with our label", which the
controller sees to by itself. It may write no job, no status, and, unless a namespace is named for it, no Secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.kinds.common.wiring import wired
from jobgate.plugins.queueing import GROUPS, System
from jobgate.render.hardening import container_security, pod_security, probes, spread
from jobgate.render.installation import LABELS, Installation
from webhook import Kind

ACCOUNT = "jobgate-controller"
#: The Lease that one of the replicas holds; what `jobgate control` calls it by itself.
LEASE = "jobgate-controller"
SELECTOR = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/component": "controller"}

#: One works, and another takes over within seconds when its node fails.
REPLICAS = 2

_RBAC = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]
_KEEP = [*_READ, "create", "patch", "delete"]


def controller(kinds: Iterable[Kind], installation: Installation) -> list[dict[str, Any]]:
    """Return all that the controller needs. Where the server runs outside the cluster, so does the controller."""
    return [
        _account(installation),
        *_bound(installation, [*_rules(kinds), *_group_rules(installation)]),
        *_bound(installation, _LEASE_RULES, installation.namespace),
        *(one for namespace in installation.secrets_in for one in _secrets(installation, namespace)),
        *(() if installation.external_name else (_deployment(installation),)),
    ]


def _rules(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    jobs = sorted({(kind.group, kind.plural) for kind in wired(kinds)})
    return [
        *(_rule(group, plural, verbs=_READ) for group, plural in jobs),
        _rule("", "configmaps", "services", verbs=_KEEP),
        _rule("networking.k8s.io", "networkpolicies", verbs=_KEEP),
        _rule("", "events", verbs=["create", "patch"]),
    ]


def _group_rules(installation: Installation) -> list[dict[str, Any]]:
    """Return the right to the groups of pods that the system has which queues them."""
    system = installation.queueing.partition("=")[0]
    group = GROUPS.get(System(system)) if system else None
    return [_rule(group[0].rpartition("/")[0], group[1], verbs=_KEEP)] if group else []


def _rule(group: str, *resources: str, verbs: list[str], **more: Any) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs), **more}


#: No name can be given for what is created.
_LEASE_RULES = [
    _rule("coordination.k8s.io", "leases", verbs=["create"]),
    _rule("coordination.k8s.io", "leases", verbs=["get", "patch"], resourceNames=[LEASE]),
]


def _secrets(installation: Installation, namespace: str) -> list[dict[str, Any]]:
    """Return the right to make Secrets in a namespace. They cannot be listed, changed or deleted by it."""
    return _bound(installation, [_rule("", "secrets", verbs=["get", "create"])], namespace, f"{ACCOUNT}-secrets")


def _bound(
    installation: Installation, rules: list[dict[str, Any]], namespace: str = "", name: str = ACCOUNT
) -> list[dict[str, Any]]:
    """Return a role and its binding to the controller, in a namespace or, where that is empty, in all."""
    scope = "" if namespace else "Cluster"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(LABELS)}
    role = {"apiVersion": f"{_RBAC}/v1", "kind": f"{scope}Role", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{scope}RoleBinding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": _RBAC, "kind": f"{scope}Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": installation.namespace}],
    }
    return [role, binding]


def _account(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": installation.namespace, "labels": dict(LABELS)},
        "automountServiceAccountToken": False,
    }


def _deployment(installation: Installation) -> dict[str, Any]:
    labels = {**LABELS, **SELECTOR}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": ACCOUNT, "namespace": installation.namespace, "labels": labels},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": dict(SELECTOR)},
            "template": {"metadata": {"labels": labels}, "spec": _pod(installation)},
        },
    }


def _pod(installation: Installation) -> dict[str, Any]:
    return {
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": 30,
        "securityContext": pod_security(),
        "topologySpreadConstraints": spread(SELECTOR),
        "containers": [_container(installation)],
    }


def _container(installation: Installation) -> dict[str, Any]:
    return {
        "name": "controller",
        "image": installation.image,
        "args": [
            "control",
            f"--health-port={installation.health_port}",
            f"--lease-name={LEASE}",
            *installation.told,
        ],
        "ports": [{"name": "health", "containerPort": installation.health_port, "protocol": "TCP"}],
        **probes(),
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": container_security(),
    }
