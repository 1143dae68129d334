"""The cache of jobs. A spec is kept as JSON, and read once, however often the rest of the job changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from jobgate.cluster import Informer, Resource
from jobgate.cluster.objects import ObjectClient
from jobgate.controller.territory import Territory
from jobgate.jobs.elastic import given_sizes
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.plugins.queueing import Grouping
from jobgate.room import Room, project, weight_of
from jobgate.runner.jobserver.access import ServerAccess
from jobgate.runner.seen import JobKey, Seen
from jobgate.runner.subject import Subject, read
from webhook.values import mapping, metadata_of

#: Fields of the metadata that decide how a spec is read.
_COUNTS = ("uid", "generation", "labels", "annotations")
#: Specs that are kept after they were read, in bytes of JSON. In memory a spec takes about ten times as much.
ROOM: Final = 16 * 1024 * 1024
#: A job of more bytes than this takes much memory while it is reconciled, so only some are at the same time.
LARGE: Final = 64 * 1024
LARGE_AT_ONCE: Final = 4
#: A copy of the whole job, which nothing reads.
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_OURS: Final = "jobgate.dev/"
_IDENTITY: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
)
#: Memory for all jobs and their objects, in bytes. Together with the specs that were read, it leaves a third of the
#: memory limit in the manifests.
OBSERVED_ROOM: Final = 384 * 1024 * 1024

#: By `<plural>.<group>`: a kind, its resource, and the cache of its jobs.
Jobs: TypeAlias = Mapping[str, tuple[JobKind, Resource, Informer[dict[str, Any]]]]


def keep_job(kind: JobKind) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that reduces a job to the fields that are read, with its spec as JSON."""

    def keep(document: dict[str, Any]) -> dict[str, Any]:
        less = keep_less(kind)(document)
        labels, annotations = (mapping(document["metadata"].get(field)) for field in ("labels", "annotations"))
        annotations = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
        # A copy, as the result of msgspec takes up to twice its size. orjson does not write every depth of a job.
        spec = bytes(memoryview(msgspec.json.encode(document.get("spec"))))
        maps = {"labels": labels, "annotations": annotations}
        metadata = {**less["metadata"], **{field: value for field, value in maps.items() if value}}
        return {**less, "metadata": metadata, "spec": spec}

    return keep


def keep_less(kind: JobKind) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that reduces a job to what is kept if there is no room for its spec (`is_whole`)."""

    def keep(document: dict[str, Any]) -> dict[str, Any]:
        metadata = project(document["metadata"], dict.fromkeys(_IDENTITY, ...))
        annotations = mapping(document["metadata"].get("annotations"))
        if ours := {key: value for key, value in annotations.items() if key.startswith(_OURS)}:
            metadata["annotations"] = ours
        less = {"apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": metadata}
        return {**less, **({"status": document["status"]} if "status" in document else {})}

    return keep


def is_whole(document: Mapping[str, Any]) -> bool:
    """Return whether a job is kept with its spec."""
    return "spec" in document


def weight_of_job(document: Mapping[str, Any]) -> int:
    """Return the memory that a job takes in the cache, in bytes."""
    return weight_of({**document, "spec": None}) + len(document.get("spec", b""))


class JobReader:
    """Reads jobs, and keeps the results: checks and defaults of a spec cost more than the rest of a reconciliation."""

    def __init__(self, domain: str, groups: Grouping | None = None, room: int = ROOM) -> None:
        """Create an empty reader. `room` is for specs, in bytes of JSON; other specs are read each time."""
        self._domain = domain
        self._groups = groups
        self._room = Room(room)
        self._known: dict[JobKey, tuple[list[Any], Subject | None, int]] = {}

    def __len__(self) -> int:
        """Return the number of jobs whose specs are kept."""
        return len(self._known)

    def read(self, key: JobKey, kind: JobKind, document: Mapping[str, Any]) -> Subject | None:
        """Read a job of the cache; None if it does not fit its schema."""
        counts = [*(metadata_of(document).get(field) for field in _COUNTS), given_sizes(document)]
        known, subject, _ = self._known.get(key, (None, None, 0))
        if known != counts:
            self.forget(key)
            size = len(document["spec"])
            subject = read(kind, {**document, "spec": orjson.loads(document["spec"])}, self._domain, self._groups)
            if self._room.swap(key[1], size):
                self._known[key] = counts, subject, size
            return subject
        if subject is None:
            return None
        job = subject.job
        metadata = {**document["metadata"], **{field: job.document["metadata"].get(field) for field in _COUNTS}}
        whole = {**job.document, "metadata": metadata, "status": document.get("status")}
        return replace(subject, job=Job(kind, whole, job.spec))

    def forget(self, key: JobKey) -> None:
        """Forget a job that is gone, or that is seldom reconciled."""
        if key in self._known:
            self._room.give(key[1], self._known.pop(key)[2])


@dataclass(frozen=True)
class Caches:
    """The caches of a cluster.

    Attributes:
        jobs: jobs of the kinds that are run.
        seen: objects of these jobs.
        territory: namespaces in which jobs are run.
        reader: reads jobs.
        clock: returns the time.
        objects: reads jobs that are kept without their spec.
        server: returns how pods reach the runner's server, if there is one.
    """

    jobs: Jobs
    seen: Seen
    territory: Territory
    reader: JobReader
    clock: Callable[[], datetime]
    objects: ObjectClient | None = None
    server: Callable[[], ServerAccess | None] = lambda: None

    def is_large(self, key: JobKey) -> bool:
        """Return whether a job takes much memory while it is read, rendered into batch Jobs, and sent."""
        plural, namespace, name = key
        informer = self.jobs[plural][2] if plural in self.jobs else None
        document = informer.peek(name, namespace) if informer else None
        if informer is None or document is None:
            return informer is not None and bool(informer.why_incomplete(namespace))
        return not is_whole(document) or weight_of_job(document) > LARGE

    async def whole(self, key: JobKey, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a job with its spec; None if it is gone.

        Raises:
            ApiError, OSError, TimeoutError: the job cannot be read.
        """
        if is_whole(document) or self.objects is None:
            return document
        kind, resource, _ = self.jobs[key[0]]
        stored = await self.objects.get(resource, key[2], key[1])
        return None if stored is None else keep_job(kind)({**stored})
