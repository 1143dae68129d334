"""An API server in memory, with faults."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import count
from typing import Any, Self
from uuid import uuid4

from jobgate.cluster import ApiError, Page, Resource

Place = tuple[Resource, str, str]
#: Called with each call before it is carried out; what it raises, the caller gets. What it returns is called afterwards.
Fault = Callable[[str, Resource, str], Callable[[], None] | None]


class MemoryCluster:
    """Stores objects, notifies watchers, and fails as a test demands."""

    def __init__(self, selector: str = "") -> None:
        self.objects: dict[Place, dict[str, Any]] = {}
        self.history: list[tuple[Resource, str, dict[str, Any]]] = []
        self.calls: list[tuple[str, str, str]] = []
        self.faults: list[Fault] = []
        self._versions = count(1)
        self._selector = selector
        self._changed = asyncio.Event()

    def labelled(self, selector: str) -> Self:
        other = copy.copy(self)
        other._selector = selector
        return other

    def within(self, namespace: str, fields: str) -> Self:
        del namespace, fields
        return self

    def paced(self, per_second: float) -> Self:
        del per_second
        return self

    # Changes by users and other controllers: without faults.

    def put(self, resource: Resource, document: Mapping[str, Any]) -> dict[str, Any]:
        """Store an object as it is."""
        metadata = document["metadata"]
        place = (resource, metadata["namespace"], metadata["name"])
        before = self.objects.get(place)
        stored = copy.deepcopy(dict(document))
        uid = before["metadata"]["uid"] if before else metadata.get("uid") or str(uuid4())
        stored["metadata"] |= {"uid": uid, "resourceVersion": str(next(self._versions))}
        self.objects[place] = stored
        self._tell(resource, "MODIFIED" if before else "ADDED", stored)
        return copy.deepcopy(stored)

    def edit(self, resource: Resource, namespace: str, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change an object by a merge patch."""
        return self.put(resource, merged(self.objects[resource, namespace, name], changes))

    def drop(self, resource: Resource, namespace: str, name: str) -> None:
        """Remove an object."""
        gone = self.objects.pop((resource, namespace, name))
        gone["metadata"]["resourceVersion"] = str(next(self._versions))
        self._tell(resource, "DELETED", gone)

    def find(self, resource: Resource, namespace: str, name: str) -> dict[str, Any] | None:
        """Return an object, if there is one."""
        return copy.deepcopy(self.objects.get((resource, namespace, name)))

    # Requests of the controller.

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        self._call("list", resource, "")
        results = [
            copy.deepcopy(one) for place, one in self.objects.items() if place[0] == resource and self._sees(one)
        ]
        yield Page(results, f"list-{len(self.history)}")

    async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        self._call("watch", resource, "")
        if version.startswith("list-"):
            place = int(version.removeprefix("list-"))
        else:
            versions = [each[2]["metadata"]["resourceVersion"] for each in self.history]
            place = versions.index(version) + 1
        while True:
            while place < len(self.history):
                what, change, document = self.history[place]
                place += 1
                if what != resource:
                    continue
                if self._sees(document):
                    yield {"type": change, "object": copy.deepcopy(document)}
                elif self._selector:
                    yield {"type": "DELETED", "object": copy.deepcopy(document)}
            self._changed.clear()
            await self._changed.wait()

    async def get(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any] | None:
        done = self._call("get", resource, name)
        await asyncio.sleep(0)
        result = self.find(resource, namespace, name)
        if done:
            done()
        return result

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> dict[str, Any]:
        metadata = manifest["metadata"]
        done = self._call("dry" if dry else "create", resource, metadata["name"])
        await asyncio.sleep(0)
        if (resource, metadata["namespace"], metadata["name"]) in self.objects:
            raise ApiError(409, "AlreadyExists")
        stored = dict(manifest) if dry else self.put(resource, manifest)
        if done:
            done()
        return stored

    async def patch(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        done = self._call("patch", resource, observed["metadata"]["name"])
        await asyncio.sleep(0)
        stored = self._as_found(resource, observed)
        if changes.get("spec", {}).get("clusterIP"):
            raise ApiError(422, "Invalid", "field is immutable")
        stored = self.put(resource, merged(stored, changes))
        if done:
            done()
        return stored

    async def set_status(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        return await self.patch(resource, observed, {"status": changes})

    async def delete(
        self, resource: Resource, observed: Mapping[str, Any], propagation: str = "", *, force: bool = False
    ) -> None:
        done = self._call("delete", resource, observed["metadata"]["name"])
        await asyncio.sleep(0)
        metadata = self._as_found(resource, observed)["metadata"]
        self.drop(resource, metadata["namespace"], metadata["name"])
        if done:
            done()

    def _as_found(self, resource: Resource, found: Mapping[str, Any]) -> dict[str, Any]:
        metadata = found["metadata"]
        stored = self.objects.get((resource, metadata["namespace"], metadata["name"]))
        if stored is None:
            raise ApiError(404, "NotFound")
        for key in ("uid", "resourceVersion"):
            if metadata.get(key, stored["metadata"][key]) != stored["metadata"][key]:
                raise ApiError(409, "Conflict")
        return stored

    def _call(self, verb: str, resource: Resource, name: str) -> Callable[[], None] | None:
        self.calls.append((verb, resource.plural, name))
        return next((done for fault in tuple(self.faults) if (done := fault(verb, resource, name))), None)

    def _sees(self, document: Mapping[str, Any]) -> bool:
        if not self._selector:
            return True
        key, _, value = self._selector.partition("=")
        return bool((document["metadata"].get("labels") or {}).get(key) == value)

    def _tell(self, resource: Resource, change: str, document: dict[str, Any]) -> None:
        self.history.append((resource, change, document))
        self._changed.set()


def merged(document: Any, changes: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386)."""
    if not isinstance(changes, Mapping):
        return copy.deepcopy(changes)
    result = dict(document) if isinstance(document, Mapping) else {}
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def unreachable() -> None:
    """Lose an answer."""
    raise TimeoutError


__all__ = ["ApiError", "Fault", "MemoryCluster", "merged", "unreachable"]
