"""The rules of gangs: pods that are scheduled together, or not at all."""

from __future__ import annotations

from typing import Any

from webhook import Job, Rule


def gang_minimum(job: Job[Any]) -> int:
    """Return how many pods must be there together: what the job says, else the sum of what its tasks say or have."""
    least: int | None = job.word("min_available")
    if least is not None:
        return least
    return sum(task.replicas if task.min_available is None else task.min_available for task in job.tasks)


#: The rules, in the order in which a reader wants to know.
gang_rules: tuple[Rule, ...] = ()
