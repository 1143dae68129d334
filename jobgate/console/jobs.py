"""The jobs of a cluster, watched; and one as a graph: its tasks with their pods, its Events, and why it waits."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from jobgate.cluster import Informer, Resource
from jobgate.cluster.client import Client
from jobgate.cluster.events import EVENTS
from jobgate.cluster.informer import Key
from jobgate.console.caller import Caller
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.status import is_run
from jobgate.jobs.task import Task
from jobgate.jobs.wiring import jobs_of
from jobgate.offline.explanation import explain as pods_of
from jobgate.offline.judge import ReviewOptions
from jobgate.plugins.crew import RUN_LABEL
from jobgate.plugins.queueing import Grouping, System
from jobgate.room import Room
from jobgate.runner.gangs import gangs
from jobgate.runner.seen import PODS, controllers_of
from jobgate.runner.subject import PodSeen, uid_of
from jobgate.runner.uncreated import last_time
from jobgate.why.causes import Situation, explain, message_of
from webhook.text import line
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Bytes of all rows and pods that are kept, and least seconds between two counts of all pods.
ROOM, PERIOD = 256 * 1024 * 1024, 0.5
#: Most pods, Events and tasks that are shown of one job.
MOST_PODS, MOST_EVENTS, MOST_TASKS = 500, 50, 200
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
        self._counted, self._due, self._turn = -1, 0.0, asyncio.Lock()
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
        self.touched[key[0]] += 1

    def _count(self) -> list[Row]:
        pods: defaultdict[str, list[PodRow]] = defaultdict(list)
        for owner, pod in ((owner, row) for _, each in self._pods for row in _all(each) for owner in row.owners):
            pods[owner].append(pod)
        rows = (row for _, _, informer in self._jobs for row in _all(informer))
        rows = (row | counts(pods.get(f"{row['namespace']}/{row['uid']}", ())) for row in rows)
        return sorted(rows, key=lambda row: (row["created"], row["name"]), reverse=True)

    async def seen_by(self, caller: Caller) -> list[Row]:
        """Return the jobs that a caller may list, the newest first; all are counted again after a change."""
        async with self._turn:
            if self._counted != self.touched.total():
                await asyncio.sleep(self._due - time.monotonic())
                number, self._rows = self.touched.total(), await asyncio.to_thread(self._count)
                self._counted, self._due = number, time.monotonic() + PERIOD
        placed = [((*row["plural"].partition(".")[::-2], row["namespace"]), row) for row in self._rows]
        visible = await caller.visible({place for place, _ in placed})
        return [row for place, row in placed if place in visible]

    def states(self) -> list[dict[str, str]]:
        """Return the kinds, and why their jobs are not known."""
        unknown = {kind: informer.why_unknown for kind, _, informer in reversed(self._jobs) if informer.why_unknown}
        return [
            {"kind": kind.kind, "plural": kind.qualified_plural, "unknown": unknown.get(kind, "")}
            for kind in self.kinds
        ]


def row_of(kind: JobKind, document: Mapping[str, Any]) -> Row:
    """Return what the list shows of a stored job without its pods, whatever it contains."""
    metadata, status = metadata_of(document), mapping(document.get("status"))
    conditions = [each.get("type") for _, each in objects(status.get("conditions")) if each.get("status") == "True"]
    phases = (status.get("phase"), mapping(status.get("state")).get("phase"), *reversed(conditions))
    return {
        "kind": kind.kind,
        "plural": kind.qualified_plural,
        **{key: text(metadata.get(key)) for key in ("namespace", "name", "uid")},
        "created": text(metadata.get("creationTimestamp")),
        "phase": line(next(filter(None, map(text, phases)), ""), 63),
        "message": line(message_of(status), 300),
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
    return {"pods": Counter(pod.phase for pod in pods), "restarts": sum(pod.restarts for pod in pods)}


def _all(informer: Informer[Any]) -> list[Any]:
    """Return all that an informer keeps; nothing while that is unknown. It is called in a thread."""
    try:
        keys = informer.keys()
        return [kept for key in keys if (kept := informer.peek(key[1], key[0])) is not None]
    except LookupError:
        return []


def graph(situation: Situation, options: ReviewOptions) -> Row:
    """Return what the page shows of a job."""
    document, kind = situation.document, situation.kind
    job = job_of(kind, document)
    tasks = {task.name or "": task for task in job.tasks}
    pods = [(pod, pod_row(pod)) for pod in situation.observed.pods]
    by_task: defaultdict[str, list[PodRow]] = defaultdict(list)
    for pod, row in pods:
        by_task[_task_of(pod, tasks, job)].append(row)
    own = {uid_of(document), *map(uid_of, situation.observed.pods), *map(uid_of, situation.observed.jobs)}
    about = [each for each in situation.all(EVENTS) if mapping(each.get("involvedObject")).get("uid") in own]
    events = sorted(about, key=last_time, reverse=True)
    beside = pods_of(dict(document), options)
    conditions = [entry for _, entry in objects(mapping(document.get("status")).get("conditions"))]
    return {
        "job": row_of(kind, document) | counts(row for _, row in pods),
        "tasks": [_task(name, task, by_task[name]) for name, task in list(tasks.items())[:MOST_TASKS]],
        "gangs": _gangs(situation, job),
        "pods": [_pod(*each) for each in pods[:MOST_PODS]],
        "podsTotal": len(pods),
        "objects": [
            {"kind": kind, "name": name, "source": row.source}
            for row in (beside.beside if beside is not None else ())
            for kind, _, name in [row.text.partition(" ")]
        ],
        "events": [_event(each) for each in events[:MOST_EVENTS]],
        "eventsTotal": len(events),
        "conditions": [{**entry, "time": entry.get("lastTransitionTime")} for entry in conditions],
        "why": explain(situation).to_json(situation.seen),
    }


def _gangs(situation: Situation, job: Job[Any]) -> list[Row]:
    """Return the pods that start together; the runner groups them by what their tasks wait for."""
    groups, subject = situation.observed.groups, situation.subject
    if not groups and job.get("min_available") is None:
        return []
    name = text(metadata_of(next(iter(groups), situation.document)).get("name"))
    shown = [(name, gang_minimum(job), [*job.tasks])]
    if subject and is_run(situation.document):
        own = gangs(replace(subject, groups=Grouping(System.KUBERNETES)))
        shown = [(gang.group.name, gang.group.least, [subject.tasks[name] for name in gang.tasks]) for gang in own]
    return [{"name": name, "minimum": least, "tasks": [task.name or "" for task in of]} for name, least, of in shown]


def _task(name: str, task: Task, pods: Iterable[PodRow]) -> Row:
    counted, depends = counts(pods), task.depends_on
    phases = counted["pods"]
    if not task.replicas or phases["Failed"]:
        state = "failed" if task.replicas else "empty"
    elif phases["Succeeded"] >= task.replicas:
        state = "succeeded"
    else:
        state = "running" if phases.total() - phases["Pending"] >= task.replicas else "waiting"
    named = {"name": name, "type": task.type or "", "replicas": task.replicas, "minimum": task.min_available}
    others = [other for _, other, _ in depends.names(task.path)] if depends else []
    return {**named, "state": state, "dependsOn": others, "any": bool(depends and depends.any_suffices), **counted}


def _task_of(pod: Mapping[str, Any], tasks: Iterable[str], job: Job[Any]) -> str:
    """Return the task of a pod: a label says so, whoever made it, or else its name."""
    labels = {value for value in labels_of(pod).values() if isinstance(value, str)}
    if named := next((name for name in tasks if name in labels), ""):
        return named
    rest = text(metadata_of(pod).get("name")).removeprefix(f"{metadata_of(job.document).get('name')}-")
    return max((task for task in tasks if task and rest.startswith(f"{task}-")), key=len, default="")


def _pod(pod: Mapping[str, Any], row: PodRow) -> Row:
    status = mapping(pod.get("status"))
    waiting = (mapping(mapping(each.get("state")).get("waiting")) for each in PodSeen(pod, 0).all_containers)
    unready = (entry for _, entry in objects(status.get("conditions")) if entry.get("status") == "False")
    reasons = filter(None, (text(each.get("reason")) for each in (status, *waiting, *unready)))
    reason = "" if row.ready or row.phase == "Succeeded" else next(reasons, "")
    return {
        "name": metadata_of(pod).get("name"),
        "phase": row.phase,
        "ready": row.ready,
        "reason": reason,
        "node": text(spec_of(pod).get("nodeName")),
        "restarts": row.restarts,
    }


def _event(event: Mapping[str, Any]) -> Row:
    about = mapping(event.get("involvedObject"))
    return {
        "time": last_time(event).isoformat(),
        "type": event.get("type"),
        "reason": event.get("reason"),
        "object": f"{about.get('kind')} {about.get('name')}",
        "message": line(text(event.get("message"))),
        "count": whole(event.get("count")) or 1,
    }
