"""What prerequisites put into a pod, as steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jobgate.explain.pod import Step
from jobgate.prerequisites.content import Content, content_of
from jobgate.prerequisites.inject import inject, target
from jobgate.prerequisites.problem import Problem
from jobgate.prerequisites.reference import Reference
from jobgate.prerequisites.resolve import Instance, Resolution, finder, resolve
from webhook import Draft, Objects


@dataclass(frozen=True, slots=True)
class Brought:
    """What the prerequisites of a task bring.

    Attributes:
        content: all of it.
        steps: one for each item.
        items: these, in their order, each with its values.
        missing: a note on those that are not known; what they bring is not shown.
        faults: what is wrong with the others.
        wish: the container that the job names for them.
    """

    content: Content = field(default_factory=Content)
    steps: tuple[Step, ...] = ()
    items: tuple[Instance, ...] = ()
    missing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    wish: str = ""

    def put(self, pod: Draft) -> list[Problem]:
        """Put all of it into a pod, and return what cannot be."""
        return inject(pod, self.content, self.wish)

    def problems(self, pod: dict[str, Any]) -> list[str]:
        """Return what is wrong, as far as it is known."""
        return [*self.faults, *(one.said() for one in self.put(Draft(pod)))]

    def container(self, pod: Any) -> str:
        """Return the name of the container that gets it."""
        found = target(pod, self.wish)
        return found if isinstance(found, str) else ""

    def wanted_plugin(self, name: str) -> str | None:
        """Return the item that brings a plugin, or None."""
        uses = ((one.item.spec.plugin, one.item.source) for one in self.items)
        return next((source for use, source in uses if use is not None and use.name == name), None)


def brought(references: Sequence[Reference], objects: Objects, namespace: str, wish: str = "") -> Brought:
    """Return what prerequisites bring.

    Args:
        references: that a task names.
        objects: the known objects.
        namespace: of the job.
        wish: the container that the job names for them.
    """
    if not references:
        return Brought()
    resolution = resolve(references, finder(objects, namespace), partial=True)
    content, conflicts = content_of(resolution)
    missing = ", ".join(dict.fromkeys(item for item, _ in resolution.unknown))
    note = f"not among the files, so not shown: {missing}; name the files that have them, too"
    faults = tuple(one.said() for one in (*resolution.problems, *conflicts))
    steps = tuple(_step(one, wish) for one in resolution.instances)
    return Brought(content, steps, resolution.instances, (note,) if missing else (), faults, wish)


def _step(one: Instance, wish: str) -> Step:
    content, _ = content_of(Resolution((one,)))
    return Step(one.item.source, lambda pod: inject(pod, content, wish))
