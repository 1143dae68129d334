"""The rules of numbers of pods: of gangs, which are scheduled together or not at all, and of replica bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.gangs import sum_of_minima
from webhook import Cause, Context, Invalid, Job, Notice, rule
from webhook.values import mapping
from webhook.view import view

_LARGER = "use fewer pods, or have jobgate's setting job-pods raised"


def _pods(job: Job[Any]) -> int:
    total: int = sum(job.said("tasks.replicas"))
    return total


@rule(whole=("tasks.replicas",), quiet=lambda job, context: _pods(job) <= context.settings.job_pods)
def pods_are_within_the_limit(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """A job has as many pods, and Services, as the installation allows at most; a larger stored job may shrink."""
    most, total = context.settings.job_pods, 0
    tasks = [(task, total := total + task.replicas) for task in job.tasks]
    if total <= most:
        return
    task = next(task for task, up_to in tasks if up_to > most)
    at = task.at("replicas")
    detail = f"the tasks have {total} pods in all, and jobs may have at most {most}: {_LARGER}"
    spec, _ = view(job.kind.spec, mapping(context.old).get("spec"))
    if context.old and total <= sum(one.replicas for one in Job(job.kind, context.old, spec).tasks):
        yield Notice(at, f"already stored, not enforced: {detail}")
    else:
        cause = Invalid(at, task.replicas, detail)
        cause.value = total  # tasks after this one may have grown
        yield cause


@rule("max_replicas", quiet=lambda job, context: (job.said("max_replicas") or 0) <= context.settings.job_pods)
def maximum_is_within_the_limit(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A job may not be scaled beyond the pods that the installation allows."""
    most, limit = job.word("max_replicas"), context.settings.job_pods
    if most is not None and most > limit:
        yield Invalid(job.at("max_replicas"), most, f"must be at most {limit}, the pods that a job may have: {_LARGER}")


@rule("min_available", whole=("tasks.replicas",), quiet=lambda job, _: job.said("min_available") <= _pods(job))
def minimum_is_at_most_the_pods(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A gang that needs more pods than the job has is never scheduled."""
    least: int | None = job.word("min_available")
    if least is None:
        return
    total = sum(task.replicas for task in job.tasks)
    if least > total:
        detail = f"must be at most {total}, the total replicas of all tasks"
        yield Invalid(job.at("min_available"), least, detail)


def _all_are_needed(job: Job[Any], _: Context) -> bool:
    minima = zip(job.said("tasks.min_available"), job.said("tasks.replicas"), strict=True)
    return all(least is None or least == replicas for least, replicas in minima)


@rule("tasks.min_available", reads=("tasks.min_available", "tasks.replicas"), quiet=_all_are_needed)
def task_minima_are_at_most_their_replicas(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A gang that needs more pods of a task than the task has is never scheduled."""
    for task in job.tasks:
        least, replicas = task.min_available, task.replicas
        if least is not None and least > replicas:
            detail = f"must be at most {replicas}, the replicas of the task"
            yield Invalid(task.at("min_available"), least, detail)


@rule("min_available", whole=("tasks.min_available", "tasks.replicas"), quiet=_all_are_needed)
def minima_agree(job: Job[Any], _: Context) -> Iterator[Notice]:
    """The job's minimum takes precedence: below the sum of the tasks' minimums, these are not enforced.

    Above the sum, more pods are needed. A task's minimum that equals its replicas is the default; only a lower one
    shows that the minimums are meant.
    """
    least: int | None = job.word("min_available")
    minima = [(task.min_available, task.replicas) for task in job.tasks]
    if not least or all(minimum is None or minimum == replicas for minimum, replicas in minima):
        return
    if least > sum(replicas for _, replicas in minima) or any(
        minimum is not None and minimum > replicas for minimum, replicas in minima
    ):
        return  # denied; these sums would only confuse
    total = sum_of_minima(job)
    if least < total:
        yield Notice(
            job.at("min_available"),
            f"{least} is less than {total}, the sum of the tasks' minimums: no task's minimum is enforced, and "
            f"the job starts with any {least} pods",
        )
    elif least > total:
        yield Notice(
            job.at("min_available"),
            f"{least} is greater than {total}, the sum of the tasks' minimums: the job waits for "
            f"{least - total} more pods, from any task",
        )


def _within(job: Job[Any], _: Context) -> bool:
    least, most, total = job.said("min_replicas"), job.said("max_replicas"), _pods(job)
    return (least is None or least <= total) and (most is None or total <= most)


@rule("min_replicas", "max_replicas", quiet=_within)
def minimum_is_at_most_maximum(job: Job[Any], _: Context) -> Iterator[Cause]:
    """The minimum must not be greater than the maximum."""
    least, most = job.word("min_replicas"), job.word("max_replicas")
    if least is not None and most is not None and least > most:
        cause = Invalid(job.at("min_replicas"), least, f"must be at most {job.at('max_replicas')}, which is {most}")
        cause.value = [least, most]  # changing either makes this a new error, not a stored one
        yield cause


@rule("min_replicas", "max_replicas", whole=("tasks.replicas",), quiet=_within)
def replicas_are_within_bounds(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A job starts with the total replicas of its tasks: the total must be within the bounds."""
    least, most = job.word("min_replicas"), job.word("max_replicas")
    if least is not None and most is not None and least > most:
        return  # reported by the rule above; no total could be right
    total = sum(task.replicas for task in job.tasks)
    if least is not None and total < least:
        yield Invalid(
            job.at("min_replicas"),
            least,
            f"the tasks have only {total} replicas in total; add replicas or lower the minimum",
        )
    if most is not None and total > most:
        yield Invalid(
            job.at("max_replicas"),
            most,
            f"the tasks have {total} replicas in total; remove replicas or raise the maximum",
        )


#: The rules, in the order in which a reader wants to know.
gang_rules = (
    pods_are_within_the_limit,
    minimum_is_at_most_the_pods,
    task_minima_are_at_most_their_replicas,
    minima_agree,
)
bound_rules = (maximum_is_within_the_limit, minimum_is_at_most_maximum, replicas_are_within_bounds)
