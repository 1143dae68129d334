"""Rules for the names of tasks, and for the names that are derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from crdgen.dns import LABEL_1123
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.operator import Operator, operator_of
from jobgate.jobs.task import Task
from jobgate.jobs.twins import Fault, says
from jobgate.names import GENERATED_LIMIT, LABEL_LIMIT, SUBDOMAIN_LIMIT, dns_label
from webhook import Cause, Duplicate, Invalid, Path, TooLong, UnknownField, rule


def _operator(kind: CustomKind) -> Operator:
    if not isinstance(operator := getattr(kind, "operator", None), Operator):
        raise UnknownField("operator")
    return operator


def _name_is_legal(kind: CustomKind) -> Fault:
    """Return what CEL says of the job's name: its characters, and its length in the name of the Service."""
    service = _operator(kind).service_name.format(job="")
    return Fault("metadata.name", f'size($(it)) > {LABEL_LIMIT - len(service)} || $(it).contains(".")')


def pod_names_are_short(kind: CustomKind) -> Fault:
    """Return what CEL says of the names of a task's pods."""
    around = len(_operator(kind).pod_name.format(job="", task="", index=""))
    index = "string($(tasks.replicas) > 0 ? $(tasks.replicas) - 1 : 0)"
    names = f"size(object.metadata.name) + size($(it)) + size({index})"
    return Fault("tasks.name", f"$(it) != '' && {names} > {LABEL_LIMIT - around}")


#: The API server adds five characters to a `generateName`, which it shortens first.
GENERATED_SUFFIX = "x" * 5


@rule()
@says(Fault("tasks.name", '$(it) != "" && $(tasks).exists(i, other, i < at && other.?name.orValue("") == $(it))'))
def task_names_are_unique(job: Job[Any], __: Context) -> Iterator[Cause]:
    """Pods are named after their task: two tasks with the same name would share pods."""
    names = [task.name for task in job.tasks if task.name]
    if len({*names}) == len(names):
        return
    seen: dict[str, Task] = {}
    for task in job.tasks:
        if not task.name:
            continue
        first = seen.setdefault(task.name, task)
        if first is not task:
            yield Duplicate(task.at("name"), task.name, f"already used by {first.path}")


@rule()
@says(Fault("tasks.name", f'size($(it)) <= {LABEL_LIMIT} && !$(it).matches("^({LABEL_1123})?$")'))
def task_names_are_labels(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task's name is part of its pods' names and a label on them."""
    for task in job.tasks:
        if task.name and len(task.name) <= LABEL_LIMIT and (fault := dns_label(task.name)):
            yield Invalid(task.at("name"), task.name, fault)


@rule()
@says(_name_is_legal, pod_names_are_short)
def derived_names_are_legal(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The operator derives the names of pods and of the Service from the job's: all must be DNS labels.

    Each task's last pod has the longest name. If it is too long, the longer of job name and task name is reported.
    """
    operator = operator_of(job)
    name = expected_name(context)
    if not name:
        return
    place = name_path(context)
    yield from labels_can_begin_with_the_name(context, lambda: _uses(operator))
    longest = LABEL_LIMIT - len(operator.service_name.format(job="")) if operator.service_name else LABEL_LIMIT
    around = len(operator.pod_name.format(job=name, task="", index=""))
    for task in job.tasks:
        if not task.name:
            continue
        excess = around + len(task.name) + len(str(max(task.replicas - 1, 0))) - LABEL_LIMIT
        if excess > 0 and len(task.name) > len(name):
            detail = f"the pods are named {_pattern(operator)}; each name may have at most {LABEL_LIMIT} characters"
            yield TooLong(task.at("name"), task.name, max(len(task.name) - excess, 0), detail)
        elif excess > 0:
            longest = min(longest, len(name) - excess)
    if len(name) > longest:
        room = longest if context.name else longest - len(GENERATED_SUFFIX)
        yield TooLong(place, context.name or context.generate_name, max(room, 0), _uses(operator))


def labels_can_begin_with_the_name(context: Context, uses: Callable[[], str]) -> Iterator[Cause]:
    """Yield the characters of a job's name that no DNS label may have; its length is not checked."""
    name = expected_name(context)
    if name and (fault := dns_label(name[:LABEL_LIMIT].rstrip("-.") or name)):
        yield Invalid(name_path(context), context.name or context.generate_name, f"{fault}: {uses()}")


def name_path(context: Context) -> Path:
    """Return the path of the field that names the job."""
    return Path("metadata") / ("name" if context.name else "generateName")


def expected_name(context: Context) -> str:
    """Return the job's name, or a name as long as the API server would generate; empty if it has neither.

    A name is cut one character after the limit of all objects, so that the names derived from it stay bounded.
    """
    if context.name or not context.generate_name:
        return context.name[: SUBDOMAIN_LIMIT + 1]
    return context.generate_name[:GENERATED_LIMIT] + GENERATED_SUFFIX


def _uses(operator: Operator) -> str:
    service = f" and the Service {operator.service_name.format(job='<job>')}" if operator.service_name else ""
    return (
        f"{operator.name} names the pods {_pattern(operator)}{service}; each name may have at most "
        f"{LABEL_LIMIT} characters"
    )


def _pattern(operator: Operator) -> str:
    return operator.pod_name.format(job="<job>", task="<task>", index="<index>")


#: The rules, in the order of the documentation.
task_rules = (task_names_are_unique, task_names_are_labels, derived_names_are_legal)
