"""The jobs of a cluster, watched: what a list shows of each, with the counts of their pods."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from jobgate.cluster import Informer, Resource
from jobgate.cluster.client import Client
from jobgate.cluster.informer import Key
from jobgate.console.caller import Caller, Place
from jobgate.jobs.job import job_of
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.status import is_run
from jobgate.jobs.wiring import jobs_of
from jobgate.plugins.crew import RUN_LABEL
from jobgate.room import Room
from jobgate.runner.seen import PODS, controllers_of
from jobgate.runner.subject import PodSeen, uid_of
from jobgate.why.causes import message_of
from webhook.text import line
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Bytes of all rows and pods that are kept.
ROOM: Final = 256 * 1024 * 1024
#: Least seconds between two counts of all pods.
PERIOD: Final = 0.5
#: What the list shows of a job.
Row: TypeAlias = dict[str, Any]


class PodRow(NamedTuple):
    """What is kept of a pod: its owners, each as namespace and uid, and its state."""

    owners: tuple[str, ...]
    phase: str
    ready: bool
    restarts: int


class Jobs:
    """The jobs of some kinds, and their pods.

    Attributes:
        places: the namespaces; an empty one for all.
        touched: the number of changes of jobs and pods by namespace.
    """

    def __init__(self, client: Client, kinds: Iterable[CustomKind], namespaces: Iterable[str] = ()) -> None:
        """Watch the jobs of `kinds`, in all namespaces or only in these."""
        self.kinds = [kind for kind in kinds if isinstance(kind, JobKind) and kind.creates is None]
        self.places, self.touched = tuple(namespaces) or ("",), Counter[str]()
        self._rows: list[Row] = []
        self._stale, self._due, self._turn = True, 0.0, asyncio.Lock()
        watching = partial(Informer[Any], changed=self._changed, room=Room(ROOM))
        #: The informers with the clients that they run with, of jobs with their kinds and of pods.
        self._jobs = [
            (kind, client.within(place), watching(Resource.parse(jobs_of(kind)), keep=partial(row_of, kind)))
            for kind in self.kinds
            for place in self.places
        ]
        self._pods = [(client.within(place), watching(PODS, keep=pod_row)) for place in self.places]

    async def run(self) -> None:
        """Keep everything up to date, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for client, informer in (*(each[1:] for each in self._jobs), *self._pods):
                group.create_task(informer.run(client))

    def _changed(self, key: Key) -> None:
        self._stale = True
        self.touched[key[0]] += 1

    async def rows(self) -> list[Row]:
        """Return all jobs, the newest first: the same list until something has changed."""
        async with self._turn:
            if self._stale:
                await asyncio.sleep(self._due - time.monotonic())
                self._stale = False
                self._rows = await asyncio.to_thread(self._counted)
                self._due = time.monotonic() + PERIOD
            return self._rows

    def _counted(self) -> list[Row]:
        pods: defaultdict[str, list[PodRow]] = defaultdict(list)
        for pod in (pod for _, informer in self._pods for pod in _all(informer)):
            for owner in pod.owners:
                pods[owner].append(pod)
        rows = (row for _, _, informer in self._jobs for row in _all(informer))
        rows = (row | counts(pods.get(f"{row['namespace']}/{row['uid']}", ())) for row in rows)
        return sorted(rows, key=lambda row: (row["created"], row["name"]), reverse=True)

    async def seen_by(self, caller: Caller) -> list[Row]:
        """Return the jobs that a caller may list, the newest first."""
        placed = [(_place(row), row) for row in await self.rows()]
        visible = await caller.visible({place for place, _ in placed})
        return [row for place, row in placed if place in visible]

    def states(self) -> list[dict[str, str]]:
        """Return how each kind is watched."""
        states = []
        for kind in self.kinds:
            why = next(filter(None, (informer.why_unknown for of, _, informer in self._jobs if of is kind)), "")
            state = "watching" if not why else "not installed" if why == "not installed" else "failed"
            states.append({"kind": kind.kind, "plural": kind.qualified_plural, "watch": state, "reason": why})
        return states


def row_of(kind: JobKind, document: Mapping[str, Any]) -> Row:
    """Return what the list shows of a stored job without its pods, whatever it contains."""
    metadata, status = metadata_of(document), mapping(document.get("status"))
    try:
        replicas = sum(task.replicas for task in job_of(kind, document).tasks)
    except Exception:  # noqa: BLE001  # a stored job need not fit its schema
        replicas = 0
    conditions = [each.get("type") for _, each in objects(status.get("conditions")) if each.get("status") == "True"]
    phases = (status.get("phase"), mapping(status.get("state")).get("phase"), *reversed(conditions))

    return {
        "kind": kind.kind,
        "plural": kind.qualified_plural,
        "namespace": text(metadata.get("namespace")),
        "name": text(metadata.get("name")),
        "uid": uid_of(document),
        "created": text(metadata.get("creationTimestamp")),
        "phase": line(next(filter(None, map(text, phases)), ""), 63),
        "message": line(message_of(status), 300),
        "replicas": replicas,
        "suspended": spec_of(document).get("suspend") is True,
        "runBy": "jobgate" if is_run(document) else "operator",
    }


def pod_row(pod: Mapping[str, Any]) -> PodRow:
    """Return what is kept of a pod."""
    seen = PodSeen(pod, 0)
    uids = sorted({*controllers_of(pod), text(labels_of(pod).get(RUN_LABEL))} - {""})
    owners = tuple(f"{metadata_of(pod).get('namespace')}/{uid}" for uid in uids)
    restarts = sum(whole(status.get("restartCount")) or 0 for status in seen.all_containers)
    return PodRow(owners, seen.phase, seen.ready, restarts)


def counts(pods: Iterable[PodRow]) -> Row:
    """Return what rows of jobs and tasks have of their pods."""
    pods = list(pods)
    phases = Counter(pod.phase for pod in pods)
    return {"pods": phases, "ready": sum(pod.ready for pod in pods), "restarts": sum(pod.restarts for pod in pods)}


def _place(row: Row) -> Place:
    plural, _, group = row["plural"].partition(".")
    return group, plural, row["namespace"]


def _all(informer: Informer[Any]) -> list[Any]:
    """Return all that an informer keeps; nothing while that is unknown. It is called in a thread."""
    try:
        keys = informer.keys()
        return [kept for key in keys if (kept := informer.peek(key[1], key[0])) is not None]
    except LookupError:
        return []
