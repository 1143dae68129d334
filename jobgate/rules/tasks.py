"""The rules of tasks, the same for every kind: they have names, one each, and names of pods that can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jobgate.jobs.operator import Operator, operator_of
from jobgate.names import GENERATED_LIMIT, LABEL, LABEL_LIMIT, SUBDOMAIN_LIMIT, dns_label
from webhook import Cause, Context, Duplicate, Invalid, Job, Path, Task, TooLong, rule

#: As many characters as the API server adds to a `generateName`, which it cuts before.
GENERATED_SUFFIX = "x" * 5


def _differ(job: Job[Any], _: Context) -> bool:
    names = job.said("tasks.name")
    return len({*names}) == len(names)


@rule(reads=("tasks.name",), quiet=_differ)
def task_names_are_unique(job: Job[Any], __: Context) -> Iterator[Cause]:
    """Pods are named after their task: two tasks with the same name would share pods."""
    seen: dict[str, Task] = {}
    for task in job.tasks:
        if not task.name:
            continue
        first = seen.setdefault(task.name, task)
        if first is not task:
            yield Duplicate(task.at("name"), task.name, f"already used by {first.path}")


@rule(reads=("tasks.name",), quiet={"tasks.name": {"pattern": LABEL}})
def task_names_are_labels(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A task's name is part of its pods' names and a label on them."""
    for task in job.tasks:
        if task.name and len(task.name) <= LABEL_LIMIT and (fault := dns_label(task.name)):
            yield Invalid(task.at("name"), task.name, fault)


def names_have_room(job: Job[Any], context: Context) -> bool:
    """Return whether the names of a job and its tasks surely are short enough for what is called by them."""
    operator, name, names = operator_of(job), context.name, job.said("tasks.name")
    if not name or len(name) > LABEL_LIMIT or None in names:
        return False
    # The name that a plain job has is a subdomain: without dots it is a label.
    if ("." in name or name != job.document["metadata"].get("name")) and dns_label(name):
        return False
    longest, most = max(names, key=len, default=""), max(job.said("tasks.replicas"), default=0)
    pod, service = operator.pod_name.format(job=name, task=longest, index=most), operator.service_name.format(job=name)
    return max(len(pod), len(service)) <= LABEL_LIMIT


@rule(reads=("tasks.name", "tasks.replicas"), quiet=names_have_room)
def derived_names_are_legal(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The operator derives the names of pods and of the Service from the job's: all must be DNS labels.

    The largest index counts. If a pod name is too long, the longer of job name and task name is reported.
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
    """Yield what of a job's name cannot be in a DNS label that begins with it; its length is another matter."""
    name = expected_name(context)
    if name and (fault := dns_label(name[:LABEL_LIMIT].rstrip("-.") or name)):
        yield Invalid(name_path(context), context.name or context.generate_name, f"{fault}: {uses()}")


def name_path(context: Context) -> Path:
    """Return where the job says what it is called."""
    return Path("metadata") / ("name" if context.name else "generateName")


def expected_name(context: Context) -> str:
    """Return the job's name, or one as long as the API server will generate; empty where it has neither.

    Of a name that is too long for any object, as much as shows that it is: what is called by it stays bounded.
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


#: The rules, in the order in which a reader wants to know.
task_rules = (task_names_are_unique, task_names_are_labels, derived_names_are_legal)
