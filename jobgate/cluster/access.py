"""Permissions of users and service accounts, by SubjectAccessReviews."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource

REVIEWS: Final = Resource("subjectaccessreviews", "v1", "authorization.k8s.io")


async def is_allowed(client: ObjectClient, user: str, groups: Iterable[str], **attributes: str) -> bool:
    """Return whether a user may do something, by a SubjectAccessReview.

    `attributes` are `verb`, `group`, `resource`, `subresource`, `name` and `namespace`. A cluster-scoped resource may
    have a namespace too, so that a RoleBinding can grant the permission.
    """
    wanted = {key: value for key, value in attributes.items() if value}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user, "groups": list(groups), "resourceAttributes": wanted},
    }
    answer = await client.create(REVIEWS, review)
    return (answer.get("status") or {}).get("allowed") is True


def service_account(namespace: str, name: str) -> tuple[str, list[str]]:
    """Return the user name of a service account, and its groups."""
    accounts = "system:serviceaccounts"
    user = f"system:serviceaccount:{namespace}:{name}"
    return user, [accounts, f"{accounts}:{namespace}", "system:authenticated"]
