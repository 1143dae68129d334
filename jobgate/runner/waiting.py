"""Why pods of a job do not run, as the schedulers, the kubelets and the node controller report it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from jobgate.plugins.queueing import KUEUE_GROUP
from jobgate.runner.failures import BACKOFF_RESET
from jobgate.runner.subject import PodSeen, Sight, Subject, condition_of, later, moment
from webhook.text import first_of
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Seconds after which a pod that no scheduler has considered, or that has outlived its grace period, is reported.
GRACE: Final = 8.0
#: Most reasons that are reported, most characters of one, and most pods that one names.
_REASONS, _LIMIT, _NAMED = 3, 400, 3
#: Reasons of containers that begin normally.
_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
#: Reasons that alternate, and whose messages change at each retry: one is reported, without message.
_PULLS: Final = frozenset({"ErrImagePull", "ImagePullBackOff"})
_CRASH_LOOP: Final = "CrashLoopBackOff"
#: Restarts after which a container is in a crash loop, until it has run for `BACKOFF_RESET`.
_CRASHES: Final = 3


def why_pods_wait(subject: Subject, sight: Sight) -> tuple[list[str], float | None]:
    """Return why pods do not run, and the number of seconds until that may change without a change of an object."""
    now, due, reasons = sight.observed.now, list[float](), dict[str, list[str]]()
    unplaced = False
    for name, seen in sight.tasks.items():
        pods = [(index, pod) for index, pod in sorted(seen.newest.items()) if index < subject.replicas(name)]
        for index, pod in pods:
            reason, since = _reason(subject, pod, sight.observed.unadmitted)
            if not reason and pod.is_live:
                reason, stable = _crash_loop(pod, now)
                due += [stable] if reason else []
            left = 0.0 if since is None else (later(since, GRACE) - now).total_seconds()
            if reason and left > 0:
                due.append(left)
            elif reason:
                unplaced = unplaced or scheduled(pod.document).get("status") != "True"
                reasons.setdefault(reason[:_LIMIT], []).append(f"{name}-{index}")
    groups = [reason for group in sight.observed.groups if unplaced and (reason := _of_group(group))]
    of_pods = [f"{_named(names)}: {reason}" for reason, names in reasons.items()]
    return [*groups, *of_pods][:_REASONS], min(due, default=None)


def _reason(subject: Subject, pod: PodSeen, unadmitted: Mapping[str, str]) -> tuple[str, Any]:
    """Return why a pod does not run, and since when if that is worth reporting only after a while."""
    node, placed = text(spec_of(pod.document).get("nodeName")), scheduled(pod.document)
    if pod.deleted is not None:
        end = moment(metadata_of(pod.document).get("deletionTimestamp"))
        where = f"node {node} may be unreachable" if node else "a finalizer may keep it"
        return (f"deleted, and has not ended: {where}", end) if pod.is_live else ("", None)
    if pod.phase == "Running":
        ready = condition_of(mapping(pod.document.get("status")), "Ready")
        # The node controller sets only the condition of the pod, and no reason.
        lost = ready.get("status") == "False" and not ready.get("reason") and pod.containers
        if lost and all(container.get("ready") is True for container in pod.containers):
            return f"node {node} does not respond", None
    if pod.phase == "Pending" and not node and placed.get("status") != "True":
        if placed.get("reason") == "SchedulingGated":
            return _gate(subject, pod, unadmitted), None
        return (text(placed.get("message")), None) if placed else ("no scheduler has considered it", pod.created)
    return (next(_of_containers(pod), ""), None) if pod.is_live else ("", None)


def _gate(subject: Subject, pod: PodSeen, unadmitted: Mapping[str, str]) -> str:
    """Return what a pod with scheduling gates waits for."""
    group = text(labels_of(pod.document).get(KUEUE_GROUP))
    if not (group and subject.in_kueue):
        return "has scheduling gates"
    reason = f": {unadmitted[group]}" if unadmitted.get(group) else ""
    unknown = f", which must exist, be active and have room: see Workload {group}"
    return f"Kueue has not admitted it to queue {subject.crew.queue}{reason or unknown}"


def _of_containers(pod: PodSeen) -> Iterator[str]:
    """Yield why containers wait."""
    for status in pod.all_containers:
        waiting = mapping(mapping(status.get("state")).get("waiting"))
        reason = text(waiting.get("reason"))
        if reason == _CRASH_LOOP:
            yield from [_crashes(status)] if _restarts(status) >= _CRASHES else ()
        elif reason in _PULLS:
            yield "ImagePullBackOff"
        elif reason not in _STARTING:
            yield f"{reason}: {text(waiting.get('message'))}"


def _crash_loop(pod: PodSeen, now: datetime) -> tuple[str, float]:
    """Return which container is in a crash loop although it does not wait now, and the seconds until it is stable.

    The reason is that of containers that wait: the status does not change with each start and end of a container.
    """
    for status in pod.all_containers:
        ended = moment(_last_end(status).get("finishedAt"))
        left = (later(ended, BACKOFF_RESET) - now).total_seconds() if ended else 0.0
        has_succeeded = mapping(mapping(status.get("state")).get("terminated")).get("exitCode") == 0
        if left > 0 and _restarts(status) >= _CRASHES and not has_succeeded:
            return _crashes(status), left
    return "", 0.0


def _crashes(status: Mapping[str, Any]) -> str:
    """Return which container is in a crash loop, with its last exit code."""
    code = whole(_last_end(status).get("exitCode"))
    last = "" if code is None else f", last exit code {code}"
    return f"{_CRASH_LOOP}: container {text(status.get('name'))} restarts repeatedly{last}"


def _restarts(status: Mapping[str, Any]) -> int:
    return whole(status.get("restartCount")) or 0


def _last_end(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(status.get("lastState")).get("terminated"))


def _of_group(group: Mapping[str, Any]) -> str:
    """Return why a PodGroup is not scheduled; empty if that is not known."""
    status, name = mapping(group.get("status")), text(metadata_of(group).get("name"))
    phase = text(status.get("phase"))
    # Volcano adds a condition, and keeps it when the group is scheduled; the others change theirs.
    of_volcano = text(group.get("apiVersion")).startswith("scheduling.volcano.sh/")
    if of_volcano and phase == "Running":
        return ""
    types = {"Unschedulable": "True", "PodGroupScheduled": "False", "PodGroupInitiallyScheduled": "False"}
    for _, entry in objects(status.get("conditions")):
        if types.get(text(entry.get("type"))) == entry.get("status"):
            return f"PodGroup {name}: {text(entry.get('message'))[:_LIMIT]}"
    if of_volcano and phase in {"", "Pending"}:
        queue = text(spec_of(group).get("queue")) or "default"
        return f"PodGroup {name}: Volcano has not admitted it: queue {queue} must exist, be open and have room"
    return ""


def scheduled(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the condition of a pod that says whether it is scheduled; empty if it has none."""
    return condition_of(mapping(pod.get("status")), "PodScheduled")


def _named(names: Sequence[str]) -> str:
    return f"pod{'s' if len(names) > 1 else ''} {first_of(names, _NAMED)}"
