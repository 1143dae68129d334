"""RBAC: rules, roles with their bindings, ServiceAccounts."""

from __future__ import annotations

from typing import Any

from jobgate.installation.choices import INSTALLED, NAMESPACE, named, namespaced
from jobgate.installation.tree import Expression, ForEach, If

_GROUP = "rbac.authorization.k8s.io"
API = f"{_GROUP}/v1"
READ = ("get", "list", "watch")
#: Verbs for objects that a controller manages.
MANAGE = (*READ, "create", "patch", "delete")


def rule(
    group: str, *resources: str, verbs: tuple[str, ...], names: tuple[str | Expression | If | ForEach, ...] = ()
) -> dict[str, Any]:
    """Return a rule for resources of a group, or only for objects with these names."""
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs), **named}


def bound(
    account: str, rules: list[Any], namespace: Expression | None = None, *, name: str = ""
) -> list[dict[str, Any]]:
    """Return a role and its binding to an account, in a namespace or, without it, in all namespaces."""
    scope = "Cluster" if namespace is None else ""
    called = account if namespace is NAMESPACE else named(name or account)
    metadata = {"name": called, **({} if namespace is None else {"namespace": namespace}), "labels": INSTALLED}
    return [
        {"apiVersion": API, "kind": f"{scope}Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": API,
            "kind": f"{scope}RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _GROUP, "kind": f"{scope}Role", "name": called},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
        },
    ]


def lease(name: str | Expression) -> list[dict[str, Any]]:
    """Return the rules for the Lease used for leader election. RBAC cannot limit the names of created objects."""
    return [
        rule("coordination.k8s.io", "leases", verbs=("create",)),
        rule("coordination.k8s.io", "leases", verbs=("get", "patch"), names=(name,)),
    ]


def account(name: str) -> dict[str, Any]:
    """Return a ServiceAccount. Only pods that request its token get it."""
    return namespaced("v1", "ServiceAccount", name, {"automountServiceAccountToken": False})
