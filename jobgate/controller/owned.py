"""The objects with our label, by the job that owns them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

import orjson

from jobgate.cluster import Informer, Resource, slim
from jobgate.controller.jobs import Key
from jobgate.ownership import MANAGED_BY
from jobgate.room import Room, project

#: Larger objects, in bytes of JSON, are cached as metadata only, and read when their job is reconciled: anyone may give
#: our label to a ConfigMap of a MiB.
LARGE = 8 * 1024
#: Maximum number of owners that are cached of a large object. Ours have one.
OWNERS = 16
_PARTIAL = "PartialObjectMetadata"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")

#: Returns the job that an owner reference names in a namespace, or None.
Owner = Callable[[Mapping[str, Any], str], Key | None]
#: The place of an object: resource, namespace and name.
Place: TypeAlias = tuple[Resource, str, str]
K = TypeVar("K")


class JobIndex(Generic[K]):
    """The places of the objects of each job, by the job's uid. `K` is the key of a job."""

    def __init__(self, changed: Callable[[K], None]) -> None:
        """Create an empty index. `changed` is called with a job when one of its objects changes."""
        self._changed = changed
        self._jobs: dict[Place, Mapping[str, K]] = {}
        self._places: defaultdict[str, set[Place]] = defaultdict(set)
        self._uids: defaultdict[K, set[str]] = defaultdict(set)

    def uids(self, job: K) -> list[str]:
        """Return the uids of the jobs with this key that have objects: also of deleted ones."""
        return sorted(self._uids.get(job, ()))

    def places(self, uid: str) -> list[Place]:
        """Return the places of a job's objects."""
        return sorted(self._places.get(uid, ()))

    def put(self, place: Place, jobs: Mapping[str, K]) -> None:
        """Set the jobs of a changed object, by uid, and report its former and present jobs."""
        before = self._jobs.pop(place, {})
        for uid, job in before.items():
            _discard(self._places, uid, place)
            if uid not in self._places:
                _discard(self._uids, job, uid)
        for uid, job in jobs.items():
            self._places[uid].add(place)
            self._uids[job].add(uid)
        if jobs:
            self._jobs[place] = jobs
        for job in {*before.values(), *jobs.values()}:
            self._changed(job)


V = TypeVar("V")


def _discard(sets: defaultdict[K, set[V]], key: K, value: V) -> None:
    sets[key].discard(value)
    if not sets[key]:
        del sets[key]


class Owned:
    """A cache of the objects of jobs. Run its informers with a client that sees only our label."""

    def __init__(
        self, resources: Iterable[Resource], owner: Owner, changed: Callable[[Key], None], room: Room | None = None
    ) -> None:
        """Create an empty cache. `changed` is called with a job when one of its objects changes."""
        self._owner = owner
        self._index = JobIndex(changed)
        self.informers = {
            resource: Informer(resource, keep=self._kept, changed=partial(self._take, resource), room=room)
            for resource in resources
        }

    def get(self, resource: Resource, name: str, namespace: str) -> Mapping[str, Any] | None:
        """Return an object with our label, or None; only the metadata of a large object (`is_partial`).

        Raises:
            LookupError: the resource is unknown.
            IncompleteError: there is no room for all objects of the namespace.
        """
        return self.informers[resource].get(name, namespace)

    def of(self, uid: str, namespace: str) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        """Yield the objects of a job, in its namespace only: elsewhere, owner references prove nothing."""
        for resource, where, name in self._index.places(uid):
            with suppress(LookupError):
                if where == namespace and (stored := self.informers[resource].get(name, where)):
                    yield resource, stored

    def _kept(self, document: dict[str, Any]) -> dict[str, Any]:
        whole = slim(document)
        if len(orjson.dumps(whole)) <= LARGE:
            return whole
        metadata = document["metadata"]
        key, value = MANAGED_BY
        of_jobs = (
            project(owner, dict.fromkeys(("apiVersion", "kind", "name", "uid"), ...))
            for owner in metadata.get("ownerReferences") or ()
            if self._owner(owner, "") is not None
        )
        return {
            "apiVersion": "meta.k8s.io/v1",
            "kind": _PARTIAL,
            "metadata": {
                **{word: metadata[word] for word in _IDENTITY if word in metadata},
                "labels": {key: value} if (metadata.get("labels") or {}).get(key) == value else {},
                "ownerReferences": list(islice(of_jobs, OWNERS)),
            },
        }

    def _take(self, resource: Resource, key: tuple[str, str]) -> None:
        """Update the owners of an object that has changed."""
        namespace, name = key
        stored = self.informers[resource].peek(name, namespace)
        references = (stored["metadata"].get("ownerReferences") or ()) if stored else ()
        owners = ((str(owner.get("uid")), self._owner(owner, namespace)) for owner in references)
        self._index.put((resource, namespace, name), {uid: job for uid, job in owners if job is not None})


def is_partial(stored: Mapping[str, Any]) -> bool:
    """Return whether only the metadata of an object is known."""
    return stored.get("kind") == _PARTIAL
