"""The rule of priorities: the tasks of a gang have one each, or none has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jobgate.kinds.common.gang import gang_minimum
from jobgate.kinds.common.operator import operator_of
from jobgate.kinds.common.pod.reading import text
from jobgate.plugins.queueing import Queueing
from webhook import Context, Job, Notice, Task, rule
from webhook.text import shown

#: As many tasks as a message names.
NAMED_TASKS = 3


def priority_class_of(job: Job[Any], task: Task) -> str:
    """Return the priority class of a task's pods: the template's own, else the job's; empty where there is none."""
    return own_priority_class(task) or text(job.word("priority_class_name"))


def own_priority_class(task: Task) -> str:
    """Return the priority class that a task's template names; empty where it names none."""
    spec = task.template.get("spec")
    return text(spec["priorityClassName"]) if isinstance(spec, dict) and "priorityClassName" in spec else ""


@rule(
    reads=("min_available", "priority_class_name"),
    whole=("tasks.min_available", "tasks.name", "tasks.replicas", "tasks.template"),
    quiet=("tasks.template.spec.priorityClassName",),
)
def a_gang_has_priorities_throughout(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A gang waits for its pods with the lowest priority, so all its tasks should have a priority class."""
    if text(job.word("priority_class_name")):
        return  # all have it
    having = [task for task in job.tasks if task.replicas and own_priority_class(task)]
    if not having or not _is_gang(job, context):
        return
    without = [task for task in job.tasks if task.replicas and not own_priority_class(task)]
    for task in without:
        yield Notice(
            task.template_path / "spec" / "priorityClassName",
            f"not set, but {_called(having)} of this gang {'has' if len(having) == 1 else 'have'} a priority "
            "class: the gang waits for these pods, which get the default priority of the cluster",
        )


def _is_gang(job: Job[Any], context: Context) -> bool:
    """Return whether pods start together: the job says so, or who runs it has every job as a gang."""
    if job.kind.qualified_plural in context.settings.runs:
        return Queueing.name in context.settings.plugins and gang_minimum(job) > 1
    by_default = "min_available" in operator_of(job).supports
    said = job.word("min_available") is not None or any(task.min_available is not None for task in job.tasks)
    return (said or by_default) and gang_minimum(job) > 1


def _called(tasks: Sequence[Task]) -> str:
    names = [shown(task.name) if task.name else str(task.path) for task in tasks[:NAMED_TASKS]]
    if len(tasks) > NAMED_TASKS:
        names.append(f"{len(tasks) - NAMED_TASKS} more")
    *most, last = names
    return f"{'tasks' if most else 'task'} {', '.join(most)}{' and ' if most else ''}{last}"


#: The rules, in the order in which a reader wants to know.
priority_rules = (a_gang_has_priorities_throughout,)
