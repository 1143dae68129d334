"""Rules for scheduling: queues, schedulers and priority classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, own_priority_class
from jobgate.jobs.operator import operator_of, runs_here
from jobgate.names import LABEL_LIMIT, SUBDOMAIN_LIMIT, dns_subdomain
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from webhook import Cause, Invalid, Notice, TooLong, rule
from webhook.values import text

#: Fields with names of other objects, and their maximum lengths.
_NAMES = {"queue": SUBDOMAIN_LIMIT, "scheduler_name": LABEL_LIMIT, "priority_class_name": SUBDOMAIN_LIMIT}


@rule(*_NAMES)
def names_of_the_scheduler_can_exist(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Names of queues and priority classes are DNS subdomains; names of schedulers have at most 63 characters.

    With an impossible queue a job waits forever; with an impossible scheduler or priority class it gets no pods.
    """
    for field, limit in _NAMES.items():
        name = text(job.get(field))
        if len(name) > limit:
            yield TooLong(job.at(field), name, limit)
        elif name and (fault := dns_subdomain(name)):
            yield Invalid(job.at(field), name, fault)


@rule("queue", updates=True)
def kueue_counts_pods_once(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Kueue counts the pods of a job once, when the job starts: pods that are added later do not start."""
    queueing = context.settings.plugins.get(Queueing.name)
    members = None if runs_here(job, context) else operator_of(job).members
    provided = members.provides if members else frozenset()
    kueue = isinstance(queueing, QueueingArguments) and queueing.system is System.KUEUE
    if not kueue or Queueing.name in provided or not job.get("queue") or context.old is None:
        return
    spec, fits = job.kind.read(context.old)
    if not fits:
        return
    before = {task.name: task.replicas for task in Job(job.kind, context.old, spec).tasks}
    for task in job.all_tasks:
        old = before.get(task.name)
        if isinstance(old, int) and task.replicas != old:
            yield Notice(
                task.at("replicas"),
                "Kueue counts the pods of a job once: pods that are added to a job in its queues do not start, and the "
                "quota of those that go is not released. Create the job again with the new number",
            )


@rule("tasks.template.spec.priorityClassName")
def a_gang_has_priorities_throughout(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A gang waits for its pods with the lowest priority, so all its tasks should have a priority class."""
    if text(job.get("priority_class_name")):
        return  # it applies to all tasks
    first = next((task for task in job.all_tasks if task.replicas and own_priority_class(task)), None)
    if first is None or not _is_gang(job, context):
        return
    for task in job.all_tasks:
        if task.replicas and not own_priority_class(task):
            yield Notice(
                task.template_path / "spec" / "priorityClassName",
                f"not set, but {first.path} of this gang has a priority class: the gang waits for these pods, which "
                "get the default priority of the cluster",
            )


def _is_gang(job: Job[Any], context: Context) -> bool:
    """Return whether pods start together: by a field of the job, or because its operator treats every job as a gang."""
    if runs_here(job, context):
        return Queueing.name in context.settings.plugins and gang_minimum(job) > 1
    by_default = "min_available" in operator_of(job).supports
    requested = job.get("min_available") is not None or any(task.min_available is not None for task in job.all_tasks)
    return (requested or by_default) and gang_minimum(job) > 1


#: The rules, in the order of the documentation.
scheduling_rules = (
    names_of_the_scheduler_can_exist,
    kueue_counts_pods_once,
    a_gang_has_priorities_throughout,
)
