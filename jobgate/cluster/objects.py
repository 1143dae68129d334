"""Single objects: got, created, changed and deleted, each as it was judged and no other.

What is asked of an API server stands here; `writer` asks a real one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from jobgate.cluster.informer import Refused
from jobgate.cluster.resource import Resource

_FORBIDDEN, _NOT_FOUND, _CONFLICT, _INVALID = 403, 404, 409, 422


class Rejected(Refused):
    """The API server did not write an object.

    Attributes:
        code: of the answer.
        reason: in one word, as `AlreadyExists`.
        message: of the API server; empty where it might tell what a Secret holds.
        terminating: whether it is because the namespace is being deleted.
        after: so many seconds later it may be tried again; None where the API server says nothing of that.
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


class Objects(Protocol):
    """What is asked of an API server about single objects. Any call may fail after the write was done.

    All raise `Refused`, those that write `Rejected`, and `OSError` or `TimeoutError` where there is no answer.
    """

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object as it is stored now, or None where there is none."""

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        """Create an object, or only see whether it could be, and return it as it is stored."""

    async def patch(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change an object that is still as it was found, by a merge patch, and return it as it is stored then.

        Where what was found has no uid or no resourceVersion, whatever is there is changed.
        """

    async def delete(self, resource: Resource, found: Mapping[str, Any]) -> None:
        """Delete an object that is still as it was found."""


def rejection(resource: Resource, code: int, status: Mapping[str, Any]) -> Rejected:
    """Return the error of an answer that is a Status."""
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
    """Return what changes with an object; where it counts changes of what it asks for, not with its annotations.

    A new object of the same name has another uid, and begins to count at 1 again.
    """
    metadata = found["metadata"]
    return f"{metadata['uid']}/{metadata.get('generation') or metadata['resourceVersion']}"
