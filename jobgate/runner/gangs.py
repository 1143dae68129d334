"""Gangs: the pods that start together, or not at all.

With an order, a gang is what starts together: tasks that wait for the same. A gang of pods that wait for each other's
start would never start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.jobs.runner import StartCondition
from jobgate.plugins.queueing import KUEUE_GATE, QUEUES_PODS, Group, Grouping, System, group_name
from jobgate.runner.subject import Subject
from webhook.values import mapping


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together.

    Attributes:
        tasks: the names of the tasks whose pods these are.
        group: that they are in.
    """

    tasks: tuple[str, ...]
    group: Group


def gangs(subject: Subject) -> list[Gang]:
    """Return the gangs of a job; none where it asks for none."""
    if subject.groups is None:
        return []
    job, runner, crew = subject.job, subject.runner, subject.crew
    if subject.groups.system is System.KUEUE and crew.queue in {"", runner.default_queue}:
        return []
    # What a system queues is in a group, whether it is a gang or not.
    floor = 1 if crew.queue and subject.groups.system in QUEUES_PODS else 0
    whole = max(runner.gang(job), floor)
    waves: dict[StartCondition, list[str]] = {}
    for name, task in subject.tasks.items():
        if name not in runner.lonely and subject.replicas(name):
            waves.setdefault(runner.waits(job, task), []).append(name)
    if whole <= 0 or not waves:
        return []
    found = []
    for names in waves.values():
        size = sum(map(subject.replicas, names))
        least = whole if len(waves) == 1 else max(sum(_least(subject, name) for name in names), floor)
        name = crew.name if len(waves) == 1 else subject.batch_name(names[0])
        if least:
            kueue = _kueue_group(subject, name)
            group = Group(name, kueue, min(least, size), size, crew.queue, crew.priority_class)
            found.append(Gang(tuple(names), group))
    return found


def _kueue_group(subject: Subject, name: str) -> str:
    """Return what Kueue calls a gang. A workload that it has kept of an earlier attempt counts the pods of that one."""
    which = f"{subject.crew.uid[:8]}-{subject.state.attempt}"
    group = group_name(name, which)
    if group == f"{name}-{which}":
        return group
    # Where the name is cut, that of the task is lost: a digest tells the gangs of a job apart.
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return group_name(name, f"{digest}-{which}")


def _least(subject: Subject, name: str) -> int:
    stated = subject.tasks[name].min_available
    return min(subject.replicas(name) if stated is None else stated, subject.replicas(name))


def in_gang(gang: Gang, grouping: Grouping, template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod template that says to which gang its pods belong, as the system reads it."""
    spec, system = dict(mapping(template.get("spec"))), grouping.system
    if system is System.KUBERNETES:
        spec["schedulingGroup"] = {"podGroupName": gang.group.name}
    elif system is System.KUEUE:
        gates = [one for one in spec.get("schedulingGates") or () if one.get("name") != KUEUE_GATE]
        spec["schedulingGates"] = [*gates, {"name": KUEUE_GATE}]
    if grouping.scheduler and not spec.get("schedulerName"):
        spec["schedulerName"] = grouping.scheduler
    metadata = mapping(template.get("metadata"))
    marks = {"labels": gang.group.labels(system), "annotations": gang.group.annotations(system)}
    marked = {key: {**mapping(metadata.get(key)), **more} for key, more in marks.items() if more}
    return {**template, "metadata": {**metadata, **marked}, "spec": spec}
