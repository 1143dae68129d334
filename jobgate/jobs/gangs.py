"""The number of pods of a job, and of pods that must start together."""

from __future__ import annotations

from typing import Any

from jobgate.jobs.job import Job

#: Operators count pods in 32 bits; larger products and sums overflow.
COUNT_LIMIT = 2**31 - 1
#: The API server's limit of `parallelism` for Indexed Jobs.
PODS_LIMIT = 100_000


def gang_minimum(job: Job[Any]) -> int:
    """Return the number of pods that must start together: the job's minimum, else the sum of its tasks' minima."""
    minimum: int | None = job.get("min_available")
    return sum_of_minima(job) if minimum is None else minimum


def sum_of_minima(job: Job[Any]) -> int:
    """Return the sum of the tasks' minima; a task without one needs all its replicas."""
    return sum(task.replicas if task.min_available is None else task.min_available for task in job.all_tasks)


def total_pods(job: Job[Any]) -> int:
    """Return the number of pods of all tasks together."""
    if total_pods not in job.shared:
        job.shared[total_pods] = sum([task.replicas for task in job.all_tasks])
    total: int = job.shared[total_pods]
    return total
