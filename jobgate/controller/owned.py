"""The objects that carry our label, by the job that owns them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import orjson

from jobgate.cluster import Backoff, Informer, Resource, slim
from jobgate.controller.jobs import Key
from jobgate.names import MANAGED_BY

#: Of larger objects, in bytes of JSON, only metadata is cached, and they are read when their job is reconciled: anyone
#: may give our label to a ConfigMap of a MiB.
LARGE = 8 * 1024
#: Owners of a large object that are remembered; ours have one.
OWNERS = 16
_PARTIAL = "PartialObjectMetadata"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")

#: Gives the job that an owner reference names in a namespace, or None.
Owner = Callable[[Mapping[str, Any], str], Key | None]


class Owned:
    """Objects of these resources. The informers are to be run with a client that sees our label only."""

    def __init__(
        self,
        resources: Iterable[Resource],
        owner: Owner,
        changed: Callable[[Key], None],
        backoff: Backoff | None = None,
    ) -> None:
        """Create a cache that knows nothing. `changed` is called with each job of which an object changed."""
        self._owner = owner
        self._changed = changed
        self._places: dict[tuple[Resource, str, str], Mapping[str, Key]] = {}
        self._by_uid: defaultdict[str, set[tuple[Resource, str, str]]] = defaultdict(set)
        self.informers = {
            resource: Informer(resource, backoff, keep=self._kept, changed=partial(self._take, resource))
            for resource in resources
        }

    def get(self, resource: Resource, name: str, namespace: str) -> Mapping[str, Any] | None:
        """Return an object with our label, or None; of a large one only metadata (`is_partial`).

        Raises:
            LookupError: the resource is unknown.
        """
        return self.informers[resource].get(name, namespace)

    def of(self, uid: str, namespace: str) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        """Yield the objects of a job in its namespace; objects of other namespaces only claim to be its."""
        for resource, where, name in tuple(self._by_uid.get(uid, ())):
            with suppress(LookupError):
                if where == namespace and (found := self.informers[resource].get(name, where)):
                    yield resource, found

    def _kept(self, found: dict[str, Any]) -> dict[str, Any]:
        whole = slim(found)
        if len(orjson.dumps(whole)) <= LARGE:
            return whole
        metadata = found["metadata"]
        key, value = MANAGED_BY
        of_jobs = (
            {word: one.get(word) for word in ("apiVersion", "kind", "name", "uid")}
            for one in metadata.get("ownerReferences") or ()
            if self._owner(one, "") is not None
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
        """Update the owners of an object, and report its former and present jobs as changed."""
        place = (resource, *key)
        before, now = self._places.pop(place, {}), self._owners(*place)
        for uid in before:
            self._by_uid[uid].discard(place)
            if not self._by_uid[uid]:
                del self._by_uid[uid]
        for uid in now:
            self._by_uid[uid].add(place)
        if now:
            self._places[place] = now
        for job in {*before.values(), *now.values()}:
            self._changed(job)

    def _owners(self, resource: Resource, namespace: str, name: str) -> dict[str, Key]:
        """Return the jobs that own an object, by uid."""
        found = self.informers[resource].get(name, namespace)
        references = (found["metadata"].get("ownerReferences") or ()) if found else ()
        owners = ((str(one.get("uid")), self._owner(one, namespace)) for one in references)
        return {uid: job for uid, job in owners if job is not None}


def is_partial(found: Mapping[str, Any]) -> bool:
    """Tell whether of an object only metadata is known."""
    return found.get("kind") == _PARTIAL
