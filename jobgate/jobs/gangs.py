"""The number of pods of a job, and of pods that must start together."""

from __future__ import annotations

from typing import Any

from jobgate.jobs.job import Job, computed_once

#: Operators count pods in 32 bits; larger products and sums overflow.
COUNT_LIMIT = 2**31 - 1


def gang_minimum(job: Job[Any]) -> int:
    """Return the number of pods that must start together: the job's minimum, else the sum of its tasks' minima."""
    minimum: int | None = job.get("min_available")
    return sum_of_minima(job) if minimum is None else minimum


def sum_of_minima(job: Job[Any]) -> int:
    """Return the sum of the tasks' minima; a task without one needs all its replicas."""
    return sum(task.replicas if task.min_available is None else task.min_available for task in job.all_tasks)


@computed_once
def total_pods(job: Job[Any]) -> int:
    """Return the number of pods of all tasks together."""
    return sum([task.replicas for task in job.all_tasks])
