"""The rules of tasks that wait for tasks: every task of the graph can start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from jobgate.jobs.gangs import gang_minimum, sum_of_minima
from jobgate.jobs.operator import runs_here
from jobgate.names import dns_label
from webhook import Cause, Context, Duplicate, Invalid, Job, NotFound, Notice, Path, Rule, Task, rule
from webhook.text import shown

#: What the rule of gangs that wait for themselves reads of all tasks.
OF_GANGS: Final = ("tasks.depends_on", "tasks.min_available", "tasks.name", "tasks.replicas")
#: As many tasks as a message names, of all that there are or of those in a cycle.
NAMED_TASKS: Final = 8


def _waits(task: Task) -> Sequence[tuple[Path, str, str]]:
    """Return the tasks that a task waits for: the place, the task's name, and the name as written."""
    dependencies = task.get("depends_on")
    return () if dependencies is None else tuple(dependencies.names(task.at("depends_on")))


@rule("tasks.depends_on", whole=("tasks.name",))
def tasks_that_are_waited_for_exist(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task that depends on a missing task never starts."""
    named = [*{task.written_name: task for task in job.tasks if task.name}.values()]
    known = {task.name for task in named}
    there = f"the job's tasks are {_enumerated(named)}" if named else "no task of the job has a name"
    for task in job.tasks:
        for place, name, written in _waits(task):
            if name not in known:
                yield NotFound(place, written, there)


@rule("tasks.depends_on")
def no_task_is_named_twice(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A repeated dependency has no effect and is likely a mistake for another task."""
    for task in job.tasks:
        seen: dict[str, Path] = {}
        for place, name, written in _waits(task):
            first = seen.setdefault(name, place)
            if first is not place:
                yield Duplicate(place, written, f"already listed at {first}")


@rule("tasks.depends_on", reads=("tasks.name",))
def no_task_waits_for_itself(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task that depends on itself never starts."""
    for task in job.tasks:
        for place, name, written in _waits(task):
            if name == task.name:
                yield Invalid(place, written, "a task cannot depend on itself: remove it")
                break


@rule("tasks.depends_on", reads=("tasks.name",))
def no_tasks_wait_in_a_circle(job: Job[Any], __: Context) -> Iterator[Cause]:
    """Tasks that depend on each other never start. Volcano rejects every cycle, even with iteration any.

    Each cycle is reported once, at the dependency that closes it; a task that is in several, for one of them.
    """
    tasks = {task.name: task for task in job.tasks if task.name}
    graph = {
        name: {
            other: (place, written)
            for place, other, written in reversed(_waits(task))
            if other in tasks and other != name
        }
        for name, task in tasks.items()
    }
    stuck = _stuck(graph)
    seen: set[str] = set()
    for start in stuck:
        way, name = list[str](), start
        while name not in seen:
            seen.add(name)
            way.append(name)
            name = stuck[name]
        if name in way:
            cycle = way[way.index(name) :]
            said = " → ".join(_shortened([_said(tasks[one]) for one in (*cycle, name)]))
            place, written = graph[cycle[-1]][name]
            yield Invalid(place, written, f"dependency cycle: {said}; none of these tasks would ever start")


def _stuck(graph: Mapping[str, Mapping[str, object]]) -> Mapping[str, str]:
    """Return the tasks that never start, each with one of them that it waits for."""
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError:  # it sorts as many as can start
        started: set[str] = set()
        while ready := sorter.get_ready():
            sorter.done(*ready)
            started.update(ready)
        return {
            name: next(other for other in waits if other not in started)
            for name, waits in graph.items()
            if name not in started
        }
    return {}


def _shortened(names: list[str]) -> list[str]:
    """Return the tasks of a cycle without the middle of a long one."""
    left = len(names) - NAMED_TASKS - 1
    return names if left <= 1 else [names[0], f"({left} more)", *names[left + 1 :]]


def gangs_can_start(*, deny: bool) -> Rule:
    """Return the rule that a gang does not wait for pods which wait for it; without `deny` it only warns.

    The scheduler starts no pod of a gang before its minimum is made, and the pods of a task that waits for others are
    made when those run: so the pods of the tasks that wait for nothing must do for a gang. And where the minima of the
    tasks are enforced, as they are up to a minimum of the job below their sum, no task that waits may have one.
    """

    @rule("tasks.depends_on", reads=("min_available",), whole=OF_GANGS)
    def gangs_do_not_wait_for_themselves(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
        """Tasks without dependencies must provide the gang's minimum, as other pods are created only after they run."""
        if not deny and runs_here(job, context):
            return  # the runner makes gangs of what starts together
        waiting = [task for task in job.tasks if _waits(task)]
        if not waiting or len(waiting) == len(job.tasks):
            return  # a cycle, which its own rule reports
        stated = job.word("min_available")
        fault = _deadlock(job, waiting, "set the job's minimum to" if stated is None else "set it to")
        if fault is None:
            return
        path = waiting[0].at("depends_on") if stated is None else job.at("min_available")
        value = [written for _, _, written in _waits(waiting[0])] if stated is None else stated
        yield Invalid(path, value, fault) if deny else Notice(path, fault)

    return gangs_do_not_wait_for_themselves


def _deadlock(job: Job[Any], waiting: Sequence[Task], fix: str) -> str | None:
    """Return why no pod of a gang would ever start, and how to fix it; None if they can."""
    least, minima = gang_minimum(job), sum_of_minima(job)
    ready = sum(task.replicas for task in job.tasks) - sum(task.replicas for task in waiting)
    bound = next((task for task in waiting if task.min_available), None)
    if ready < least:
        why = f"the gang starts with {least} pods, but only {ready} do not wait for other tasks"
    elif bound is not None and least >= minima:
        why = f"the gang starts with the minimum of every task, but task {_said(bound)} waits for other tasks"
    else:
        return None
    most = ready if bound is None else min(ready, minima - 1)
    return f"{why}; {fix} at most {most}" if most > 0 else f"{why}; remove dependsOn"


def _enumerated(tasks: Sequence[Task]) -> str:
    more = len(tasks) - NAMED_TASKS
    return ", ".join(map(_said, tasks[:NAMED_TASKS])) + (f" and {more} more" if more > 0 else "")


def _said(task: Task) -> str:
    """Return what a message calls a task: its name, in quotes if it is not valid in any case."""
    name = task.written_name or str(task.path)
    return shown(name) if task.written_name and dns_label(name.lower()) else name


#: The rules, in the order in which a reader wants to know.
dependency_rules = (
    tasks_that_are_waited_for_exist,
    no_task_is_named_twice,
    no_task_waits_for_itself,
    no_tasks_wait_in_a_circle,
)
