"""Who may do what. The server may read what rules look up and the jobs that pods belong to, and nothing else.

Users get at jobs through the cluster's own roles: `view`, `edit` and `admin` gather what carries their label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.kinds.common.wiring import jobs_of, wired
from jobgate.render.installation import LABELS, Installation
from webhook import Kind

_API = "rbac.authorization.k8s.io/v1"
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]


def roles(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """Return the aggregated ClusterRoles that let users read and edit the jobs of these kinds."""
    kinds = tuple(kinds)
    return [
        _role("jobgate-jobs-view", ("view",), kinds, _READ),
        _role("jobgate-jobs-edit", ("edit", "admin"), kinds, _WRITE),
    ]


def watched(kinds: Iterable[Kind]) -> list[str]:
    """Return what the server of these kinds looks up in the cluster, as `<plural>.<version>.<group>`."""
    kinds = tuple(kinds)
    return sorted({resource for kind in kinds for resource in kind.watches} | {jobs_of(kind) for kind in wired(kinds)})


def rights(kinds: Iterable[Kind], account: str, installation: Installation) -> list[dict[str, Any]]:
    """Return what lets the server read exactly what it looks up: nothing at all where it looks up nothing."""
    # RBAC knows no versions.
    resources = sorted({(resource.split(".", 2)[2], resource.split(".")[0]) for resource in watched(kinds)})
    if not resources:
        return []
    role = {
        "apiVersion": _API,
        "kind": "ClusterRole",
        "metadata": {"name": account, "labels": dict(LABELS)},
        "rules": [{"apiGroups": [group], "resources": [plural], "verbs": _READ} for group, plural in resources],
    }
    binding = {
        "apiVersion": _API,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": account, "labels": dict(LABELS)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": account},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": installation.namespace}],
    }
    return [role, binding]


def _role(name: str, into: Iterable[str], kinds: Iterable[Kind], verbs: list[str]) -> dict[str, Any]:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in into}
    return {
        "apiVersion": _API,
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {**LABELS, **labels}},
        "rules": [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs} for kind in kinds],
    }
