"""The prerequisites of a task, as steps that change its pods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jobgate.explain.pod import Step
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.inject import inject, target
from jobgate.prerequisites.problem import PrerequisiteProblem
from jobgate.prerequisites.reference import Reference
from jobgate.prerequisites.resolve import Instance, Resolution, finder, resolve
from webhook import Draft, Objects


@dataclass(frozen=True, slots=True)
class TaskPrerequisites:
    """The prerequisites of a task.

    Attributes:
        content: what all of them add.
        steps: one step for each item.
        items: the items in their order, with values.
        missing: a note about unknown items, which are not shown.
        faults: faults of the others.
        container_name: the container that the job names for them.
    """

    content: Injection = field(default_factory=Injection)
    steps: tuple[Step, ...] = ()
    items: tuple[Instance, ...] = ()
    missing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    container_name: str = ""

    def put(self, pod: Draft) -> list[PrerequisiteProblem]:
        """Add the content to a pod, and return problems."""
        return inject(pod, self.content, self.container_name)

    def problems(self, pod: dict[str, Any]) -> list[str]:
        """Return the known faults and problems."""
        return [*self.faults, *(one.said() for one in self.put(Draft(pod)))]

    def container(self, pod: Any) -> str:
        """Return the name of the container that gets the content."""
        found = target(pod, self.container_name)
        return found if isinstance(found, str) else ""

    def wanted_plugin(self, name: str) -> str | None:
        """Return the item that requests a plugin, or None."""
        uses = ((one.item.spec.plugin, one.item.source) for one in self.items)
        return next((source for use, source in uses if use is not None and use.name == name), None)


def prerequisites_of(
    references: Sequence[Reference], objects: Objects, namespace: str, container_name: str = ""
) -> TaskPrerequisites:
    """Return the prerequisites that a task names; `container_name` is the container that the job names for them."""
    if not references:
        return TaskPrerequisites()
    resolution = resolve(references, finder(objects, namespace), partial=True)
    content, conflicts = content_of(resolution)
    missing = ", ".join(dict.fromkeys(item for item, _ in resolution.unknown))
    note = f"not among the files, so not shown: {missing}; name the files that have them, too"
    faults = tuple(one.said() for one in (*resolution.problems, *conflicts))
    steps = tuple(_step(one, container_name) for one in resolution.instances)
    return TaskPrerequisites(content, steps, resolution.instances, (note,) if missing else (), faults, container_name)


def _step(one: Instance, container_name: str) -> Step:
    content, _ = content_of(Resolution((one,)))
    return Step(one.item.source, lambda pod: inject(pod, content, container_name))
