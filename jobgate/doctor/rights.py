"""Checks the permissions of our accounts: they have all rendered permissions, and no dangerous ones in addition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import ACCOUNTS, ClusterSnapshot, Permission, place

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_SYSTEM = "kube-system"
#: A name that no object has: a permission for it is a permission for any name.
_ANY = "jobgate-doctor-asks-for-any"


def needed(expected: Expected) -> Sequence[Permission]:
    """Return the permissions that our accounts need: those of all rendered rules."""
    roles = {
        (role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]): role["rules"]
        for kind in ("Role", "ClusterRole")
        for role in expected.of(kind)
    }
    permissions = []
    for binding in (*expected.of("RoleBinding"), *expected.of("ClusterRoleBinding")):
        namespace, reference = binding["metadata"].get("namespace", ""), binding["roleRef"]
        permissions += [
            Permission(account["name"], verb, group, resource, namespace, name)
            for account in binding["subjects"]
            for rule in roles[reference["kind"], namespace, reference["name"]]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for name in rule.get("resourceNames") or [""]
            for verb in rule["verbs"]
        ]
    return list(dict.fromkeys(permissions))


def dangerous(expected: Expected) -> Sequence[Permission]:
    """Return the dangerous permissions that our accounts must not have: those that are not rendered."""
    granted = set(needed(expected))
    asked = (Permission(account, *danger) for account in accounts(expected) for danger in _dangers(expected))
    # Without a namespace or a name, a permission is for all of them.
    return [
        right
        for right in asked
        if granted.isdisjoint(
            right._replace(namespace=namespace, name=name)
            for namespace in ("", right.namespace)
            for name in ("", right.name)
        )
    ]


def accounts(expected: Expected) -> Sequence[str]:
    """Return the names of our accounts."""
    return [shipped["metadata"]["name"] for shipped in expected.of("ServiceAccount")]


def _dangers(expected: Expected) -> Sequence[tuple[str, str, str, str, str]]:
    """Return permissions that lead to others or reveal secrets: verb, group, resource, namespace, name."""
    ours, secret = expected.namespace, expected.installation.secret
    return [
        ("*", "*", "*", "", ""),
        ("get", "", "secrets", _SYSTEM, _ANY),
        ("list", "", "secrets", "", ""),
        ("list", "", "secrets", ours, ""),
        ("get", "", "secrets", ours, _ANY),
        ("create", "", "secrets", _SYSTEM, ""),
        ("create", "", "secrets", ours, ""),
        ("patch", "", "secrets", ours, secret),
        ("delete", "", "secrets", ours, secret),
        # Run a program as any account of a namespace.
        ("create", "", "pods", ours, ""),
        ("create", "", "pods", "", ""),
        ("create", "", "pods/exec", ours, _ANY),
        ("create", "apps", "deployments", ours, ""),
        ("patch", "apps", "deployments", ours, _ANY),
        ("create", "", "serviceaccounts/token", ours, _ANY),
        ("get", "", "nodes/proxy", "", _ANY),
        # Impersonate another account, or grant oneself permissions.
        ("impersonate", "", "users", "", _ANY),
        ("impersonate", "", "serviceaccounts", "", _ANY),
        ("escalate", _RBAC, "clusterroles", "", _ANY),
        ("bind", _RBAC, "clusterroles", "", _ANY),
        ("create", _RBAC, "clusterrolebindings", "", ""),
        ("create", "certificates.k8s.io", "certificatesigningrequests", "", ""),
        # Disable admission, or redirect it.
        ("patch", _ADMISSION, "mutatingwebhookconfigurations", "", "jobgate"),
        ("patch", _ADMISSION, "validatingwebhookconfigurations", "", "jobgate"),
        ("patch", _ADMISSION, "mutatingwebhookconfigurations", "", _ANY),
        ("patch", _ADMISSION, "validatingwebhookconfigurations", "", _ANY),
        ("delete", _ADMISSION, "validatingwebhookconfigurations", "", "jobgate"),
        ("patch", _ADMISSION, "validatingadmissionpolicies", "", _ANY),
        ("patch", "apiextensions.k8s.io", "customresourcedefinitions", "", _ANY),
        ("patch", "", "namespaces", "", _ANY),
        ("patch", "coordination.k8s.io", "leases", _SYSTEM, _ANY),
        # No account of ours writes jobs.
        *dict.fromkeys(("patch", kind.group, kind.plural, "", _ANY) for kind in expected.kinds),
    ]


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield missing accounts, and permissions that accounts lack or should not have."""
    need, danger = needed(expected), dangerous(expected)
    for account in accounts(expected):
        where = place(ACCOUNTS, account, expected.namespace)
        if observed.missing(ACCOUNTS, account, expected.namespace):
            if not expected.outside:  # outside, it may use any account
                yield fault_at("account-missing", where, "not found")
            continue
        if lacks := [right for right in need if right.account == account and observed.permissions[right] is False]:
            yield fault_at("right-missing", where, f"cannot {_text(lacks)}")
        if excess := [right for right in danger if right.account == account and observed.permissions[right] is True]:
            everything = any(right.verb == "*" for right in excess)
            yield fault_at("right-too-wide", where, "can do everything" if everything else f"can {_text(excess)}")


def _text(permissions: Sequence[Permission]) -> str:
    verbs: dict[str, list[str]] = {}
    for permission in permissions:
        what = permission.what.replace(f"/{_ANY}", " of any name")
        verbs.setdefault(what, []).append(permission.verb)
    return "; ".join(f"{', '.join(words)} {what}" for what, words in verbs.items())
