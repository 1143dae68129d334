"""The rules of replica bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook import Cause, Context, Invalid, Job, rule


@rule("min_replicas", "max_replicas")
def minimum_is_at_most_maximum(job: Job[Any], _: Context) -> Iterator[Cause]:
    """The minimum must not be greater than the maximum."""
    least, most = job.word("min_replicas"), job.word("max_replicas")
    if least is not None and most is not None and least > most:
        cause = Invalid(job.at("min_replicas"), least, f"must be at most {job.at('max_replicas')}, which is {most}")
        cause.value = [least, most]  # changing either makes this a new error, not a stored one
        yield cause


@rule("min_replicas", "max_replicas", whole=("tasks.replicas",))
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
bound_rules = (minimum_is_at_most_maximum, replicas_are_within_bounds)
