"""A cache of all jobs of all kinds. Of each job it has only the crew and the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from jobgate.cluster import Informer, Resource
from jobgate.jobs.context import Settings
from jobgate.jobs.crew import written_plugins
from jobgate.jobs.erased import erased
from jobgate.jobs.kind import JobKind
from jobgate.plugins import Crew
from jobgate.pods import Digest, Digests, UncachedJob
from jobgate.pods.digest import ENTRIES_ROOM
from jobgate.room import Room
from webhook.values import items, mapping

#: Phases, and types of conditions, of finished jobs. Not `Aborted`: Volcano can resume such a job.
OVER = frozenset({"Succeeded", "Failed", "Complete", "Completed", "Terminated", "Done"})


class Key(NamedTuple):
    """The key of a job."""

    resource: Resource
    namespace: str
    name: str


class Remembered(NamedTuple):
    """The cached part of a job.

    Attributes:
        crew: the crew, or None if the job is unreadable or too large.
        over: whether the job is finished or being deleted, so that nothing is created for it.
        understood: whether all its plugins are known. If a package is missing, a running job keeps its objects.
        unkept: set if there was no room for the job: it is read again when it is reconciled (`Jobs.read`).
        waits_since: creation time of a job without a status and without a runner; else empty.
        erased: fields that a client erased because it does not know them, as a sentence; empty for none.
    """

    crew: Crew | None
    over: bool = False
    understood: bool = True
    unkept: UncachedJob | None = None
    waits_since: str = ""
    erased: str = ""


class Jobs:
    """The jobs of these kinds."""

    def __init__(
        self, kinds: Iterable[JobKind], settings: Settings, changed: Callable[[Key], None], room: Room | None = None
    ) -> None:
        """Create an empty cache. `changed` is called with a job when its cached part changes."""
        entries = Room(ENTRIES_ROOM)
        self._kinds: dict[tuple[str, str], Resource] = {}
        self._readers: dict[Resource, Callable[[dict[str, Any]], Remembered]] = {}
        self.informers: dict[Resource, Informer[Remembered]] = {}
        for kind in kinds:
            if (kind.group, kind.kind) in self._kinds:
                continue  # another version: the API server converts all jobs to each version
            resource = Resource(kind.plural, kind.version, kind.group)
            self._kinds[kind.group, kind.kind] = resource
            digests = Digests(kind, settings, room)
            self._readers[resource] = partial(remembered, kind, digests.read)
            keep = partial(remembered, kind, digests.of)
            self.informers[resource] = Informer(
                resource, keep=keep, changed=partial(_changed, resource, changed), room=entries, weigh=lambda _: 0
            )

    def get(self, key: Key) -> Remembered | None:
        """Return the cached part of a job; None if the job or its kind is not known."""
        try:
            return self.informers[key.resource].get(key.name, key.namespace)
        except LookupError:
            return None

    def read(self, key: Key, document: dict[str, Any]) -> Remembered:
        """Return what would be cached of a stored job if there was room."""
        return self._readers[key.resource](document)

    def __iter__(self) -> Iterator[Key]:
        """Yield the keys of all known jobs."""
        for resource, informer in self.informers.items():
            try:
                keys = informer.keys()
            except LookupError:
                continue
            for namespace, name in keys:
                yield Key(resource, namespace, name)

    def owner(self, reference: Mapping[str, Any], namespace: str) -> Key | None:
        """Return the job that an owner reference names, or None if it names something else."""
        group = str(reference.get("apiVersion")).rpartition("/")[0]
        resource = self._kinds.get((group, str(reference.get("kind"))))
        return None if resource is None else Key(resource, namespace, str(reference.get("name")))


def finished(status: Mapping[str, Any]) -> bool:
    """Return whether a job with this status is finished."""
    if status.get("phase") in OVER or mapping(status.get("state")).get("phase") in OVER:
        return True
    return any(
        mapping(condition).get("type") in OVER and mapping(condition).get("status") == "True"
        for condition in items(status.get("conditions"))
    )


def remembered(kind: JobKind, digest: Callable[[dict[str, Any]], Digest], document: dict[str, Any]) -> Remembered:
    """Return what is cached of a stored job; `digest` returns its crew as the pod webhook computes it."""
    crew, status = digest(document), mapping(document.get("status"))
    over = bool(document["metadata"].get("deletionTimestamp")) or finished(status)
    if isinstance(crew, UncachedJob):
        return Remembered(None, over, unkept=crew)
    if not isinstance(crew, Crew):
        return Remembered(None, over, understood=False)
    understood = set(written_plugins(kind, document)) <= set(crew.plugins)
    since = "" if status else str(document["metadata"].get("creationTimestamp") or "")
    erasure = erased(kind, document)
    return Remembered(crew, over, understood, waits_since=since, erased=erasure.message if erasure else "")


def _changed(resource: Resource, changed: Callable[[Key], None], key: tuple[str, str]) -> None:
    changed(Key(resource, *key))
