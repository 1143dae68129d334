"""Rules for fields that the operator ignores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic.alias_generators import to_camel

from jobgate.jobs.crew import plugins_of
from jobgate.jobs.operator import operator_of, runs_here, who_runs
from jobgate.jobs.runner import Runner, runner_of
from jobgate.plugins.queueing import Queueing
from webhook import Cause, Context, Forbidden, Job, Notice, Path, rule
from webhook.plan import Plan

#: The words that an operator may act on, and what becomes of a job whose operator does not.
_JOB_WORDS = {
    "policies": "the policies have no effect",
    "min_available": "the pods are not gang-scheduled",
    "queue": "the job is not queued",
    "scheduler_name": "the schedulerName of the pod templates applies",
    "priority_class_name": "the priorityClassName of the pod templates applies",
    "ttl_seconds_after_finished": "the finished job is kept until it is deleted",
    "active_deadline_seconds": "the run time is not limited",
}
_TASK_WORDS = {
    "policies": "the policies have no effect",
    "min_available": "the task's pods are not gang-scheduled",
    "depends_on": "the task's pods are created immediately",
}

#: All words that a profile can say its operator supports.
WORDS = frozenset({"suspend", *_JOB_WORDS, *_TASK_WORDS})


@rule("suspend")
def suspend_is_acted_on(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A suspended job must not start because its operator ignores the field."""
    if job.word("suspend") and not acted_on("suspend", job, context):
        yield Forbidden(
            job.at("suspend"),
            f"{who_runs(job, context)} ignores this field: the job would start immediately. Remove it, and apply "
            "the job when it should run. If another controller holds suspended jobs, an administrator declares that "
            f"with the setting operator-can: [{job.kind.plural}/suspend]",
        )


@lru_cache(maxsize=64)
def _words_of(plan: Plan) -> frozenset[str]:
    """Return the words of a kind that its operator may act on."""
    return frozenset(word for word in _JOB_WORDS if plan.word(word).attributes) | _TASK_WORDS.keys()


def _all_are_acted_on(job: Job[Any], context: Context) -> bool:
    return operator_of(job).supports >= _words_of(job.kind.plan) and not runs_here(job, context)


@rule(*_JOB_WORDS, *(f"tasks.{word}" for word in _TASK_WORDS), quiet=_all_are_acted_on)
def words_are_acted_on(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A field that the operator ignores is not an error, but has no effect."""
    who = who_runs(job, context)
    for word, consequence in _JOB_WORDS.items():
        value = job.word(word)
        by_default = getattr(job.kind.spec.model_fields.get(word), "default", None)
        if value != by_default and _says(word, value) and not acted_on(word, job, context):
            yield _ignored(job.at(word), who, consequence)
    for word, consequence in _TASK_WORDS.items():
        if acted_on(word, job, context):
            continue
        for task in job.tasks:
            if _says(word, task.get(word)):
                yield _ignored(task.at(word), who, consequence)


def acted_on(word: str, job: Job[Any], context: Context) -> bool:
    """Return whether who runs a job acts on a word."""
    operator = operator_of(job)
    runner = _runner(job, context)
    supported = operator.supports if runner is None else runner.supports
    members = operator.members if runner is None else None
    if word == "min_available" and runner is not None and Queueing.name in context.settings.plugins:
        return True  # the runner starts pods together with a queueing system only
    if word in supported or f"{job.kind.plural}/{to_camel(word)}" in context.settings.operator_can:
        return True
    provided = members.provides if members else frozenset()
    imposed = context.settings.plugins
    plugins = plugins_of(context)
    return any(word in plugins[name].supports(imposed[name]) for name in imposed if name not in provided)


def _runner(job: Job[Any], context: Context) -> Runner | None:
    """Return how the job is run here; None where its operator runs it."""
    return runner_of(job.kind) if runs_here(job, context) else None


def _says(word: str, value: Any) -> bool:
    """Return whether a word asks for something. A minimum of 0 asks for no gang."""
    return bool(value) if word == "min_available" else value is not None and value not in ([], {}, "")


def _ignored(path: Path, who: str, consequence: str) -> Notice:
    return Notice(path, f"{who} ignores this field: {consequence}")


#: The rules, in the order in which a reader wants to know.
ignored_field_rules = (suspend_is_acted_on, words_are_acted_on)
