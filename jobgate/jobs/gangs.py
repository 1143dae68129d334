"""How many pods a job has, and how many of them must start together."""

from __future__ import annotations

from typing import Any

from webhook import Job

#: Operators count pods in 32 bits. Products and sums that do not fit come out as other numbers, negative ones too.
COUNT_LIMIT = 2**31 - 1
#: The API server takes no Indexed Job with more pods at a time.
PODS_LIMIT = 100_000


def gang_minimum(job: Job[Any]) -> int:
    """Return how many pods must be there together: what the job says, else the sum of what its tasks say or have."""
    least: int | None = job.word("min_available")
    return sum_of_minima(job) if least is None else least


def sum_of_minima(job: Job[Any]) -> int:
    """Return how many pods the tasks need by themselves: of a task that states no minimum, all its replicas."""
    return sum(task.replicas if task.min_available is None else task.min_available for task in job.tasks)
