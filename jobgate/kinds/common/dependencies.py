"""Which tasks a task waits for: the model, and the rules of a graph in which every task can start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, Final

from crdgen import Atomic, Doc, MaxItems, Model
from jobgate.kinds.common.gang import gang_minimum, sum_of_minima
from jobgate.kinds.common.operator import runs_here
from jobgate.names import ENTRIES_LIMIT, LABEL_LIMIT, dns_label
from webhook import Cause, Context, Duplicate, Invalid, Job, NotFound, Notice, Path, Rule, Task, readable, rule
from webhook.text import shown

#: What the rule of gangs that wait for themselves reads of all tasks.
OF_GANGS: Final = ("tasks.depends_on", "tasks.min_available", "tasks.name", "tasks.replicas")
#: As many tasks as a message names, of all that there are or of those in a cycle.
NAMED_TASKS: Final = 8
#: To compare names costs: so many unknown ones are compared to so many tasks.
SUGGESTIONS: Final = 8
COMPARED_TASKS: Final = 64


class Iteration(StrEnum):
    """Whether to wait for any of the named tasks, or for all of them."""

    ANY = "any"
    ALL = "all"


class DependsOn(Model):
    """Tasks to wait for before the pods of this task are created."""

    name: Annotated[list[str] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Names of the tasks to wait for.")] = None
    iteration: Annotated[Iteration | None, Doc("Wait for any of these tasks or for all of them. Defaults to all.")] = (
        None
    )

    @property
    def any_suffices(self) -> bool:
        """Whether one of the tasks that are named is enough, where there are several."""
        return self.iteration is Iteration.ANY

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the tasks waited for: the place, and the name twice: as it is used, and as it is written."""
        for _, one in readable([self], "name"):
            for index, name in enumerate(one.name or ()):
                yield path / "name" / index, name, name


def _waits(task: Task) -> Sequence[tuple[Path, str, str]]:
    """Return the tasks that a task waits for: the place, the task's name, and the name as written."""
    dependencies = task.get("depends_on")
    return () if dependencies is None else tuple(dependencies.names(task.at("depends_on")))


@rule("tasks.depends_on", whole=("tasks.name",))
def tasks_that_are_waited_for_exist(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task that depends on a missing task never starts."""
    known = {task.name: task.written_name or "" for task in job.tasks if task.name}
    near = [name for name in list(known)[:COMPARED_TASKS] if len(name) <= LABEL_LIMIT]
    there = f"the job's tasks are {_enumerated(list(known.values()))}" if known else "no task of the job has a name"
    suggestions = 0
    for task in job.tasks:
        for place, name, written in _waits(task):
            if name in known:
                continue
            meant = get_close_matches(name, near, n=1) if suggestions < SUGGESTIONS and len(name) <= LABEL_LIMIT else ()
            suggestions += 1
            yield NotFound(place, written, f"did you mean {_said(known[meant[0]])}? {there}" if meant else there)


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

    Each cycle is reported once, at the dependency that closes it.
    """
    graph = _graph(job)
    said = {task.name: _said(task.written_name or "") for task in job.tasks if task.name}
    done: set[str] = set()
    for start in graph:
        if start in done:
            continue
        way = {start: 0}  # the tasks on the way to the present one, with how far they are
        open_edges = [iter(graph[start].items())]
        while open_edges:
            name, edge = next(open_edges[-1], (None, None))
            if name is None or edge is None:
                open_edges.pop()
                done.add(way.popitem()[0])
            elif name in way:
                circle = _circle(way, name, said)
                yield Invalid(*edge, f"dependency cycle: {circle}; none of these tasks would ever start")
            elif name not in done:
                way[name] = len(way)
                open_edges.append(iter(graph[name].items()))


def _graph(job: Job[Any]) -> Mapping[str, Mapping[str, tuple[Path, str]]]:
    """Return for each task the other tasks that it waits for, by name: the place, and the name as written there."""
    tasks: dict[str, Task] = {}
    for task in job.tasks:
        if task.name:
            tasks.setdefault(task.name, task)
    graph = {}
    for name, task in tasks.items():
        edges: dict[str, tuple[Path, str]] = {}
        for place, other, written in _waits(task):
            if other != name and other in tasks:
                edges.setdefault(other, (place, written))
        graph[name] = edges
    return graph


def _circle(way: dict[str, int], first: str, said: Mapping[str, str]) -> str:
    """Return the cycle from `first` back to itself as text; a long one is shortened in the middle."""
    names: list[str] = []
    for name in reversed(way):
        names.append(name)
        if name == first or len(names) == NAMED_TASKS:
            break
    names.reverse()
    left = len(way) - way[first] - len(names)
    if left:
        names = [first, *names] if left == 1 else [first, *names[1:]]
    shown_names = [said[name] for name in (*names, first)]
    if left > 1:
        shown_names.insert(1, f"({left} more)")
    return " → ".join(shown_names)


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
        name = _said(bound.written_name or str(bound.path))
        why = f"the gang starts with the minimum of every task, but task {name} waits for other tasks"
    else:
        return None
    most = ready if bound is None else min(ready, minima - 1)
    return f"{why}; {fix} at most {most}" if most > 0 else f"{why}; remove dependsOn"


def _enumerated(names: Sequence[str]) -> str:
    more = len(names) - NAMED_TASKS
    return ", ".join(map(_said, names[:NAMED_TASKS])) + (f" and {more} more" if more > 0 else "")


def _said(name: str) -> str:
    """Return a name for a message, in quotes if it is not a valid task name in any case."""
    return shown(name) if dns_label(name.lower()) else name


#: The rules, in the order in which a reader wants to know.
dependency_rules = (
    tasks_that_are_waited_for_exist,
    no_task_is_named_twice,
    no_task_waits_for_itself,
    no_tasks_wait_in_a_circle,
)
