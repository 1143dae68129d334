"""The rules of a DIJob beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.operator import runs_here
from jobgate.kinds.dijob.models import DIJobSpec, TaskType
from jobgate.kinds.dijob.operator import PREEMPTIBLE
from jobgate.rules.dependencies import OF_GANGS, gangs_can_start
from jobgate.rules.shared import shared_rules
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Context, Duplicate, Forbidden, Job, Notice, Path, Required, Rule, readable, rule
from webhook.values import mapping, objects, text


def _roles_differ(job: Job[DIJobSpec], _: Context) -> bool:
    roles = [role for role in job.said("tasks.type") if role != TaskType.NONE]
    return len({*roles}) == len(roles)


@rule(reads=("tasks.type",), quiet=_roles_differ)
def at_most_one_task_of_each_type(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """DI-orchestrator marks a job with two tasks of one type Failed after it is created."""
    seen: dict[TaskType, Path] = {}
    for task in job.tasks:
        role = task.word("type")
        if role is not TaskType.NONE and (first := seen.setdefault(role, task.path)) is not task.path:
            detail = f"{first} already has type {role}: increase its replicas, or use type none"
            yield Duplicate(task.at("type"), role, detail)


@rule(reads=("tasks.type", "tasks.name"), quiet={"tasks.name": {"minLength": 1, "required": True}})
def plain_tasks_have_names(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """A typed task is named after its type; a task of type none needs a name."""
    for task in job.tasks:
        if not task.name and task.word("type") is TaskType.NONE:
            yield Required(task.at("name"), "must be set for a task of type none")


@rule("preemptible", quiet=lambda job, _: not job.said("preemptible"))
def preemptible_only_where_the_operator_can(job: Job[DIJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """DI-orchestrator v1.1 crashes on a preemptible job, again at every start."""
    if job.spec.preemptible and runs_here(job, context):
        yield Notice("spec.preemptible", "the runner ignores this field")
    elif job.spec.preemptible and PREEMPTIBLE not in context.settings.operator_can:
        yield Forbidden(
            "spec.preemptible",
            "a preemptible job crashes DI-orchestrator for the whole cluster: set it to false. If the operator "
            f"is fixed, an administrator declares that with the setting operator-can: [{PREEMPTIBLE}]",
        )


@rule("template", "engine_fields")
def shape_is_the_one_with_tasks(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """Operator v1.0 had one template for all pods; the current operator ignores it, and creates no pod."""
    detail = "field of operator v1.0, not read since operator v1.1: convert the job with `jobgate convert FILE`"
    for word in ("template", "engine_fields"):
        if job.word(word) is not None:
            yield Forbidden(job.at(word), detail, word)


@rule("group")
def group_is_not_used(job: Job[DIJobSpec], _: Context) -> Iterator[Notice]:
    """The samples of operator v1.1 still have this field, but its CRD drops it."""
    if job.spec.group:
        yield Notice("spec.group", "not read since operator v1.1: remove it, or use a label of the job")


def _one_each(job: Job[DIJobSpec], _: Context) -> bool:
    return all(len(template["spec"]["containers"]) == 1 for template in job.said("tasks.template"))


@rule(reads=("tasks.template",), quiet=_one_each)
def pods_have_one_container(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """The operator waits until as many containers are ready as the job has replicas, no more and no fewer."""
    if runs_here(job, context):
        return
    for task in job.tasks:
        containers = mapping(task.template.get("spec")).get("containers")
        if isinstance(containers, list) and len(containers) > 1:
            yield Notice(
                task.template_path / "spec" / "containers",
                f"with {len(containers)} containers in a pod, the job stays Starting forever: DI-orchestrator waits "
                "for as many ready containers as there are replicas. Run everything in one container",
            )


@rule("min_available", "tasks.min_available", reads=("min_available",), whole=OF_GANGS)
def a_gang_can_start(job: Job[DIJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """A gang must be able to start."""
    yield from gangs_can_start(deny=True)(job, context)


def has_started(status: Mapping[str, Any]) -> bool:
    """Tell from a job's status whether the operator has made pods of it."""
    return status.get("phase") not in {None, "", "Pending"}


def _stored(context: Context, field: str) -> dict[str, Any]:
    """Return a field of the tasks of a stored job by their names; nothing where the job has not started."""
    old = context.old or {}
    tasks = mapping(old.get("spec")).get("tasks") if has_started(mapping(old.get("status"))) else ()
    return {text(one.get("name")): one.get(field) for _, one in objects(tasks)}


def _has_not_started(_: Job[DIJobSpec], context: Context) -> bool:
    return not has_started(mapping((context.old or {}).get("status")))


@rule("tasks", updates=True, quiet=_has_not_started)
def fewer_pods_leave_any(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """Scaling down, the operator deletes pods of any index, and never creates a lost one again."""
    before = _stored(context, "replicas") if not runs_here(job, context) else {}
    for index, task in readable(job.spec.tasks, "name", "replicas"):
        old = before.get(task.name or "")
        if isinstance(old, int) and task.replicas is not None and task.replicas < old:
            yield Notice(
                f"spec.tasks[{index}].replicas",
                "DI-orchestrator deletes pods of any index, and creates none again that is lost later. The host lists "
                "of svc in /etc/volcano name the pods that stay; DI_NODES and other variables name the first ones",
            )


@rule("tasks", reads=("tasks.name", "tasks.template"), updates=True, quiet=_has_not_started)
def pods_keep_their_template(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """The runner creates the pods of a task from the template with which it was started, as batch Jobs keep theirs."""
    before = _stored(context, "template") if runs_here(job, context) else {}
    for task in job.tasks:
        if task.name in before and before[task.name] != task.template:
            yield Notice(
                task.template_path,
                "pods have the former template until the job is restarted, for example with the annotation "
                "jobgate.dev/command=RestartJob",
            )


#: A task is known by name and type: pods that run are counted, and taken away, by them. All else the operator takes up
#: when it next makes a pod.
MAY_CHANGE = MayChange(
    {
        "spec": Mutable.ALWAYS,
        "spec.tasks[*].name": Mutable.BEFORE_IT_RUNS,
        "spec.tasks[*].type": Mutable.BEFORE_IT_RUNS,
    },
    runs=has_started,
    keys={"spec.tasks": "name"},
)

RULES: tuple[Rule, ...] = (
    shape_is_the_one_with_tasks,
    group_is_not_used,
    at_most_one_task_of_each_type,
    plain_tasks_have_names,
    preemptible_only_where_the_operator_can,
    pods_have_one_container,
    *shared_rules(),
    a_gang_can_start,
    fewer_pods_leave_any,
    pods_keep_their_template,
    MAY_CHANGE.rule(),
)
