"""Gangs: pods that start together, or not at all.

If tasks depend on others, the tasks with the same start condition are a gang of their own: a gang that included a task
and its dependency would never start. An order that only the kind implies, as that of a TorchJob, gives way to one gang.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.jobs.progress import StartCondition
from jobgate.plugins.queueing import KUEUE_GATE, Group, Grouping, System, group_name
from jobgate.runner.subject import Subject
from webhook.values import mapping


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together.

    Attributes:
        tasks: names of the tasks that the pods belong to.
        group: group of the pods, as the gang scheduler sees it.
    """

    tasks: tuple[str, ...]
    group: Group


def gangs(subject: Subject) -> list[Gang]:
    """Return the gangs of a job; none if it needs none."""
    if (minimum := subject.gang_minimum) <= 0:
        return []
    waves: dict[StartCondition, list[str]] = {}
    for name in subject.tasks:
        if name not in subject.runner.outside_gangs and subject.replicas(name):
            waves.setdefault(subject.start_condition(name), []).append(name)
    if not waves:
        return []
    if len(waves) == 1:
        (names,) = waves.values()
        return [_gang(subject, subject.crew.name, names, minimum)]
    minima = [(names, max(sum(_minimum(subject, name) for name in names), subject.floor)) for names in waves.values()]
    return [_gang(subject, subject.batch_name(names[0]), names, minimum) for names, minimum in minima if minimum]


def _gang(subject: Subject, name: str, tasks: list[str], minimum: int) -> Gang:
    crew, size = subject.crew, sum(map(subject.replicas, tasks))
    kueue = _kueue_group(subject, name)
    return Gang(tuple(tasks), Group(name, kueue, min(minimum, size), size, crew.queue, crew.priority_class))


def _kueue_group(subject: Subject, name: str) -> str:
    """Return Kueue's name of a gang. Each attempt has another: a workload of an earlier one counts its own pods."""
    suffix = f"{subject.crew.uid[:8]}-{subject.state.attempt}"
    group = group_name(name, suffix)
    if group == f"{name}-{suffix}":
        return group
    # A name that is cut loses the task: a digest distinguishes the gangs of a job.
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return group_name(name, f"{digest}-{suffix}")


def _minimum(subject: Subject, name: str) -> int:
    minimum = subject.tasks[name].min_available
    return subject.replicas(name) if minimum is None else min(minimum, subject.replicas(name))


def in_gang(gang: Gang, grouping: Grouping, template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod template whose pods belong to a gang, in the notation of the gang scheduler."""
    spec, system = dict(mapping(template.get("spec"))), grouping.system
    if system is System.KUBERNETES:
        spec["schedulingGroup"] = {"podGroupName": gang.group.name}
    elif system is System.KUEUE:
        gates = [gate for gate in spec.get("schedulingGates") or () if gate.get("name") != KUEUE_GATE]
        spec["schedulingGates"] = [*gates, {"name": KUEUE_GATE}]
    if grouping.scheduler and not spec.get("schedulerName"):
        spec["schedulerName"] = grouping.scheduler
    metadata = mapping(template.get("metadata"))
    added = {"labels": gang.group.labels(system), "annotations": gang.group.annotations(system)}
    merged = {key: {**mapping(metadata.get(key)), **values} for key, values in added.items() if values}
    return {**template, "metadata": {**metadata, **merged}, "spec": spec}
