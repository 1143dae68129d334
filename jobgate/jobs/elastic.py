"""Elastic jobs: their tasks whose number of pods may change while they run, the bounds, and the given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from jobgate.jobs.job import Job, job_of
from jobgate.jobs.operator import operator_of
from jobgate.jobs.runner import runner_of
from jobgate.jobs.status import STATE
from jobgate.names import LABEL_LIMIT
from jobgate.plugins.queueing import System
from webhook.values import mapping, metadata_of, text, whole, with_value

#: The annotation by which a job asks to be scaled (`true`), or refuses although its queue asks for it (`false`).
ELASTIC: Final = "jobgate.dev/elastic"
#: Systems whose groups of pods cannot be resized.
FIXED: Final = frozenset({System.KUBERNETES, System.KUEUE})


class Bounds(Struct, frozen=True):
    """The bounds of an elastic task.

    Attributes:
        low, high: minimum and maximum number of pods.
        replicas: number of pods if the job is not scaled.
    """

    low: int
    high: int
    replicas: int

    def clamp(self, size: int) -> int:
        """Return the size within the bounds that is nearest."""
        return max(self.low, min(size, self.high))


def bounds_of(job: Job[Any]) -> dict[str, Bounds]:
    """Return the elastic tasks of a job by name, with their bounds; none if the job cannot be resized.

    The minimums of gangs are kept, and no pod gets a name that is too long: admission has not judged more.
    """
    runner = runner_of(job.kind)
    written = runner.elastic(job) if runner else {}
    if not written:
        return {}
    operator = operator_of(job)
    tasks = {operator.task_name(task): task for task in job.all_tasks}
    name = text(metadata_of(job.document).get("name"))
    missing = job.get("min_available") or 0
    missing -= sum(task.replicas for task in tasks.values()) - sum(tasks[each].replicas for each in written)
    bounds: dict[str, Bounds] = {}
    for each, (least, most) in written.items():
        prefix = len(operator.pod_pattern(job).format(job=name, task=each, index=""))
        high = min(most, 10 ** max(LABEL_LIMIT - prefix, 0))
        low = min(max(least, tasks[each].min_available or 0, 1), high)
        bounds[each] = Bounds(low, high, tasks[each].replicas)
        missing -= low
    for each, own in bounds.items():
        # The job's own minimum: its first tasks give up their freedom.
        more = min(max(missing, 0), own.high - own.low)
        bounds[each] = Bounds(own.low + more, own.high, own.replicas)
        missing -= more
    return {each: own for each, own in bounds.items() if 0 < own.low < own.high}


def opts_in(document: Mapping[str, Any]) -> bool | None:
    """Return whether a job asks to be scaled, or not to be; None if it leaves that to its queue."""
    value = mapping(metadata_of(document).get("annotations")).get(ELASTIC)
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def given_sizes(document: Mapping[str, Any]) -> tuple[bool, Mapping[str, Any]]:
    """Return whether a job that was given sizes may have pods, and the sizes, by elastic task."""
    state = mapping(mapping(document.get("status")).get(STATE))
    sizes = mapping(state.get("sizes"))
    return bool(sizes) and state.get("admitted") is True, sizes


def resized(job: Job[Any]) -> tuple[Job[Any], dict[str, Bounds]]:
    """Return a stored job with the given sizes instead of the replicas in its spec, and the bounds by the spec.

    A job that waits to have pods again starts with its minimum.
    """
    bounds = bounds_of(job) if job.has_readable_tasks else {}
    admitted, sizes = given_sizes(job.document)
    document = job.document
    for task in job.all_tasks if bounds and sizes else ():
        name = operator_of(job).task_name(task)
        if name in bounds and (size := whole(sizes.get(name))) is not None:
            size = bounds[name].clamp(size) if admitted else bounds[name].low
            document = with_value(document, task.at("replicas").steps, size)
    return (job if document is job.document else job_of(job.kind, document)), bounds
