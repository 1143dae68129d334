"""Rules for jobs that ask to be scaled, or let others scale them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.elastic import ELASTIC, FIXED, bounds_of, opts_in
from jobgate.jobs.fields import TaskScale
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.runner import runner_of
from jobgate.plugins.queueing import Queueing
from webhook import Cause, Forbidden, Notice, NotSupported, Path, rule
from webhook.values import mapping, metadata_of


@rule(f"annotations.{ELASTIC}")
def what_is_elastic_can_be_resized(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """A job that asks to be scaled must have a task whose number of pods may change, with bounds."""
    path = (Path("metadata") / "annotations").key(ELASTIC)
    value = mapping(metadata_of(job.document).get("annotations")).get(ELASTIC)
    if (asked := opts_in(job.document)) is None:
        yield NotSupported(path, value, ["true", "false"])
    if not asked:
        return
    system = getattr(context.settings.plugins.get(Queueing.name), "system", None)
    if not runs_here(job, context):
        yield Notice(path, "has no effect: only jobgate's runner scales jobs, and it does not run this kind")
    elif not bounds_of(job) and (runner := runner_of(job.kind)):
        yield Forbidden(path, f"no task of the job can be resized: {runner.elastic_needs}", value)
    elif system in FIXED:
        yield Notice(path, f"has no effect with queueing {system}, whose groups of pods keep their size")


@rule("scale")
def the_scaled_task_exists(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """`spec.scale` names a task of the job, which has that many pods. Only the runner reads it."""
    scale = job.get("scale")
    if not isinstance(scale, TaskScale):
        return  # a kind of someone else has another field of this name
    names = [task.name for task in job.all_tasks if task.name]
    if scale.task not in names:
        yield NotSupported(job.at("scale") / "task", scale.task, names)
    elif not runs_here(job, context):
        yield Notice(job.at("scale"), "has no effect: only jobgate's runner reads it, and it does not run this kind")


#: The rules, in the order of the documentation.
elastic_rules = (what_is_elastic_can_be_resized, the_scaled_task_exists)
