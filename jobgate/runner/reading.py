"""Jobs as they are kept and read: a spec stays JSON, and is read once, however often the rest of the job changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import slim
from jobgate.controller.territory import Territory
from jobgate.kinds.common.pod.reading import mapping, metadata_of
from jobgate.plugins.queueing import Grouping
from jobgate.runner.seen import JobKey, Seen
from jobgate.runner.subject import Subject, read
from webhook import Job, Kind

#: What of the metadata counts for how a spec is read.
_COUNTS = ("uid", "generation", "labels", "annotations")
#: The specs of all jobs that are remembered as read, in bytes of JSON: read, a spec takes some ten times as much.
ROOM: Final = 16 * 1024 * 1024
#: A copy of the whole job, which nothing reads.
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

#: By `<plural>.<group>`: a kind, its resource, and what is kept of its jobs.
Jobs: TypeAlias = Mapping[str, tuple[Kind, Resource, Informer[dict[str, Any]]]]


def keep_job(kind: Kind) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what makes of a job what is kept of it: all that is read, its spec as JSON."""

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        metadata = dict(slim(found)["metadata"])
        if _LAST_APPLIED in mapping(metadata.get("annotations")):
            metadata["annotations"] = {key: one for key, one in metadata["annotations"].items() if key != _LAST_APPLIED}
        # A copy: what is given back keeps up to twice its size. A job may have more levels than orjson writes.
        spec = bytes(memoryview(msgspec.json.encode(found.get("spec"))))
        return {**found, "apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}

    return keep


class JobReader:
    """Reads jobs, and remembers what is made of their specs: checks and defaults cost more than the rest of a look."""

    def __init__(self, domain: str, groups: Grouping | None = None, room: int = ROOM) -> None:
        """Remember nothing yet. `room` is for specs, in bytes of JSON; others are read again each time."""
        self._domain = domain
        self._groups = groups
        self._left = room
        self._known: dict[JobKey, tuple[list[Any], Subject | None, int]] = {}

    def __len__(self) -> int:
        """How many jobs are remembered."""
        return len(self._known)

    def read(self, key: JobKey, kind: Kind, document: Mapping[str, Any]) -> Subject | None:
        """Read a job as it is kept; None where it does not fit its schema."""
        counts = [metadata_of(document).get(word) for word in _COUNTS]
        known, subject, _ = self._known.get(key, (None, None, 0))
        if known != counts:
            self.forget(key)
            size = len(document["spec"])
            subject = read(kind, {**document, "spec": orjson.loads(document["spec"])}, self._domain, self._groups)
            if size <= self._left:
                self._left -= size
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
            self._left += self._known.pop(key)[2]


@dataclass(frozen=True)
class Caches:
    """What is known of a cluster.

    Attributes:
        jobs: of the kinds that are run.
        seen: what is there of these jobs.
        territory: the namespaces in which jobs are run.
        reader: reads jobs.
        clock: gives the time.
    """

    jobs: Jobs
    seen: Seen
    territory: Territory
    reader: JobReader
    clock: Callable[[], datetime]
