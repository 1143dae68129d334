"""Gangs: pods that start together, or not at all.

If tasks depend on others, the tasks with the same start condition are a gang of their own: a gang that included a task
and its dependency would never start. An order that only the kind implies, as that of a TorchJob, gives way to one gang.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobgate.jobs.progress import StartCondition
from jobgate.plugins.queueing import (
    KUEUE_COUNT,
    KUEUE_GATE,
    KUEUE_GROUP,
    KUEUE_RETRIABLE,
    Group,
    Grouping,
    System,
    group_name,
)
from jobgate.runner.actions import Patch
from jobgate.runner.state import annotations_of
from jobgate.runner.subject import Sight, Subject
from webhook.values import labels_of, mapping, text, whole


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
    minima = [(names, max(sum(map(subject.minimum, names)), subject.floor)) for names in waves.values()]
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


def given_up(pods: Iterable[Mapping[str, Any]], kept: Collection[str] = ()) -> Iterator[Patch]:
    """Yield the changes by which groups of Kueue end, except those to keep: the group names of pods that go on.

    Kueue v0.19 gives back the quota of a group, and removes its finalizer from the pods, if all pods have succeeded, or
    if none is active and one of them says that none is replaced. Until then, pods that are deleted stay.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for pod in pods:
        groups.setdefault(text(labels_of(pod).get(KUEUE_GROUP)), []).append(pod)
    for name, members in groups.items():
        annotations = [annotations_of(pod) for pod in members]
        succeeded = sum(mapping(pod.get("status")).get("phase") == "Succeeded" for pod in members)
        ends = any(each.get(KUEUE_RETRIABLE) == "false" for each in annotations)
        if name and name not in kept and not ends and annotations[0].get(KUEUE_COUNT) != str(succeeded):
            yield Patch(members[0], {"metadata": {"annotations": {KUEUE_RETRIABLE: "false"}}})


def within_group(subject: Subject, sight: Sight) -> Subject:
    """Return a job that keeps its size while Kueue counts its pods, with the reason if it should grow."""
    if not subject.in_kueue or subject.suspended or subject.state.held:
        return subject
    sizes = {
        name: whole(mapping(task.batch.get("spec")).get("completions")) or 0
        for name, task in sight.tasks.items()
        if task.batch is not None
    }
    if all(subject.replicas(name) <= size for name, size in sizes.items()):
        return subject
    return replace(subject, sizes=sizes, growth="Kueue counts the pods of a job once, until it is restarted")
