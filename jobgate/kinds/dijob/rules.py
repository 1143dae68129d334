"""The rules of a DIJob beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from jobgate.jobs.context import Context
from jobgate.jobs.elastic import bounds_of
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.policies import COMMAND, Action
from jobgate.jobs.status import begun_tasks, is_run
from jobgate.jobs.twins import Fault, says
from jobgate.kinds.dijob.models import DIJobSpec, TaskType
from jobgate.kinds.dijob.operator import PREEMPTIBLE
from jobgate.rules.dependencies import gangs_can_start
from jobgate.rules.shared import shared_rules
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Duplicate, Forbidden, Notice, Path, Required, Rule, rule
from webhook.values import mapping, metadata_of, objects, spec_of, text


@rule()
@says(Fault("tasks.type", '$(it) != "none" && $(tasks).exists(i, other, i < at && other.type == $(it))'))
def at_most_one_task_of_each_type(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """DI-orchestrator marks a job with two tasks of one type Failed after it is created."""
    seen: dict[TaskType, Path] = {}
    for task in job.tasks:
        role = task.get("type")
        if role is not TaskType.NONE and (first := seen.setdefault(role, task.path)) is not task.path:
            detail = f"{first} already has type {role}: increase its replicas, or use type none"
            yield Duplicate(task.at("type"), role, detail)


@rule()
@says(Fault("tasks.*", 'task.type == "none" && (!has(task.name) || task.name == "")'))
def plain_tasks_have_names(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """A typed task is named after its type; a task of type none needs a name."""
    for task in job.tasks:
        if not task.name and task.get("type") is TaskType.NONE:
            yield Required(task.at("name"), "must be set for a task of type none")


@rule("preemptible")
def preemptible_only_where_the_operator_can(job: Job[DIJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """DI-orchestrator v1.1 crashes on a preemptible job, again at every start."""
    if job.spec.preemptible and runs_here(job, context):
        if not bounds_of(job):
            detail = "has an effect only on an elastic job, with minReplicas and maxReplicas: it shrinks before others"
            yield Notice("spec.preemptible", detail)
    elif job.spec.preemptible and PREEMPTIBLE not in context.settings.operator_can:
        yield Forbidden(
            "spec.preemptible",
            "a preemptible job crashes DI-orchestrator for the whole cluster: set it to false. If the operator "
            f"is fixed, an administrator declares that with the setting operator-can: [{PREEMPTIBLE}]",
        )


@rule("template", "engine_fields")
@says(Fault("template"), Fault("engine_fields"))
def shape_is_the_one_with_tasks(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """Operator v1.0 had one template for all pods; the current operator ignores it, and creates no pod."""
    detail = "field of operator v1.0, not read since operator v1.1: convert the job with `jobgate convert FILE`"
    for field in ("template", "engine_fields"):
        if getattr(job.spec, field) is not None:
            yield Forbidden(job.at(field), detail, field)


@rule("group")
def group_is_not_used(job: Job[DIJobSpec], _: Context) -> Iterator[Notice]:
    """The samples of operator v1.1 still have this field, but its CRD drops it."""
    if job.spec.group:
        yield Notice("spec.group", "not read since operator v1.1: remove it, or use a label of the job")


@rule()
def pods_have_one_container(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """The operator waits until as many containers are ready as the job has replicas, no more and no fewer."""
    if runs_here(job, context):
        return
    for task in job.tasks:
        containers = spec_of(task.template).get("containers")
        if isinstance(containers, list) and len(containers) > 1:
            yield Notice(
                task.template_path / "spec" / "containers",
                f"with {len(containers)} containers in a pod, the job stays Starting forever: DI-orchestrator waits "
                "for as many ready containers as there are replicas. Run everything in one container",
            )


_GANGS: Final = gangs_can_start(deny=True)


@rule("tasks.depends_on")
def a_gang_can_start(job: Job[DIJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """A gang must be able to start."""
    if job.spec.min_available is not None or any(task.min_available is not None for task in job.all_tasks):
        yield from _GANGS(job, context)


def has_started(status: Mapping[str, Any]) -> bool:
    """Return from a job's status whether the operator has created its pods."""
    return status.get("phase") not in {None, "", "Pending"}


#: Phases of jobs whose pods do not start again.
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def _stored(context: Context, field: str) -> dict[str, Any]:
    """Return a field of the stored job's tasks, by task name; empty if the job has not started.

    Of the task that `spec.scale` names, the replicas are those there.
    """
    old = context.old or {}
    tasks = spec_of(old).get("tasks") if has_started(mapping(old.get("status"))) else ()
    stored = {text(task.get("name")): task.get(field) for _, task in objects(tasks)}
    scale = mapping(spec_of(old).get("scale"))
    scaled = {text(scale.get("task")): scale.get("replicas")} if field == "replicas" else {}
    return stored | {name: value for name, value in scaled.items() if name in stored}


@rule(updates=True)
def fewer_pods_leave_any(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """When a job is scaled down, the operator deletes pods with any index, and it never replaces a lost pod."""
    before = _stored(context, "replicas") if not runs_here(job, context) else {}
    for task in job.tasks if before else ():
        old = before.get(task.name or "")
        if isinstance(old, int) and task.replicas < old:
            yield Notice(
                task.at("replicas"),
                "DI-orchestrator deletes pods of any index, and creates none again that is lost later. The host lists "
                "of svc in /etc/volcano name the pods that stay; DI_NODES and other variables name the first ones",
            )


@rule(updates=True)
def ranks_stay_unique(job: Job[DIJobSpec], context: Context) -> Iterator[Cause]:
    """Pods keep the DI_RANK of their start. If a task that is not the last is scaled, later tasks have other ranks.

    Not enforced if the pods of the job start again, or if the job has ended.
    """
    before = _stored(context, "replicas") if runs_here(job, context) else {}
    command = text(mapping(metadata_of(job.document).get("annotations")).get(COMMAND))
    ended = mapping((context.old or {}).get("status")).get("phase") in _ENDED
    if ended or job.spec.suspend or command == Action.RESTART_JOB:
        return
    for task, following in pairwise(job.all_tasks):
        old = before.get(task.name or "")
        if isinstance(old, int) and task.replicas != old and following.name in before:
            yield Forbidden(
                task.at("replicas"),
                f"only the last task may be scaled while the job runs, because pods keep their DI_RANK: pods of task "
                f"{following.name} would get ranks that others have. To scale this task, restart the job in the same "
                f"update with the annotation {COMMAND}: {Action.RESTART_JOB}",
                task.replicas,
            )


@rule(updates=True)
def pods_keep_their_template(job: Job[DIJobSpec], context: Context) -> Iterator[Notice]:
    """The runner creates all pods of a task from the template that the job started with, because batch Jobs keep it."""
    before = _stored(context, "template") if runs_here(job, context) else {}
    if is_run(context.old or {}):
        before = {name: template for name, template in before.items() if name in begun_tasks(context.old or {})}
    for task in job.tasks if before else ():
        if task.name in before and before[task.name] != task.template:
            yield Notice(
                task.template_path,
                "pods have the former template until the job is restarted, for example with the annotation "
                "jobgate.dev/command=RestartJob",
            )


#: The operator counts and deletes pods by the name and type of their task. All other fields apply to the next pods.
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
    ranks_stay_unique,
    pods_keep_their_template,
    MAY_CHANGE.rule(),
)
