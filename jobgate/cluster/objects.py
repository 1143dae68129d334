"""Requests about single objects. `client` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from jobgate.cluster.informer import Api
from jobgate.cluster.resource import Resource


class ObjectClient(Protocol):
    """Requests about single objects. A write that fails may have been done.

    All raise `ApiError`, and `OSError` or `TimeoutError` if there is no answer.
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

    def paced(self, per_second: float) -> ObjectClient:
        """Return a client that makes at most so many requests a second, and twice as many at once after a pause."""


def asked_version(found: Mapping[str, Any]) -> str:
    """Return the version of an object: its uid, and its generation or else its resourceVersion."""
    metadata = found["metadata"]
    return f"{metadata['uid']}/{metadata.get('generation') or metadata['resourceVersion']}"
