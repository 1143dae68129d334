"""Jobs as they are kept and read: a spec stays JSON, and is read once, however often the rest of the job changes."""

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
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.plugins.queueing import Grouping
from jobgate.room import Room, project, weight_of
from jobgate.runner.seen import JobKey, Seen
from jobgate.runner.subject import Subject, read
from webhook.values import mapping, metadata_of

#: What of the metadata counts for how a spec is read.
_COUNTS = ("uid", "generation", "labels", "annotations")
#: The specs of all jobs that are remembered as read, in bytes of JSON: read, a spec takes some ten times as much.
ROOM: Final = 16 * 1024 * 1024
#: A look at a job of more bytes than this takes much memory: so many such jobs are looked at at once.
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
#: All jobs, and what they are made of: with what specs take that were read, it leaves a third of the memory limit that
#: the manifests give the runner.
OBSERVED_ROOM: Final = 384 * 1024 * 1024

#: By `<plural>.<group>`: a kind, its resource, and what is kept of its jobs.
Jobs: TypeAlias = Mapping[str, tuple[JobKind, Resource, Informer[dict[str, Any]]]]


def keep_job(kind: JobKind) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what makes of a job what is kept of it: all that is read, its spec as JSON."""

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        whole = keep_less(kind)(found)
        marks = {word: mapping(found["metadata"].get(word)) for word in ("labels", "annotations")}
        marks["annotations"] = {key: one for key, one in marks["annotations"].items() if key != _LAST_APPLIED}
        # A copy: what is given back keeps up to twice its size. A job may have more levels than orjson writes.
        spec = bytes(memoryview(msgspec.json.encode(found.get("spec"))))
        metadata = {**whole["metadata"], **{word: value for word, value in marks.items() if value}}
        return {**whole, "metadata": metadata, "spec": spec}

    return keep


def keep_less(kind: JobKind) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what makes of a job what is kept of it if there is no room for the rest: it has no spec (`is_whole`)."""

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        metadata = project(found["metadata"], dict.fromkeys(_IDENTITY, ...))
        annotations = mapping(found["metadata"].get("annotations"))
        if ours := {key: one for key, one in annotations.items() if key.startswith(_OURS)}:
            metadata["annotations"] = ours
        less = {"apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": metadata}
        return {**less, **({"status": found["status"]} if "status" in found else {})}

    return keep


def is_whole(document: Mapping[str, Any]) -> bool:
    """Return whether all that is read of a job is kept."""
    return "spec" in document


def weight_of_job(document: Mapping[str, Any]) -> int:
    """Return the memory that a job takes as it is kept, in bytes."""
    return weight_of({**document, "spec": None}) + len(document.get("spec", b""))


class JobReader:
    """Reads jobs, and remembers what is made of their specs: checks and defaults cost more than the rest of a look."""

    def __init__(self, domain: str, groups: Grouping | None = None, room: int = ROOM) -> None:
        """Remember nothing yet. `room` is for specs, in bytes of JSON; others are read again each time."""
        self._domain = domain
        self._groups = groups
        self._room = Room(room)
        self._known: dict[JobKey, tuple[list[Any], Subject | None, int]] = {}

    def __len__(self) -> int:
        """How many jobs are remembered."""
        return len(self._known)

    def read(self, key: JobKey, kind: JobKind, document: Mapping[str, Any]) -> Subject | None:
        """Read a job as it is kept; None where it does not fit its schema."""
        counts = [metadata_of(document).get(word) for word in _COUNTS]
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
        metadata = {**document["metadata"], **{word: job.document["metadata"].get(word) for word in _COUNTS}}
        whole = {**job.document, "metadata": metadata, "status": document.get("status")}
        return replace(subject, job=Job(kind, whole, job.spec))

    def forget(self, key: JobKey) -> None:
        """Forget a job that is gone, or is looked at seldom."""
        if key in self._known:
            self._room.give(key[1], self._known.pop(key)[2])


@dataclass(frozen=True)
class Caches:
    """What is known of a cluster.

    Attributes:
        jobs: of the kinds that are run.
        seen: what is there of these jobs.
        territory: the namespaces in which jobs are run.
        reader: reads jobs.
        clock: gives the time.
        objects: reads jobs that are not kept as a whole.
    """

    jobs: Jobs
    seen: Seen
    territory: Territory
    reader: JobReader
    clock: Callable[[], datetime]
    objects: ObjectClient | None = None

    def is_large(self, key: JobKey) -> bool:
        """Return whether a look at a job takes much memory: its spec is read, rendered into batch Jobs, and sent."""
        plural, namespace, name = key
        informer = self.jobs[plural][2] if plural in self.jobs else None
        document = informer.peek(name, namespace) if informer else None
        if informer is None or document is None:
            return informer is not None and bool(informer.why_incomplete(namespace))
        return not is_whole(document) or weight_of_job(document) > LARGE

    async def whole(self, key: JobKey, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a job with all that is read of it; None if it is gone.

        Raises:
            ApiError, OSError, TimeoutError: it cannot be read.
        """
        if is_whole(document) or self.objects is None:
            return document
        kind, resource, _ = self.jobs[key[0]]
        stored = await self.objects.get(resource, key[2], key[1])
        return None if stored is None else keep_job(kind)({**stored})
