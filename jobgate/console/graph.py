"""One job as a graph: its tasks with their pods, what is beside them, its Events, and why it waits. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.cluster.events import EVENTS
from jobgate.console.jobs import PodRow, counts, pod_row, row_of
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.task import Task
from jobgate.offline.explanation import explain as pods_of
from jobgate.offline.judge import ReviewOptions
from jobgate.runner.subject import PodSeen, uid_of
from jobgate.runner.uncreated import last_time
from jobgate.why.causes import Situation, explain
from webhook.text import line
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Most pods, Events and tasks that are shown.
PODS, EVENTS_SHOWN, TASKS = 500, 50, 200


def graph(situation: Situation, options: ReviewOptions) -> dict[str, Any]:
    """Return what the page shows of a job."""
    document, kind = situation.document, situation.kind
    job = job_of(kind, document)
    tasks = {task.name or "": task for task in job.tasks}
    pods = [(_task_of(pod, tasks, job), pod, pod_row(pod)) for pod in situation.observed.pods]
    by_task: defaultdict[str, list[PodRow]] = defaultdict(list)
    for name, _, row in pods:
        by_task[name].append(row)
    own = {uid_of(document), *map(uid_of, situation.observed.pods), *map(uid_of, situation.observed.jobs)}
    about = [each for each in situation.all(EVENTS) if mapping(each.get("involvedObject")).get("uid") in own]
    events = sorted(about, key=last_time, reverse=True)
    groups = [metadata_of(group).get("name") for group in situation.observed.groups]
    if job.get("min_available") is not None:
        groups.append(metadata_of(document).get("name"))
    beside = pods_of(dict(document), options)
    conditions = [entry for _, entry in objects(mapping(document.get("status")).get("conditions"))]
    return {
        "job": row_of(kind, document) | counts(row for _, _, row in pods),
        "tasks": [_task(name, task, by_task[name]) for name, task in list(tasks.items())[:TASKS]],
        "gangs": [{"name": gang, "minimum": gang_minimum(job), "tasks": [*tasks]} for gang in groups[:1]],
        "pods": [_pod(*each) for each in pods[:PODS]],
        "podsTotal": len(pods),
        "objects": [
            {"kind": kind, "name": name, "source": row.source}
            for row in (beside.beside if beside is not None else ())
            for kind, _, name in [row.text.partition(" ")]
        ],
        "events": [_event(each) for each in events[:EVENTS_SHOWN]],
        "eventsTotal": len(events),
        "conditions": [{**entry, "time": entry.get("lastTransitionTime")} for entry in conditions],
        "why": explain(situation).to_json(situation.seen),
    }


def _task(name: str, task: Task, pods: Iterable[PodRow]) -> dict[str, Any]:
    counted, depends = counts(pods), task.depends_on
    phases = counted["pods"]
    if not task.replicas:
        state = "empty"
    elif phases["Failed"]:
        state = "failed"
    elif phases["Succeeded"] >= task.replicas:
        state = "succeeded"
    else:
        state = "running" if phases.total() - phases["Pending"] >= task.replicas else "waiting"
    return {
        "name": name,
        "type": task.type or "",
        "replicas": task.replicas,
        "minimum": task.min_available,
        "dependsOn": [other for _, other, _ in depends.names(task.path)] if depends else [],
        "any": bool(depends and depends.any_suffices),
        "state": state,
        **counted,
    }


def _task_of(pod: Mapping[str, Any], tasks: Iterable[str], job: Job[Any]) -> str:
    """Return the task of a pod: a label says so, whoever made it, or else its name."""
    labels = {value for value in labels_of(pod).values() if isinstance(value, str)}
    if named := next((name for name in tasks if name in labels), ""):
        return named
    rest = text(metadata_of(pod).get("name")).removeprefix(f"{metadata_of(job.document).get('name')}-")
    return max((task for task in tasks if task and rest.startswith(f"{task}-")), key=len, default="")


def _pod(task: str, pod: Mapping[str, Any], row: PodRow) -> dict[str, Any]:
    status = mapping(pod.get("status"))
    waiting = (mapping(mapping(each.get("state")).get("waiting")) for each in PodSeen(pod, 0).all_containers)
    unready = (entry for _, entry in objects(status.get("conditions")) if entry.get("status") == "False")
    reasons = filter(None, (text(each.get("reason")) for each in (status, *waiting, *unready)))
    return {
        "name": metadata_of(pod).get("name"),
        "task": task,
        "phase": row.phase,
        "ready": row.ready,
        "restarts": row.restarts,
        "node": text(spec_of(pod).get("nodeName")),
        "reason": "" if row.ready or row.phase == "Succeeded" else next(reasons, ""),
    }


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    about = mapping(event.get("involvedObject"))
    return {
        "time": last_time(event).isoformat(),
        "type": event.get("type"),
        "reason": event.get("reason"),
        "message": line(text(event.get("message"))),
        "object": f"{about.get('kind')} {about.get('name')}",
        "count": whole(event.get("count")) or 1,
    }
