"""One job as a graph: its tasks with their pods, what is beside them, its Events, and why it waits. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.console.jobs import phase_of, restarts_of
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.status import is_run
from jobgate.jobs.task import Task
from jobgate.offline.explanation import explain as pods_of
from jobgate.offline.judge import ReviewOptions
from jobgate.runner.subject import PodSeen, uid_of
from jobgate.runner.uncreated import last_time
from jobgate.why.causes import Situation, explain
from webhook.text import line
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Most pods, Events and tasks that are shown.
PODS, EVENTS, TASKS = 500, 50, 200


def graph(situation: Situation, options: ReviewOptions) -> dict[str, Any]:
    """Return what the page shows of a job."""
    document, kind = situation.document, situation.kind
    metadata, status = metadata_of(document), mapping(document.get("status"))
    job = job_of(kind, document)
    tasks = {task.name or "": task for task in job.tasks}
    pods = [(_task_of(pod, tasks, job), PodSeen(pod, 0)) for pod in situation.observed.pods]
    by_task: dict[str, list[PodSeen]] = {}
    for name, pod in pods:
        by_task.setdefault(name, []).append(pod)
    phase, message = phase_of(status)
    answer = explain(situation)
    unseen = situation.seen.not_checked()
    events = _events(situation)
    return {
        "job": {
            "kind": kind.kind,
            "plural": kind.qualified_plural,
            "namespace": metadata.get("namespace"),
            "name": metadata.get("name"),
            "uid": uid_of(document),
            "created": metadata.get("creationTimestamp"),
            "phase": phase,
            "message": message,
            **_counts([pod for _, pod in pods]),
            "replicas": sum(task.replicas for task in tasks.values()),
            "suspended": spec_of(document).get("suspend") is True,
            "runBy": "jobgate" if is_run(document) else "operator",
        },
        "tasks": [_task(name, task, by_task.get(name, ())) for name, task in list(tasks.items())[:TASKS]],
        "gangs": list(_gangs(situation, job, [*tasks])),
        "pods": [_pod(task, pod) for task, pod in pods[:PODS]],
        "podsTotal": len(pods),
        "objects": list(_beside(document, options)),
        "events": events[:EVENTS],
        "eventsTotal": len(events),
        "conditions": [_condition(entry) for _, entry in objects(status.get("conditions"))],
        "why": {
            "state": answer.state,
            "message": answer.message,
            "causes": [cause._asdict() for cause in answer.causes],
            "notLookedAt": [{"what": what, "why": why} for why, parts in unseen.items() for what in parts],
        },
    }


def _task(name: str, task: Task, pods: Sequence[PodSeen]) -> dict[str, Any]:
    counts, depends = _counts(pods), task.depends_on
    phases = counts["pods"]
    if not task.replicas:
        state = "empty"
    elif phases.get("Failed"):
        state = "failed"
    elif phases.get("Succeeded", 0) >= task.replicas:
        state = "succeeded"
    else:
        state = "running" if sum(phases.values()) - phases.get("Pending", 0) >= task.replicas else "waiting"
    return {
        "name": name,
        "type": task.type or "",
        "replicas": task.replicas,
        "minimum": task.min_available,
        "dependsOn": [other for _, other, _ in depends.names(task.path)] if depends else [],
        "any": bool(depends and depends.any_suffices),
        "state": state,
        **counts,
    }


def _counts(pods: Sequence[PodSeen]) -> dict[str, Any]:
    phases = dict(Counter(pod.phase for pod in pods))
    return {"pods": phases, "ready": sum(pod.ready for pod in pods), "restarts": sum(map(restarts_of, pods))}


def _task_of(pod: Mapping[str, Any], tasks: Mapping[str, Task], job: Job[Any]) -> str:
    """Return the task of a pod: a label says so, whoever made it, or else its name."""
    labels = {value for value in labels_of(pod).values() if isinstance(value, str)}
    named = next((name for name in tasks if name in labels), None)
    if named is not None:
        return named
    start, name = f"{metadata_of(job.document).get('name')}-", text(metadata_of(pod).get("name"))
    rest = name.removeprefix(start)
    return max((task for task in tasks if task and rest.startswith(f"{task}-")), key=len, default="")


def _pod(task: str, pod: PodSeen) -> dict[str, Any]:
    status = mapping(pod.document.get("status"))
    waiting = (mapping(mapping(each.get("state")).get("waiting")).get("reason") for each in pod.all_containers)
    unready = (entry.get("reason") for _, entry in objects(status.get("conditions")) if entry.get("status") == "False")
    reason = text(status.get("reason")) or next(filter(None, (*waiting, *unready)), "")
    return {
        "name": metadata_of(pod.document).get("name"),
        "task": task,
        "phase": pod.phase,
        "ready": pod.ready,
        "restarts": restarts_of(pod),
        "node": text(spec_of(pod.document).get("nodeName")),
        "reason": "" if pod.ready or pod.phase == "Succeeded" else text(reason),
    }


def _gangs(situation: Situation, job: Job[Any], names: list[str]) -> Iterator[dict[str, Any]]:
    groups = [text(metadata_of(group).get("name")) for group in situation.observed.groups]
    if groups or job.get("min_available") is not None:
        name = groups[0] if groups else text(metadata_of(job.document).get("name"))
        yield {"name": name, "minimum": gang_minimum(job), "tasks": names}


def _beside(document: Mapping[str, Any], options: ReviewOptions) -> Iterator[dict[str, str]]:
    """Yield the objects that plugins and the operator create beside the pods."""
    explanation = pods_of(dict(document), options)
    for row in explanation.beside if explanation is not None else ():
        kind, _, name = row.text.partition(" ")
        yield {"kind": kind, "name": name, "source": row.source}


def _events(situation: Situation) -> list[dict[str, Any]]:
    """Return the Events about the job and its pods, the newest first."""
    own = {uid_of(situation.document), *map(uid_of, situation.observed.pods), *map(uid_of, situation.observed.jobs)}
    found = []
    for event in situation.events.values():
        about = mapping(event.get("involvedObject"))
        if about.get("uid") in own:
            found.append(
                {
                    "time": last_time(event).isoformat(),
                    "type": event.get("type"),
                    "reason": event.get("reason"),
                    "message": line(text(event.get("message"))),
                    "object": f"{about.get('kind')} {about.get('name')}",
                    "count": whole(event.get("count")) or 1,
                }
            )
    return sorted(found, key=lambda event: event["time"], reverse=True)


def _condition(entry: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: entry.get(key) for key in ("type", "status", "reason")}
    return {**shown, "message": line(text(entry.get("message"))), "time": entry.get("lastTransitionTime")}
