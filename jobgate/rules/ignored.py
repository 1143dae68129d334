"""Rules for fields that the operator ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from jobgate.jobs.context import Context
from jobgate.jobs.crew import plugins_of
from jobgate.jobs.job import Job
from jobgate.jobs.operator import operator_of, runs_here, who_runs
from jobgate.jobs.runner import Runner, runner_of
from jobgate.plugins.queueing import Queueing
from webhook import Cause, Forbidden, Notice, Path, rule

#: Fields that not every operator supports, each with the consequence if it is ignored.
_JOB_FIELDS = {
    "policies": "the policies have no effect",
    "min_available": "the pods are not gang-scheduled",
    "queue": "the job is not queued",
    "scheduler_name": "the schedulerName of the pod templates applies",
    "priority_class_name": "the priorityClassName of the pod templates applies",
    "ttl_seconds_after_finished": "the finished job is kept until it is deleted",
    "active_deadline_seconds": "the run time is not limited",
}
_TASK_FIELDS = {
    "policies": "the policies have no effect",
    "min_available": "the task's pods are not gang-scheduled",
    "depends_on": "the task's pods are created immediately",
}

#: All fields that `Operator.supports` may list.
FIELDS = frozenset({"suspend", *_JOB_FIELDS, *_TASK_FIELDS})


@rule("suspend")
def suspend_is_acted_on(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A suspended job must not start because its operator ignores the field."""
    if job.get("suspend") and not acted_on("suspend", job, context):
        yield Forbidden(
            job.at("suspend"),
            f"{who_runs(job, context)} ignores this field: the job would start immediately. Remove it, and apply "
            "the job when it should run. If another controller holds suspended jobs, an administrator declares that "
            f"with the setting operator-can: [{job.kind.plural}/suspend]",
        )


@rule(*_JOB_FIELDS, *(f"tasks.{field}" for field in _TASK_FIELDS))
def fields_are_acted_on(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A field that the operator ignores is not an error, but has no effect."""
    fields = [field for field in _JOB_FIELDS if job.kind.field(field).attributes]
    if operator_of(job).supports.issuperset((*fields, *_TASK_FIELDS)) and not runs_here(job, context):
        return
    for field in fields:
        value = job.get(field)
        by_default = getattr(job.kind.spec.model_fields.get(field), "default", None)
        if value != by_default and _is_set(field, value) and not acted_on(field, job, context):
            yield _ignored_notice(job.at(field), who_runs(job, context), _JOB_FIELDS[field])
    if not job.has_readable_tasks:
        return
    for field, consequence in _TASK_FIELDS.items():
        if acted_on(field, job, context):
            continue
        for task in job.tasks:
            if _is_set(field, task.get(field)):
                yield _ignored_notice(task.at(field), who_runs(job, context), consequence)


def acted_on(field: str, job: Job[Any], context: Context) -> bool:
    """Return whether the operator of a job, or the runner, acts on a field."""
    operator = operator_of(job)
    runner: Runner[Any] | None = runner_of(job.kind) if runs_here(job, context) else None
    supported = operator.supports if runner is None else runner.supports
    members = operator.members if runner is None else None
    if field == "min_available" and runner is not None and Queueing.name in context.settings.plugins:
        return True  # the runner needs a queueing system to start pods together
    if field in supported or f"{job.kind.plural}/{to_camel(field)}" in context.settings.operator_can:
        return True
    if not (imposed := context.settings.plugins):
        return False
    provided = members.provides if members else frozenset()
    plugins = plugins_of(context)
    return any(field in plugins[name].supports(imposed[name]) for name in imposed if name not in provided)


def _is_set(field: str, value: Any) -> bool:
    """Return whether a field requests something. A minimum of 0 requests no gang."""
    return bool(value) if field == "min_available" else value is not None and value not in ([], {}, "")


def _ignored_notice(path: Path, who: str, consequence: str) -> Notice:
    return Notice(path, f"{who} ignores this field: {consequence}")


#: The rules, in the order of the documentation.
ignored_field_rules = (suspend_is_acted_on, fields_are_acted_on)
