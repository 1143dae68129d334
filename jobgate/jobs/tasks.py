"""The tasks of a job as the rules of all kinds see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook import Job, Path, Task
from webhook.values import text


def listed_tasks(spec: Any) -> Iterator[Task]:
    """Yield the neutral views of the list `tasks` of a spec."""
    place = Path("spec") / "tasks"
    for index, task in enumerate(spec.tasks):
        yield Task(place / index, task)


def priority_class_of(job: Job[Any], task: Task) -> str:
    """Return the priority class of a task's pods: the template's own, else the job's; empty where there is none."""
    return own_priority_class(task) or text(job.word("priority_class_name"))


def own_priority_class(task: Task) -> str:
    """Return the priority class that a task's template names; empty where it names none."""
    spec = task.template.get("spec")
    return text(spec["priorityClassName"]) if isinstance(spec, dict) and "priorityClassName" in spec else ""
