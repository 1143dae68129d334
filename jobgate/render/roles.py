"""Who may do what. The server itself may do nothing: it asks the API server for nothing.

Users get at jobs through the cluster's own roles: `view`, `edit` and `admin` gather what carries their label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.render.installation import LABELS
from webhook import Kind

_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]


def roles(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """Return the aggregated ClusterRoles that let users read and edit the jobs of these kinds."""
    kinds = tuple(kinds)
    return [
        _role("jobgate-jobs-view", ("view",), kinds, _READ),
        _role("jobgate-jobs-edit", ("edit", "admin"), kinds, _WRITE),
    ]


def _role(name: str, into: Iterable[str], kinds: Iterable[Kind], verbs: list[str]) -> dict[str, Any]:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in into}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {**LABELS, **labels}},
        "rules": [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs} for kind in kinds],
    }
