"""Admission policies of our own accounts: what RBAC has no words for, as the names and labels of what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobgate.render.choices import NAMESPACE
from jobgate.render.installation import LABELS
from jobgate.render.tree import Word, joined

GROUP = "admissionregistration.k8s.io"


def policy(
    account: str,
    constraints: Mapping[str, Any],
    validations: Sequence[Mapping[str, Any]],
    variables: Mapping[str, str | Word] | None = None,
) -> list[dict[str, Any]]:
    """Return the policy of an account of ours, called as the account is, and what puts it in force.

    Args:
        account: whose requests are judged.
        constraints: which of them (`matchConstraints`).
        validations: what must hold for each.
        variables: what the expressions of these have in common.
    """
    user = joined("request.userInfo.username == 'system:serviceaccount:", NAMESPACE, f":{account}'")
    return policy_for_all(account, constraints, validations, variables, [{"name": "the-account", "expression": user}])


def policy_for_all(
    name: str,
    constraints: Mapping[str, Any],
    validations: Sequence[Mapping[str, Any]],
    variables: Mapping[str, str | Word] | None = None,
    conditions: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return a policy for the requests of everybody, or of whom the conditions (`matchConditions`) leave."""
    metadata = {"name": name, "labels": LABELS}
    named = [{"name": one, "expression": expression} for one, expression in (variables or {}).items()]
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": constraints,
                **({"matchConditions": list(conditions)} if conditions else {}),
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


def holds(expression: str | Word, message: str | Word) -> dict[str, Any]:
    """Return a validation: what must hold, and what is said where it does not."""
    return {"expression": expression, "message": message, "reason": "Forbidden"}


def rules(group: str, *resources: str, versions: str = "*", operations: Sequence[str]) -> dict[str, Any]:
    """Return the rule by which requests for resources of a group are matched."""
    return {
        "apiGroups": [group],
        "apiVersions": [versions],
        "operations": list(operations),
        "resources": list(resources),
    }
