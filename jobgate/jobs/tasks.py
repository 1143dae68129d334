"""The tasks of a job as the rules of all kinds see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobgate.jobs.job import Job
from jobgate.jobs.task import Task
from webhook import Path
from webhook.values import text


def listed_tasks(attribute: str, key: str) -> Callable[[Any], Iterator[Task]]:
    """Return the function that gives the tasks of a spec: the items of a list.

    Args:
        attribute: the attribute of the spec that has the list.
        key: its key in the JSON.
    """
    place = Path("spec") / key

    def tasks(spec: Any) -> Iterator[Task]:
        for index, task in enumerate(getattr(spec, attribute)):
            yield Task(place / index, task)

    return tasks


def tasks_in_fields(fields: Mapping[str, str]) -> Callable[[Any], Iterator[Task]]:
    """Return the function that gives the tasks of a spec with a field for each; a task has the name of its field.

    Args:
        fields: the keys in the JSON, by the attributes of the spec.
    """
    places = {attribute: (key.lower(), Path("spec") / key) for attribute, key in fields.items()}

    def tasks(spec: Any) -> Iterator[Task]:
        for attribute, (name, place) in places.items():
            if (task := getattr(spec, attribute)) is not None:
                yield Task(place, task, None, {"name": place}, name=name)

    return tasks


def priority_class_of(job: Job[Any], task: Task) -> str:
    """Return the priority class of a task's pods: the template's own, else the job's; empty where there is none."""
    return own_priority_class(task) or text(job.get("priority_class_name"))


def own_priority_class(task: Task) -> str:
    """Return the priority class that a task's template names; empty where it names none."""
    spec = task.template.get("spec")
    return text(spec["priorityClassName"]) if isinstance(spec, dict) and "priorityClassName" in spec else ""
