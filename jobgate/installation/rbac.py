"""Rights: rules, and a role with its binding to an account."""

from __future__ import annotations

from typing import Any

from jobgate.installation.choices import NAMESPACE, namespaced
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Each, Word

_GROUP = "rbac.authorization.k8s.io"
API = f"{_GROUP}/v1"
READ = ("get", "list", "watch")


def rule(
    group: str, *resources: str, verbs: tuple[str, ...], names: tuple[str | Word | Each, ...] = ()
) -> dict[str, Any]:
    """Return the right to do something with resources of a group, or with those of these names only."""
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs), **named}


def bound(account: str, rules: list[Any], namespace: Word | None = None, *, name: str = "") -> list[dict[str, Any]]:
    """Return a role and its binding to an account of ours, in a namespace or, where that is None, in all."""
    scope = "Cluster" if namespace is None else ""
    metadata = {"name": name or account, **({} if namespace is None else {"namespace": namespace}), "labels": LABELS}
    return [
        {"apiVersion": API, "kind": f"{scope}Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": API,
            "kind": f"{scope}RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _GROUP, "kind": f"{scope}Role", "name": name or account},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
        },
    ]


def lease(name: str) -> list[dict[str, Any]]:
    """Return the rights to the Lease used for leader election. No name can be given for what is created."""
    return [
        rule("coordination.k8s.io", "leases", verbs=("create",)),
        rule("coordination.k8s.io", "leases", verbs=("get", "patch"), names=(name,)),
    ]


def account(name: str) -> dict[str, Any]:
    """Return a ServiceAccount. Its token is given only to pods that ask for it."""
    return namespaced("v1", "ServiceAccount", name, {"automountServiceAccountToken": False})
