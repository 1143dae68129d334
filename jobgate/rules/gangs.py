"""Rules for the number of pods: the minimum of a gang (pods that start together), and the bounds of replicas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.gangs import sum_of_minima, total_pods
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.twins import Fault, says
from webhook import Cause, Invalid, Notice, rule

#: CEL: the number of pods, and whether it can be within the bounds.
_TOTAL = "$(tasks).transformList(i, task, int($(tasks.replicas))).sum()"
_ORDERED = "!(has($(min_replicas)) && has($(max_replicas)) && $(min_replicas) > $(max_replicas))"
_LARGER = "use fewer pods, or have jobgate's setting job-pods raised"


@rule()
@says(Fault("tasks", f"oldObject == null && {_TOTAL} > $(job_pods)"))
def pods_are_within_the_limit(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """The installation limits the pods, and Services, of a job. A larger stored job may shrink."""
    limit, total = context.settings.job_pods, total_pods(job)
    if total <= limit:
        return
    sums = accumulate(task.replicas for task in job.all_tasks)
    task = next(task for task, pods in zip(job.all_tasks, sums, strict=True) if pods > limit)
    path = task.at("replicas")
    detail = f"the tasks have {total} pods in all, and jobs may have at most {limit}: {_LARGER}"
    if context.old and total <= _stored_pods(job.kind, context.old):
        yield Notice(path, f"already stored, not enforced: {detail}")
    else:
        cause = Invalid(path, task.replicas, detail)
        cause.value = total  # tasks after this one may have grown
        yield cause


def _stored_pods(kind: JobKind, document: Mapping[str, Any]) -> int:
    """Return the number of pods of a stored job, counting only tasks that fit the schema."""
    stored = job_of(kind, document)
    tasks = stored.all_tasks if stored.has_readable_tasks else ()
    return sum(task.replicas for task in tasks if "replicas" not in task.broken)


@rule("max_replicas")
@says(Fault("max_replicas", "$(it) > $(job_pods)"))
def maximum_is_within_the_limit(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A job may not be scaled beyond the pods that the installation allows."""
    maximum, limit = job.get("max_replicas"), context.settings.job_pods
    if maximum is not None and maximum > limit:
        detail = f"must be at most {limit}, the pods that a job may have: {_LARGER}"
        yield Invalid(job.at("max_replicas"), maximum, detail)


@rule("min_available")
@says(Fault("min_available", f"$(it) > {_TOTAL}"))
def minimum_is_at_most_the_pods(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A gang that needs more pods than the job has is never scheduled."""
    minimum, total = job.get("min_available"), total_pods(job)
    if minimum is not None and minimum > total:
        detail = f"must be at most {total}, the total replicas of all tasks"
        yield Invalid(job.at("min_available"), minimum, detail)


@rule("tasks.min_available")
@says(Fault("tasks.min_available", "$(it) > $(tasks.replicas)"))
def task_minima_are_at_most_their_replicas(job: Job[Any], __: Context) -> Iterator[Cause]:
    """A gang that needs more pods of a task than the task has is never scheduled."""
    for task in job.tasks:
        minimum, replicas = task.get("min_available"), task.replicas
        if minimum is not None and minimum > replicas:
            detail = f"must be at most {replicas}, the replicas of the task"
            yield Invalid(task.at("min_available"), minimum, detail)


@rule("min_available")
def minima_agree(job: Job[Any], _: Context) -> Iterator[Notice]:
    """The job's minimum takes precedence: below the sum of the tasks' minimums, these are not enforced.

    Above the sum, more pods are needed. A task's minimum that equals its replicas is the default; only a lower minimum
    shows that the user wants the tasks' minimums enforced.
    """
    job_minimum: int | None = job.get("min_available")
    minima = [(task.get("min_available"), task.replicas) for task in job.all_tasks] if job_minimum else []
    if not job_minimum or all(minimum is None or minimum == replicas for minimum, replicas in minima):
        return
    if job_minimum > sum(replicas for _, replicas in minima) or any(
        minimum is not None and minimum > replicas for minimum, replicas in minima
    ):
        return  # denied; these sums would only confuse
    total = sum_of_minima(job)
    if job_minimum < total:
        yield Notice(
            job.at("min_available"),
            f"{job_minimum} is less than {total}, the sum of the tasks' minimums: no task's minimum is enforced, and "
            f"the job starts with any {job_minimum} pods",
        )
    elif job_minimum > total:
        yield Notice(
            job.at("min_available"),
            f"{job_minimum} is greater than {total}, the sum of the tasks' minimums: the job waits for "
            f"{job_minimum - total} more pods, from any task",
        )


@rule("min_replicas", "max_replicas")
@says(Fault("min_replicas", "has($(max_replicas)) && $(it) > $(max_replicas)"))
def minimum_is_at_most_maximum(job: Job[Any], _: Context) -> Iterator[Cause]:
    """The minimum must not be greater than the maximum."""
    low, high = job.get("min_replicas"), job.get("max_replicas")
    if low is not None and high is not None and low > high:
        cause = Invalid(job.at("min_replicas"), low, f"must be at most {job.at('max_replicas')}, which is {high}")
        cause.value = [low, high]  # a change of either is a new fault, which ratcheting does not allow
        yield cause


@rule("min_replicas", "max_replicas")
@says(
    Fault("min_replicas", f"{_ORDERED} && {_TOTAL} < $(it)"), Fault("max_replicas", f"{_ORDERED} && {_TOTAL} > $(it)")
)
def replicas_are_within_bounds(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A job starts with the total replicas of its tasks: the total must be within the bounds."""
    low, high = job.get("min_replicas"), job.get("max_replicas")
    if low is not None and high is not None and low > high:
        return  # reported by the rule above; no total could be right
    total = total_pods(job)
    if low is not None and total < low:
        detail = f"the tasks have only {total} replicas in total; add replicas or lower the minimum"
        yield Invalid(job.at("min_replicas"), low, detail)
    if high is not None and total > high:
        detail = f"the tasks have {total} replicas in total; remove replicas or raise the maximum"
        yield Invalid(job.at("max_replicas"), high, detail)


#: The rules, in the order of the documentation.
gang_rules = (
    pods_are_within_the_limit,
    minimum_is_at_most_the_pods,
    task_minima_are_at_most_their_replicas,
    minima_agree,
)
bound_rules = (maximum_is_within_the_limit, minimum_is_at_most_maximum, replicas_are_within_bounds)
