"""Requests about single objects, and how they fail. `writer` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from jobgate.cluster.informer import Api, ApiError
from jobgate.cluster.resource import Resource

_FORBIDDEN, _NOT_FOUND, _CONFLICT, _INVALID = 403, 404, 409, 422


class Rejected(ApiError):
    """The API server did not write an object.

    Attributes:
        code, reason: of the response, as 409 and `AlreadyExists`.
        message: of the response; empty if it might contain the content of a Secret.
        terminating: whether the namespace is being deleted.
        after: seconds to wait before a retry, as the API server asks for.
    """

    def __init__(
        self,
        code: int,
        reason: str = "",
        message: str = "",
        *,
        terminating: bool = False,
        after: float | None = None,
    ) -> None:
        super().__init__(code)
        self.reason = reason
        self.message = message
        self.terminating = terminating
        self.after = after

    def __str__(self) -> str:
        said = f"the API server responded with {self.code} {self.reason}".rstrip()
        return f"{said}: {self.message}" if self.message else said

    @property
    def exists(self) -> bool:
        """Whether there is an object of that name already."""
        return self.code == _CONFLICT and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """Whether the object is not, or no longer, the one that was meant."""
        return self.code == _CONFLICT and not self.exists

    @property
    def absent(self) -> bool:
        """Whether there is no such object, or no such namespace."""
        return self.code == _NOT_FOUND

    @property
    def invalid(self) -> bool:
        """Whether the object is none that can be stored, or cannot become so from what it is."""
        return self.code == _INVALID


class ObjectClient(Protocol):
    """Requests about single objects. A write that fails may have been done.

    All raise `ApiError`, writes `Rejected`, and `OSError` or `TimeoutError` if there is no answer.
    """

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object as it is stored now, or None."""

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        """Create an object, or try whether it could be, and return it as it is stored."""

    async def patch(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change an object by a merge patch if it is still as it was found, and return it as it is stored.

        If what was found has no uid or no resourceVersion, whatever exists is changed.
        """

    async def set_status(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the status of an object by a merge patch if it is still as it was found."""

    async def delete(self, resource: Resource, found: Mapping[str, Any], propagation: str = "") -> None:
        """Delete an object if it is still as it was found: of this uid, and of this resourceVersion if there is one.

        `propagation` says what happens to what it owns: `Foreground`, `Background` or `Orphan`; the API server has a
        default for each resource.
        """


class ClusterClient(Api, ObjectClient, Protocol):
    """All requests of a controller."""

    def labelled(self, selector: str) -> Api:
        """Return a client that lists and watches only objects of a label selector."""

    def within(self, namespace: str, fields: str) -> Api:
        """Return a client that lists and watches only objects of a namespace and a field selector."""


def rejection(resource: Resource, code: int, status: Mapping[str, Any]) -> Rejected:
    """Return the error of a response that is a Status."""
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    after = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    reasons = {one.get("reason") for one in causes or () if isinstance(one, dict)}
    # A message about an invalid object quotes it; a message about a missing right names it.
    secret = resource.plural == "secrets" and code != _FORBIDDEN
    return Rejected(
        code,
        str(status.get("reason") or ""),
        "" if secret else str(status.get("message") or "")[:500],
        terminating="NamespaceTerminating" in reasons,
        after=float(after) if isinstance(after, int) else None,
    )


def asked_version(found: Mapping[str, Any]) -> str:
    """Return the version of an object: its uid, and its generation or else its resourceVersion."""
    metadata = found["metadata"]
    return f"{metadata['uid']}/{metadata.get('generation') or metadata['resourceVersion']}"
