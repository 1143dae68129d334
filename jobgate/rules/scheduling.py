"""The rules of what hands a job to its scheduler: queue, scheduler, and priority classes, which all of a gang have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.operator import operator_of, runs_here
from jobgate.jobs.tasks import own_priority_class
from jobgate.names import LABEL_LIMIT, SUBDOMAIN, SUBDOMAIN_LIMIT, dns_subdomain
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from webhook import Cause, Context, Invalid, Job, Notice, TooLong, rule
from webhook.values import text
from webhook.view import view

#: Names by the word that has them, and how long they may be: a queue, a priority class, and the name of a scheduler,
#: which pods have in a field of this length.
_NAMES = {"queue": SUBDOMAIN_LIMIT, "scheduler_name": LABEL_LIMIT, "priority_class_name": SUBDOMAIN_LIMIT}


@rule(*_NAMES, quiet={word: {"pattern": SUBDOMAIN, "maxLength": limit} for word, limit in _NAMES.items()})
def names_of_the_scheduler_can_exist(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Queues and priority classes are named as DNS subdomains, schedulers with at most 63 characters.

    With another queue a job waits forever, with another scheduler or priority class there are no pods.
    """
    for word, limit in _NAMES.items():
        name = text(job.word(word))
        if len(name) > limit:
            yield TooLong(job.at(word), name, limit)
        elif name and (fault := dns_subdomain(name)):
            yield Invalid(job.at(word), name, fault)


@rule("queue", whole=("tasks.name", "tasks.replicas"), updates=True)
def kueue_counts_pods_once(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Kueue admits as many pods as the first one states: pods that are added later do not start."""
    queueing = context.settings.plugins.get(Queueing.name)
    members = None if runs_here(job, context) else operator_of(job).members
    provided = members.provides if members else frozenset()
    kueue = isinstance(queueing, QueueingArguments) and queueing.system is System.KUEUE
    if not kueue or Queueing.name in provided or not job.word("queue") or context.old is None:
        return
    spec, whole = view(job.kind.spec, context.old.get("spec"))
    if not whole:
        return
    before = {task.name: task.replicas for task in Job(job.kind, context.old, spec).tasks}
    for task in job.tasks:
        old = before.get(task.name)
        if isinstance(old, int) and task.replicas != old:
            yield Notice(
                task.at("replicas"),
                "Kueue counts the pods of a job once: pods that are added to a job in its queues do not start, and the "
                "quota of those that go is not released. Create the job again with the new number",
            )


@rule(
    reads=("min_available", "priority_class_name"),
    whole=("tasks.min_available", "tasks.name", "tasks.replicas", "tasks.template"),
    quiet=("tasks.template.spec.priorityClassName",),
)
def a_gang_has_priorities_throughout(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A gang waits for its pods with the lowest priority, so all its tasks should have a priority class."""
    if text(job.word("priority_class_name")):
        return  # all have it
    first = next((task for task in job.tasks if task.replicas and own_priority_class(task)), None)
    if first is None or not _is_gang(job, context):
        return
    for task in job.tasks:
        if task.replicas and not own_priority_class(task):
            yield Notice(
                task.template_path / "spec" / "priorityClassName",
                f"not set, but {first.path} of this gang has a priority class: the gang waits for these pods, which "
                "get the default priority of the cluster",
            )


def _is_gang(job: Job[Any], context: Context) -> bool:
    """Return whether pods start together: the job says so, or who runs it has every job as a gang."""
    if runs_here(job, context):
        return Queueing.name in context.settings.plugins and gang_minimum(job) > 1
    by_default = "min_available" in operator_of(job).supports
    said = job.word("min_available") is not None or any(task.min_available is not None for task in job.tasks)
    return (said or by_default) and gang_minimum(job) > 1


#: The rules, in the order in which a reader wants to know.
scheduling_rules = (
    names_of_the_scheduler_can_exist,
    kueue_counts_pods_once,
    a_gang_has_priorities_throughout,
)
