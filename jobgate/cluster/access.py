"""Permissions, by SubjectAccessReviews; of the user of a client itself, by SelfSubjectAccessReviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource

REVIEWS: Final = Resource("subjectaccessreviews", "v1", "authorization.k8s.io")
_TOKENS: Final = Resource("tokenreviews", "v1", "authentication.k8s.io")
_OWN: Final = Resource("selfsubjectaccessreviews", "v1", "authorization.k8s.io")


async def is_allowed(client: ObjectClient, user: str, groups: Iterable[str], **attributes: str) -> bool:
    """Return whether a user may do something, by a SubjectAccessReview.

    `attributes` are `verb`, `group`, `resource`, `subresource`, `name` and `namespace`; or `verb` and `path`, which is
    no resource. A cluster-scoped resource may have a namespace too, so that a RoleBinding can grant the permission.
    """
    return await _ask(client, REVIEWS, "SubjectAccessReview", attributes, user=user, groups=list(groups))


async def may(client: ObjectClient, **attributes: str) -> bool:
    """Return whether the user of the client may do something; `attributes` are those of `is_allowed`."""
    return await _ask(client, _OWN, "SelfSubjectAccessReview", attributes)


async def _ask(
    client: ObjectClient, resource: Resource, kind: str, attributes: Mapping[str, str], **subject: Any
) -> bool:
    of = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    wanted = {key: value for key, value in attributes.items() if value}
    typed = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": {}}
    answer = await client.create(resource, {**typed, "spec": {**subject, of: wanted}})
    return (answer.get("status") or {}).get("allowed") is True


async def user_of(client: ObjectClient, token: str, audience: str) -> Mapping[str, Any]:
    """Return the user of a token that was issued for an audience; empty if it is not valid for it."""
    typed = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}}
    answer = await client.create(_TOKENS, {**typed, "spec": {"token": token, "audiences": [audience]}})
    status = answer.get("status") or {}
    valid = status.get("authenticated") is True and audience in (status.get("audiences") or ())
    return status.get("user") or {} if valid else {}


def service_account(namespace: str, name: str) -> tuple[str, list[str]]:
    """Return the user name of a service account, and its groups."""
    accounts = "system:serviceaccounts"
    user = f"system:serviceaccount:{namespace}:{name}"
    return user, [accounts, f"{accounts}:{namespace}", "system:authenticated"]
