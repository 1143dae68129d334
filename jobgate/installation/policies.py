"""Admission policies of our accounts: limits that RBAC cannot express, such as names and labels of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobgate.installation.choices import NAMESPACE
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Expression, joined
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES

GROUP = "admissionregistration.k8s.io"


def policy(
    name: str,
    constraints: Mapping[str, Any],
    validations: Sequence[Mapping[str, Any]],
    variables: Mapping[str, str | Expression] | None = None,
    *,
    condition: str = "",
) -> list[dict[str, Any]]:
    """Return a policy and its binding, for requests that meet a condition: by default, those of the account `name`."""
    of_account = {"name": "the-account", "expression": by_account(name)}
    matches = {"name": "the-condition", "expression": condition} if condition else of_account
    metadata = {"name": name, "labels": LABELS}
    named = [{"name": variable, "expression": expression} for variable, expression in (variables or {}).items()]
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": constraints,
                "matchConditions": [matches],
                **({"variables": named} if named else {}),
                "validations": list(validations),
            },
        },
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def by_account(name: str) -> Expression:
    """Return the condition for requests of our account with this name."""
    return joined("request.userInfo.username == 'system:serviceaccount:", NAMESPACE, f":{name}'")


#: CEL: the old and the new object, as far as they exist.
OBJECTS = "[object, oldObject].filter(one, one != null)"


def within_bounds(may: str, *of_account: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the validations for an account that writes objects of jobs; messages begin with `may`."""
    system = ", ".join(f"'{name}'" for name in SYSTEM_NAMESPACES)
    opted_out = has_label("namespaceObject", OPT_OUT_LABEL, OPT_OUT_VALUE)
    return [
        validation(
            joined(f"!(request.namespace in [{system}, '", NAMESPACE, "'])"), f"{may} nothing in system namespaces"
        ),
        validation(f"!({opted_out})", f"{may} nothing in namespaces labelled {OPT_OUT_LABEL}={OPT_OUT_VALUE}"),
        *of_account,
        validation(
            for_resource("services", "object.spec.type == 'ClusterIP' && !has(object.spec.externalIPs)"),
            f"{may} only Services of type ClusterIP without externalIPs",
        ),
    ]


def has_label(what: str, key: str, value: str) -> str:
    """Return the condition that an object has a label."""
    return f"{what}.metadata.?labels[?'{key}'].orValue('') == '{value}'"


def for_resource(resource: str, expression: str) -> str:
    """Return a condition for objects of this resource; other objects, and deletions, satisfy it."""
    return f"request.resource.resource != '{resource}' || object == null || ({expression})"


def validation(expression: str | Expression, message: str | Expression) -> dict[str, Any]:
    """Return a validation: a condition, and the message if it is false."""
    return {"expression": expression, "message": message, "reason": "Forbidden"}


def rules(group: str, *resources: str, versions: str = "*", operations: Sequence[str]) -> dict[str, Any]:
    """Return the rule that matches requests for resources of a group."""
    return {
        "apiGroups": [group],
        "apiVersions": [versions],
        "operations": list(operations),
        "resources": list(resources),
    }
