"""The objects that carry our label, by the job that owns them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import orjson

from jobgate.cluster import Backoff, Informer, Resource, slim
from jobgate.controller.jobs import Key
from jobgate.names import MANAGED_BY

#: Larger objects, in bytes of JSON, are remembered by their metadata alone, and got whole when their job is looked at:
#: anybody may give our label to a ConfigMap of a MiB.
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
        """Know nothing yet.

        Args:
            resources: of the objects.
            owner: gives the job of an owner reference.
            changed: told each job of which an object came, went or changed.
            backoff: how long informers wait after failures.
        """
        self._owner = owner
        self._changed = changed
        self._places: dict[tuple[Resource, str, str], Mapping[str, Key]] = {}
        self._by_uid: defaultdict[str, set[tuple[Resource, str, str]]] = defaultdict(set)
        self.informers = {
            resource: Informer(resource, backoff, keep=self._kept, changed=self._teller(resource))
            for resource in resources
        }

    def get(self, resource: Resource, name: str, namespace: str) -> Mapping[str, Any] | None:
        """Return an object, or None where there is none with our label; of a large one only metadata (`is_partial`).

        Raises:
            LookupError: nothing is known of the resource.
        """
        return self.informers[resource].get(name, namespace)

    def of(self, uid: str, namespace: str) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        """Yield the objects of a job: those that are known now, in its namespace; others only say that they are its."""
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

    def _teller(self, resource: Resource) -> Callable[[tuple[str, str]], None]:
        return lambda key: self._take(resource, *key)

    def _take(self, resource: Resource, namespace: str, name: str) -> None:
        """Take over who owns an object now, and tell its jobs of before and of now."""
        place = (resource, namespace, name)
        before, now = self._places.pop(place, {}), self._owners(resource, namespace, name)
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
