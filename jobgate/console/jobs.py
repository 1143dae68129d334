"""The jobs of a cluster, watched: what a list shows of each, with the counts of their pods."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from jobgate.cluster import Informer, Resource
from jobgate.cluster.client import Client
from jobgate.cluster.informer import Key
from jobgate.console.caller import Caller
from jobgate.jobs.job import job_of
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.status import is_run
from jobgate.jobs.wiring import jobs_of
from jobgate.plugins.crew import RUN_LABEL
from jobgate.room import Room
from jobgate.runner.seen import PODS, controllers_of
from jobgate.runner.subject import PodSeen, uid_of
from webhook.text import line
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Bytes of all rows and pods that are kept.
ROOM: Final = 256 * 1024 * 1024
_MESSAGE: Final = 300


class Row(NamedTuple):
    """What the list shows of a job, without its pods."""

    uid: str
    created: str
    phase: str
    message: str
    replicas: int
    suspended: bool
    run_by: str


class PodRow(NamedTuple):
    """What is kept of a pod: the uids of who owns it, and its state."""

    owners: tuple[str, ...]
    phase: str
    ready: bool
    restarts: int


@dataclass
class _OfJob:
    """The pods of a job, counted."""

    phases: Counter[str] = field(default_factory=Counter)
    ready: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class Watched:
    """A kind that is watched, in one namespace or in all."""

    kind: JobKind
    namespace: str
    jobs: Informer[Row]


class Jobs:
    """The jobs of some kinds, and their pods."""

    def __init__(self, client: Client, kinds: Iterable[CustomKind], namespaces: Iterable[str] = ()) -> None:
        """Watch the jobs of `kinds`, in all namespaces or only in these."""
        self._client, self._places = client, tuple(namespaces) or ("",)
        room = Room(ROOM)
        self.kinds = [kind for kind in kinds if isinstance(kind, JobKind) and kind.creates is None]
        self.watched = [
            Watched(
                kind,
                place,
                Informer(
                    Resource.parse(jobs_of(kind)),
                    keep=partial(row_of, kind),
                    changed=self._changed,
                    room=room,
                ),
            )
            for kind in self.kinds
            for place in self._places
        ]
        self._pods = [Informer(PODS, keep=pod_row, changed=self._pod_changed, room=room) for _ in self._places]
        self._counts: dict[str, _OfJob] = {}
        self._stale = True
        #: Changes so far.
        self.version = 0
        #: The number of the last change of jobs or pods in a namespace.
        self.touched: dict[str, int] = {}

    async def run(self) -> None:
        """Keep everything up to date, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self.watched:
                group.create_task(each.jobs.run(self._client.within(each.namespace)))
            for place, pods in zip(self._places, self._pods, strict=True):
                group.create_task(pods.run(self._client.within(place)))

    def _changed(self, key: Key) -> None:
        self.version += 1
        self.touched[key[0]] = self.version

    def _pod_changed(self, key: Key) -> None:
        self._stale = True
        self._changed(key)

    def _counted(self) -> dict[str, _OfJob]:
        """Return the counts of pods by the uid of their job; they are counted again after a change."""
        if self._stale:
            counts: dict[str, _OfJob] = {}
            for informer in self._pods:
                for namespace, name in informer.keys() if informer.learned else ():
                    pod = informer.peek(name, namespace)
                    if pod is None:
                        continue
                    for uid in pod.owners:
                        of_job = counts.setdefault(uid, _OfJob())
                        of_job.phases[pod.phase] += 1
                        of_job.ready += pod.ready
                        of_job.restarts += pod.restarts
            self._counts, self._stale = counts, False
        return self._counts

    async def seen_by(self, caller: Caller) -> list[dict[str, Any]]:
        """Return the rows of the jobs that a caller may list, the newest first."""
        rows = [(each.kind, key, each.jobs.peek(key[1], key[0])) for each in self.watched for key in _keys(each.jobs)]
        visible = await caller.visible({(kind.group, kind.plural, key[0]) for kind, key, _ in rows})
        counts = self._counted()
        shown = [
            _shown(kind, key, row, counts.get(row.uid) or _OfJob())
            for kind, key, row in rows
            if row is not None and (kind.group, kind.plural, key[0]) in visible
        ]
        return sorted(shown, key=lambda row: (row["created"], row["name"]), reverse=True)

    def states(self) -> list[dict[str, str]]:
        """Return how each kind is watched."""
        return [{"kind": kind.kind, "plural": kind.qualified_plural, **self._state(kind)} for kind in self.kinds]

    def _state(self, kind: JobKind) -> dict[str, str]:
        faults = [each.jobs.why_unknown for each in self.watched if each.kind is kind]
        if not any(faults):
            return {"watch": "watching", "reason": ""}
        fault = next(filter(None, faults))
        return {"watch": "not installed" if fault == "not installed" else "failed", "reason": fault}

    def kind_of(self, plural: str) -> JobKind | None:
        """Return the kind of a qualified plural."""
        return next((kind for kind in self.kinds if kind.qualified_plural == plural), None)


def row_of(kind: JobKind, document: Mapping[str, Any]) -> Row:
    """Return what the list shows of a stored job, whatever it contains."""
    metadata, status = metadata_of(document), mapping(document.get("status"))
    try:
        replicas = sum(task.replicas for task in job_of(kind, document).tasks)
    except Exception:  # noqa: BLE001  # a stored job need not fit its schema
        replicas = 0
    phase, message = phase_of(status)
    suspended = spec_of(document).get("suspend") is True
    runs = "jobgate" if is_run(document) else "operator"
    created = text(metadata.get("creationTimestamp"))
    return Row(uid_of(document), created, phase, message, replicas, suspended, runs)


def phase_of(status: Mapping[str, Any]) -> tuple[str, str]:
    """Return the phase of a job of any kind, and the message of its last condition that is true."""
    true = [entry for _, entry in objects(status.get("conditions")) if entry.get("status") == "True"]
    last: Mapping[str, Any] = true[-1] if true else {}
    phase = text(status.get("phase")) or text(mapping(status.get("state")).get("phase")) or text(last.get("type"))
    message = text(last.get("message")) or text(mapping(status.get("state")).get("message"))
    return line(phase, 63), line(message, _MESSAGE)


def pod_row(pod: Mapping[str, Any]) -> PodRow:
    """Return what is kept of a pod."""
    seen = PodSeen(pod, 0)
    owners = {*controllers_of(pod), text(labels_of(pod).get(RUN_LABEL))} - {""}
    return PodRow(tuple(sorted(owners)), seen.phase, seen.ready, restarts_of(seen))


def restarts_of(pod: PodSeen) -> int:
    """Return the restarts of all containers of a pod."""
    return sum(whole(status.get("restartCount")) or 0 for status in pod.all_containers)


def _keys(jobs: Informer[Row]) -> list[Key]:
    try:
        return jobs.keys()
    except LookupError:
        return []


def _shown(kind: JobKind, key: Key, row: Row, pods: _OfJob) -> dict[str, Any]:
    return {
        "kind": kind.kind,
        "plural": kind.qualified_plural,
        "namespace": key[0],
        "name": key[1],
        "uid": row.uid,
        "created": row.created,
        "phase": row.phase,
        "message": row.message,
        "pods": dict(pods.phases),
        "ready": pods.ready,
        "restarts": pods.restarts,
        "replicas": row.replicas,
        "suspended": row.suspended,
        "runBy": row.run_by,
    }
