"""What holds pods back, as the schedulers, the kubelets and the node controller report it. Pure.

The status of a job has the first causes as text; `jobgate why` shows all, with their fixes and details.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from jobgate.plugins.crew import FINALIZER
from jobgate.plugins.queueing import KUEUE_GROUP, KUEUE_QUEUE
from jobgate.runner.failures import BACKOFF_RESET
from jobgate.runner.subject import PodSeen, Sight, Subject, condition_of, later, moment
from webhook.text import first_of
from webhook.values import items, labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Seconds after which a pod that no scheduler has considered, or that has outlived its grace period, is reported.
GRACE: Final = 8.0
#: Most causes in a status, most characters of one, and most pods that one names.
_CAUSES, _LIMIT, _NAMED = 3, 400, 3
#: Reasons of containers that begin normally.
_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
#: Reasons that alternate.
_PULLS: Final = frozenset({"ErrImagePull", "ImagePullBackOff"})
_CRASH_LOOP: Final = "CrashLoopBackOff"
#: Restarts after which a container is in a crash loop, until it has run for `BACKOFF_RESET`.
_CRASHES: Final = 3
#: What a cause is about. The most important first: a later one often follows from an earlier one.
Topic = StrEnum(
    "Topic",
    "RUNNER STOPPED QUEUE CREATION GATE SCHEDULER CLAIM NODES GANG NODE DELETION IMAGE CONTAINER CRASH ORDER",
)
#: Topics of pods that have no node.
_UNPLACED: Final = frozenset({Topic.GATE, Topic.SCHEDULER, Topic.NODES, Topic.GANG})


class Cause(NamedTuple):
    """Something that holds a job back.

    Attributes:
        topic: what it is about.
        what: what is wrong. It stays the same while nothing changes, as each change is written to the job.
        fix: what to do about it.
        detail: more, which may change at each retry; for people who look now.
        pods: the pods that it holds back; empty if it is not about single pods.
    """

    topic: Topic
    what: str
    fix: str = ""
    detail: str = ""
    pods: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = f"pod{'s' if len(self.pods) > 1 else ''} {first_of(self.pods, _NAMED)}: " if self.pods else ""
        return f"{names}{self.what}"


def why_pods_wait(subject: Subject, sight: Sight) -> tuple[list[str], float | None]:
    """Return why pods do not run, and the number of seconds until that may change without a change of an object."""
    pods = [
        (f"{name}-{index}", pod)
        for name, seen in sight.tasks.items()
        for index, pod in sorted(seen.newest.items())
        if index < subject.replicas(name)
    ]
    causes, due = causes_of_pods(pods, sight.observed.now, sight.observed.unadmitted)
    if any(cause.topic in _UNPLACED for cause in causes):
        causes += [cause for group in sight.observed.groups if (cause := cause_of_group(group))]
    return list(map(str, in_order(causes)))[:_CAUSES], due


def in_order(causes: Iterable[Cause]) -> list[Cause]:
    """Return causes, the most important first."""
    return sorted(causes, key=lambda cause: list(Topic).index(cause.topic))


def causes_of_pods(
    pods: Iterable[tuple[str, PodSeen]], now: datetime, unadmitted: Mapping[str, str], crashes: int = _CRASHES
) -> tuple[list[Cause], float | None]:
    """Return what holds named pods back, and the number of seconds until that may change by itself.

    `unadmitted` says why Kueue has not admitted groups; a waiting container is in a crash loop after so many `crashes`.
    """
    due, names, causes = list[float](), dict[tuple[Topic, str], list[str]](), dict[tuple[Topic, str], Cause]()
    for name, pod in pods:
        cause, since = _cause(pod, unadmitted, crashes)
        if cause is None and pod.is_live:
            cause, stable = _crash_loop(pod, now)
            due += [stable] if cause else []
        left = 0.0 if since is None else (later(since, GRACE) - now).total_seconds()
        if cause and left > 0:
            due.append(left)
        elif cause:
            key = cause.topic, cause.what[:_LIMIT]
            causes.setdefault(key, cause)
            names.setdefault(key, []).append(name)
    merged = [cause._replace(what=key[1], pods=tuple(names[key])) for key, cause in causes.items()]
    return merged, min(due, default=None)


def _cause(pod: PodSeen, unadmitted: Mapping[str, str], crashes: int) -> tuple[Cause | None, datetime | None]:
    """Return why a pod does not run, and since when if that is worth reporting only after a while."""
    node, placed = text(spec_of(pod.document).get("nodeName")), scheduled(pod.document)
    if pod.deleted is not None:
        cause = _of_deletion(pod, node) if pod.is_live else None
        return cause, moment(metadata_of(pod.document).get("deletionTimestamp"))
    if pod.phase == "Running":
        ready = condition_of(mapping(pod.document.get("status")), "Ready")
        # The node controller sets only the condition of the pod, and no reason.
        lost = ready.get("status") == "False" and not ready.get("reason") and pod.containers
        if lost and all(container.get("ready") is True for container in pod.containers):
            return Cause(Topic.NODE, f"node {node} does not respond"), None
    if pod.phase == "Pending" and not node and placed.get("status") != "True":
        if placed.get("reason") == "SchedulingGated":
            return _gate(pod, unadmitted), None
        if not placed:
            # With a nominated node, the scheduler waits for a claim, or for pods that it evicts.
            nominated = mapping(pod.document.get("status")).get("nominatedNodeName")
            return None if nominated else Cause(Topic.SCHEDULER, "no scheduler has considered it"), pod.created
        # What follows says that preemption does not help either.
        message = text(placed.get("message")).partition(" no new claims to")[0].partition(" preemption: ")[0]
        topic = Topic.GANG if message.startswith("pod group is ") else Topic.NODES
        return Cause(topic, message) if message else None, None
    return (next(_of_containers(pod, crashes), None), None) if pod.is_live else (None, None)


def _of_deletion(pod: PodSeen, node: str) -> Cause:
    """Return why a deleted pod still runs."""
    names = [text(name) for name in items(metadata_of(pod.document).get("finalizers")) if name != FINALIZER]
    whys = [f"node {node} may be unreachable"] if node else []
    whys += [f"finalizer {', '.join(names)} keeps it"] if names else []
    return Cause(Topic.DELETION, f"deleted, and has not ended: {' or '.join(whys) or 'a finalizer may keep it'}")


def _gate(pod: PodSeen, unadmitted: Mapping[str, str]) -> Cause:
    """Return what a pod with scheduling gates waits for."""
    group, queue = (text(labels_of(pod.document).get(label)) for label in (KUEUE_GROUP, KUEUE_QUEUE))
    if not (group and queue):
        names = [text(gate.get("name")) for _, gate in objects(spec_of(pod.document).get("schedulingGates"))]
        return Cause(Topic.GATE, f"has scheduling gates{': ' if names else ''}{', '.join(names)}")
    reason = f": {unadmitted[group]}" if unadmitted.get(group) else ""
    unknown = f", which must exist, be active and have room: see Workload {group}"
    return Cause(Topic.GATE, f"Kueue has not admitted it to queue {queue}{reason or unknown}")


def _of_containers(pod: PodSeen, crashes: int) -> Iterator[Cause]:
    """Yield why containers wait."""
    for status in pod.all_containers:
        waiting = mapping(mapping(status.get("state")).get("waiting"))
        reason, message, name = text(waiting.get("reason")), text(waiting.get("message")), text(status.get("name"))
        if reason == _CRASH_LOOP:
            yield from [_crashes(status)] if (whole(status.get("restartCount")) or 0) >= crashes else ()
        elif reason in _PULLS:
            image = text(status.get("image"))
            yield Cause(Topic.IMAGE, f"ImagePullBackOff{f': image {image}' if image else ''}", detail=message)
        elif reason not in _STARTING:
            yield Cause(Topic.CONTAINER, f"{reason}: {message}", detail=f"container {name}" if name else "")


def _crash_loop(pod: PodSeen, now: datetime) -> tuple[Cause | None, float]:
    """Return which container is in a crash loop although it does not wait now, and the seconds until it is stable.

    The cause is that of containers that wait: the status does not change with each start and end of a container.
    """
    for status in pod.all_containers:
        ended = moment(_last_end(status).get("finishedAt"))
        left = (later(ended, BACKOFF_RESET) - now).total_seconds() if ended else 0.0
        has_succeeded = mapping(mapping(status.get("state")).get("terminated")).get("exitCode") == 0
        if left > 0 and (whole(status.get("restartCount")) or 0) >= _CRASHES and not has_succeeded:
            return _crashes(status), left
    return None, 0.0


def _crashes(status: Mapping[str, Any]) -> Cause:
    """Return which container is in a crash loop, with its last exit code."""
    code = whole(_last_end(status).get("exitCode"))
    name, killed = text(status.get("name")), _last_end(status).get("reason") == "OOMKilled"
    last = "" if code is None else f", last exit code {code}{' (OOMKilled)' if killed else ''}"
    what = f"{_CRASH_LOOP}: container {name} restarts repeatedly{last}"
    fix = "raise its memory limit, or let it use less" if killed else f"see kubectl logs --previous -c {name}"
    return Cause(Topic.CRASH, what, fix, text(mapping(mapping(status.get("state")).get("waiting")).get("message")))


def _last_end(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(status.get("lastState")).get("terminated"))


def cause_of_group(group: Mapping[str, Any]) -> Cause | None:
    """Return why a PodGroup is not scheduled; None if that is not known."""
    status, name = mapping(group.get("status")), text(metadata_of(group).get("name"))
    phase = text(status.get("phase"))
    # Volcano adds a condition, and keeps it when the group is scheduled; the others change theirs.
    of_volcano = text(group.get("apiVersion")).startswith("scheduling.volcano.sh/")
    if of_volcano and phase == "Running":
        return None
    types = {"Unschedulable": "True", "PodGroupScheduled": "False", "PodGroupInitiallyScheduled": "False"}
    for _, entry in objects(status.get("conditions")):
        if types.get(text(entry.get("type"))) == entry.get("status"):
            return Cause(Topic.GANG, f"PodGroup {name}: {text(entry.get('message'))[:_LIMIT]}")
    if of_volcano and phase in {"", "Pending"}:
        queue = text(spec_of(group).get("queue")) or "default"
        what = f"PodGroup {name}: Volcano has not admitted it: queue {queue} must exist, be open and have room"
        return Cause(Topic.QUEUE, what)
    return None


def scheduled(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the condition of a pod that says whether it is scheduled; empty if it has none."""
    return condition_of(mapping(pod.get("status")), "PodScheduled")
