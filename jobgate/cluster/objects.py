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
        """Return the stored object, or None."""

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        """Create an object, and return it as it is stored; `dry` only validates it."""

    async def patch(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change an object by a merge patch if it has not changed since it was observed; return it as it is stored.

        Without a uid and a resourceVersion in `observed`, this is not checked.
        """

    async def set_status(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the status of an object by a merge patch if it has not changed since it was observed."""

    async def delete(
        self, resource: Resource, observed: Mapping[str, Any], propagation: str = "", *, force: bool = False
    ) -> None:
        """Delete an object if its uid and, if `observed` has one, its resourceVersion have not changed.

        `propagation` is that of its dependents: `Foreground`, `Background` or `Orphan`; each resource has a default.
        A pod that is deleted by `force` is gone at once, even if it still runs.
        """


class ClusterClient(Api, ObjectClient, Protocol):
    """All requests of a controller."""

    def labelled(self, selector: str) -> Api:
        """Return a client that lists and watches only objects with certain labels."""

    def within(self, namespace: str, fields: str) -> Api:
        """Return a client that lists and watches only objects in a namespace, with a field selector."""

    def paced(self, per_second: float) -> ObjectClient:
        """Return a client with a rate limit, and a burst of two seconds."""


def asked_version(observed: Mapping[str, Any]) -> str:
    """Return the version of an object: its uid, and its generation or else its resourceVersion."""
    metadata = observed["metadata"]
    return f"{metadata['uid']}/{metadata.get('generation') or metadata['resourceVersion']}"
