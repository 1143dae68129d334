"""Rules for tasks that wait for other tasks: every task must be able to start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from msgspec import Struct

from jobgate.jobs.context import Context
from jobgate.jobs.gangs import gang_minimum, sum_of_minima, total_pods
from jobgate.jobs.job import Job, computed_once
from jobgate.jobs.operator import runs_here
from jobgate.jobs.task import Task
from jobgate.jobs.twins import Fault, says
from jobgate.names import LABEL_LIMIT, dns_label
from webhook import Cause, Duplicate, Invalid, NotFound, Notice, Path, Rule, rule
from webhook.text import first_of, shown

#: The field with the names, for CEL.
_NAMES: Final = "tasks.depends_on.name"

#: Maximum number of tasks in a message.
NAMED_TASKS: Final = 8


class _Waiting(Struct, frozen=True):
    """A task that depends on others; for each dependency: its path, the name, and the name as written."""

    task: Task
    names: Sequence[tuple[Path, str, str]]


@computed_once
def _waiting(job: Job[Any]) -> Sequence[_Waiting]:
    """Return the tasks with dependencies that the rule can read."""
    return _waiting_of(job.tasks)


def _waiting_of(tasks: Iterable[Task]) -> Sequence[_Waiting]:
    dependent = [(task, task.get("depends_on")) for task in tasks]
    waiting = [
        _Waiting(task, [*dependencies.names(task.at("depends_on"))])
        for task, dependencies in dependent
        if dependencies is not None
    ]
    return [task for task in waiting if task.names]


@rule("tasks.depends_on")
@says(Fault(_NAMES, "$(it).exists(name, !$(tasks).exists(task, has($(tasks.name)) && $(tasks.name) == name))"))
def tasks_that_are_waited_for_exist(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task that depends on a missing task never starts."""
    known = {task.name: task for task in job.all_tasks if task.name}
    left = 1000 // max(len(known), 1)  # hints, each for as many comparisons as there are names
    for waiting in _waiting(job):
        for place, name, written in waiting.names:
            if name not in known:
                part, close = job.kind.part, get_close_matches(name[:LABEL_LIMIT], known, n=1) if left > 0 else ()
                hint = f"did you mean {_displayed(known[close[0]])}? " if close else ""
                candidates = {task.written_name: task for task in known.values()}
                names = first_of([*map(_displayed, candidates.values())], NAMED_TASKS)
                listed = f"the job's {part}s are {names}" if names else f"no {part} of the job has a name"
                yield NotFound(place, written, hint + listed)
                left -= 1


@rule("tasks.depends_on")
@says(Fault(_NAMES, "$(it).exists(i, name, $(it).indexOf(name) < i)"))
def no_task_is_named_twice(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A repeated dependency has no effect and is likely a mistake for another task."""
    for waiting in _waiting(job):
        seen: dict[str, Path] = {}
        for place, name, written in waiting.names:
            first = seen.setdefault(name, place)
            if first is not place:
                yield Duplicate(place, written, f"already listed at {first}")


@rule("tasks.depends_on")
@says(Fault(_NAMES, "has($(tasks.name)) && $(tasks.name) in $(it)"))
def no_task_waits_for_itself(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task that depends on itself never starts."""
    for waiting in _waiting(job):
        for place, name, written in waiting.names:
            if name == waiting.task.name:
                yield Invalid(place, written, f"a {job.kind.part} cannot depend on itself: remove it")
                break


@rule("tasks.depends_on")
def no_tasks_wait_in_a_circle(job: Job[Any], __: Context) -> Iterator[Cause]:
    """Tasks that depend on each other never start. Volcano rejects every cycle, even with iteration any.

    Each cycle is reported once, at the dependency that closes it. A task in several cycles is reported for one.
    """
    tasks = {task.name: task for task in job.tasks if task.name}
    names = {
        each.task.name: each.names
        for each in _waiting(job)
        if each.task.name and tasks.get(each.task.name) is each.task
    }
    graph = {
        name: {
            awaited: (place, written)
            for place, awaited, written in reversed(names.get(name, ()))
            if awaited in tasks and awaited != name
        }
        for name in tasks
    }
    stuck = _stuck(graph)
    seen: set[str] = set()
    for start in stuck:
        visited, name = list[str](), start
        while name not in seen:
            seen.add(name)
            visited.append(name)
            name = stuck[name]
        if name in visited:
            cycle = visited[visited.index(name) :]
            chain = " → ".join(_shortened([_displayed(tasks[member]) for member in (*cycle, name)]))
            place, written = graph[cycle[-1]][name]
            yield Invalid(place, written, f"dependency cycle: {chain}; none of these {job.kind.part}s would ever start")


def _stuck(graph: Mapping[str, Mapping[str, object]]) -> Mapping[str, str]:
    """Return the tasks that never start, each with one such task that it depends on."""
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError:  # tasks outside of cycles can still be sorted
        started: set[str] = set()
        while ready := sorter.get_ready():
            sorter.done(*ready)
            started.update(ready)
        return {
            name: next(dependency for dependency in dependencies if dependency not in started)
            for name, dependencies in graph.items()
            if name not in started
        }
    return {}


def _shortened(names: list[str]) -> list[str]:
    """Return the names of a cycle; the middle of a long cycle is left out."""
    omitted = len(names) - NAMED_TASKS - 1
    return names if omitted <= 1 else [names[0], f"({omitted} more)", *names[omitted + 1 :]]


def gangs_can_start(*, deny: bool) -> Rule:
    """Return the rule that finds gangs which wait for themselves; without `deny` it only warns.

    The scheduler starts no pod of a gang before the gang's minimum of pods exists. The pods of a task with dependencies
    are created when those run. So the tasks without dependencies must provide the minimum. The minimums of tasks are
    enforced unless the job's minimum is below their sum; then no task with dependencies may have a minimum.
    """

    @rule("tasks.depends_on")
    def gangs_do_not_wait_for_themselves(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
        """Tasks without dependencies must provide the gang's minimum, as other pods are created only after they run."""
        if not deny and runs_here(job, context):
            return  # the runner's gangs contain only pods that start together
        waiting = _waiting_of(job.all_tasks)
        if not waiting or len(waiting) == len(job.all_tasks):
            return  # a cycle, which its own rule reports
        minimum = job.get("min_available")
        fault = _deadlock(
            job, [each.task for each in waiting], "set the job's minimum to" if minimum is None else "set it to"
        )
        if fault is None:
            return
        first = waiting[0]
        path = first.task.at("depends_on") if minimum is None else job.at("min_available")
        value = [written for _, _, written in first.names] if minimum is None else minimum
        yield Invalid(path, value, fault) if deny else Notice(path, fault)

    return gangs_do_not_wait_for_themselves


def _deadlock(job: Job[Any], waiting: Sequence[Task], fix: str) -> str | None:
    """Return why no pod of a gang would ever start, and how to fix it; None if they can start."""
    minimum, minima = gang_minimum(job), sum_of_minima(job)
    independent = total_pods(job) - sum(task.replicas for task in waiting)
    with_minimum = next((task for task in waiting if task.min_available), None)
    if independent < minimum:
        why = f"the gang starts with {minimum} pods, but only {independent} do not wait for other tasks"
    elif with_minimum is not None and minimum >= minima:
        task_name = _displayed(with_minimum)
        why = f"the gang starts with the minimum of every task, but task {task_name} waits for other tasks"
    else:
        return None
    limit = independent if with_minimum is None else min(independent, minima - 1)
    return f"{why}; {fix} at most {limit}" if limit > 0 else f"{why}; remove dependsOn"


def _displayed(task: Task) -> str:
    """Return the name of a task for messages, in quotes if it is invalid even in lower case."""
    name = task.written_name or str(task.path)
    return shown(name) if task.written_name and dns_label(name.lower()) else name


#: The rules, in the order of the documentation.
dependency_rules = (
    tasks_that_are_waited_for_exist,
    no_task_is_named_twice,
    no_task_waits_for_itself,
    no_tasks_wait_in_a_circle,
)
