"""Gangs: the pods that start together, or not at all.

With an order, a gang is what starts together: tasks that wait for the same. A gang of pods that wait for each other's
start would never start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jobgate.kinds.common.runner import Wait
from jobgate.runner.subject import Subject

#: The API group of Kubernetes' own PodGroup.
GROUP: Final = "scheduling.k8s.io"


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together.

    Attributes:
        name: of the group.
        tasks: the names of the tasks whose pods these are.
        least: how many of them there must be room for.
    """

    name: str
    tasks: tuple[str, ...]
    least: int


def gangs(subject: Subject) -> list[Gang]:
    """Return the gangs of a job; none where it asks for none."""
    job, runner, crew = subject.job, subject.runner, subject.crew
    whole = runner.gang(job)
    waves: dict[Wait, list[str]] = {}
    for name, task in subject.tasks.items():
        if name not in runner.lonely and subject.replicas(name):
            waves.setdefault(runner.waits(job, task), []).append(name)
    if whole <= 0 or not waves:
        return []
    if len(waves) == 1:
        ((names),) = waves.values()
        total = sum(map(subject.replicas, names))
        return [Gang(crew.name, tuple(names), min(whole, total))]
    found = []
    for names in waves.values():
        minima = [_least(subject, name) for name in names]
        if sum(minima):
            found.append(Gang(subject.batch_name(names[0]), tuple(names), sum(minima)))
    return found


def _least(subject: Subject, name: str) -> int:
    stated = subject.tasks[name].min_available
    return min(subject.replicas(name) if stated is None else stated, subject.replicas(name))


def pod_group(gang: Gang, api_version: str) -> dict[str, Any]:
    """Return the PodGroup of Kubernetes' own scheduler (feature gate GenericWorkload)."""
    policy: Mapping[str, Any] = {"gang": {"minCount": gang.least}}
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": {"name": gang.name},
        "spec": {"schedulingPolicy": policy},
    }
