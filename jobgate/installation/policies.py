"""Admission policies of our accounts: limits that RBAC cannot express, such as names and labels of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobgate.installation.choices import INSTALLED, NAMESPACE, named
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Expression, joined
from jobgate.ownership import HOME_LABEL, NAME_LABEL, OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES

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
    metadata = {"name": named(name), "labels": INSTALLED}
    listed = [{"name": variable, "expression": expression} for variable, expression in (variables or {}).items()]
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": constraints,
                "matchConditions": [matches],
                **({"variables": listed} if listed else {}),
                "validations": list(validations),
            },
        },
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": named(name), "validationActions": ["Deny"]},
        },
    ]


def by_account(name: str) -> Expression:
    """Return the condition for requests of our account with this name."""
    return joined("request.userInfo.username == 'system:serviceaccount:", NAMESPACE, f":{name}'")


def installations() -> list[dict[str, Any]]:
    """Return the policy by which no installation overwrites the objects of another.

    The API server calls no policy for admission policies, so these are overwritten; `jobgate doctor` finds them.
    """
    written = {
        "rbac.authorization.k8s.io": ("clusterroles", "clusterrolebindings", "roles", "rolebindings"),
        GROUP: ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        "apiextensions.k8s.io": ("customresourcedefinitions",),
        "apps": ("deployments",),
        "batch": ("cronjobs",),
        "": ("services", "configmaps"),
    }
    constraints = {
        "objectSelector": {"matchLabels": LABELS},
        "resourceRules": [rules(group, *plurals, operations=["UPDATE"]) for group, plurals in written.items()],
    }
    label = "{}.metadata.?labels[?'{}'].orValue('')"
    old, new = ({key: label.format(name, key) for key in (NAME_LABEL, HOME_LABEL)} for name in ("oldObject", "object"))
    same = [f"{new[key]} in ['', {old[key]}]" for key in old]
    names = [f"' + {each[NAME_LABEL]} + ' in namespace ' + {each[HOME_LABEL]} + '" for each in (old, new)]
    message = (
        f"'it belongs to installation {names[0]}, and would become one of {names[1]}: give each installation a name "
        "and a namespace of its own, and let only one install the CRDs (--no-crd). To move it, first remove its label "
        f"{HOME_LABEL}. Now apply the manifests of the former again: admission policies cannot be protected'"
    )
    refused = {"expression": " && ".join(same), "messageExpression": message, "reason": "Forbidden"}
    return policy("jobgate-installation", constraints, [refused], condition=f"{old[HOME_LABEL]} != ''")


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
