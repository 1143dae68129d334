"""Rules for scheduling: queues, schedulers and priority classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdgen.dns import SUBDOMAIN_1123
from jobgate.jobs.context import Context
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, own_priority_class
from jobgate.jobs.operator import operator_of, runs_here
from jobgate.jobs.runner import runner_of
from jobgate.jobs.status import STATE
from jobgate.jobs.twins import Fault, says
from jobgate.names import LABEL_LIMIT, SUBDOMAIN_LIMIT, dns_subdomain
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from webhook import Cause, Forbidden, Invalid, Notice, TooLong, rule
from webhook.values import mapping, text

#: Fields with names of other objects, and their maximum lengths.
_NAMES = {"queue": SUBDOMAIN_LIMIT, "scheduler_name": LABEL_LIMIT, "priority_class_name": SUBDOMAIN_LIMIT}


@rule(*_NAMES)
@says(
    *(
        Fault(field, f'$(it) != "" && (size($(it)) > {limit} || !$(it).matches("^{SUBDOMAIN_1123}$"))')
        for field, limit in _NAMES.items()
    )
)
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
def kueue_counts_pods_once(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """Kueue counts the pods of a job once, when they are created: pods that are added later would never start."""
    if context.old is None or not in_kueue(job, context):
        return
    spec, fits = job.kind.read(context.old)
    held = mapping(mapping(context.old.get("status")).get(STATE)).get("held")
    if not fits or held or mapping(context.old.get("spec")).get("suspend") is True:
        return  # a stopped job is counted again when it goes on
    before = {task.name: task.replicas for task in Job(job.kind, context.old, spec).tasks}
    for task in job.all_tasks:
        old = before.get(task.name)
        if isinstance(old, int) and task.replicas > old:
            detail = (
                "Kueue counts the pods of a job once, and would not start more: create the job again with this number"
            )
            yield Forbidden(task.at("replicas"), detail, task.replicas)
        elif isinstance(old, int) and task.replicas < old:
            detail = "Kueue counts the pods of a job once: the quota of those that go is released when the job ends"
            yield Notice(task.at("replicas"), detail)


@rule()
def gangs_of_a_job_can_wait_for_each_other(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Tasks that wait for running pods are a gang of their own: two jobs can each hold the room of the other's."""
    runner = runner_of(job.kind) if runs_here(job, context) else None
    system = _system(job, context)
    if runner is None or system is None or not runner.has_own_order(job):
        return
    if not (_waits_in_kueue(job) if system is System.KUEUE else runner.gang_minimum(job) > 1):
        return
    for task in job.tasks:
        waits = [name for name, succeeded in runner.start_condition(job, task).tasks if not succeeded]
        if waits and task.name not in runner.outside_gangs and not runner.outside_gangs.issuperset(waits):
            yield Notice(
                task.at("depends_on"),
                f"starts after {', '.join(waits)}, as a gang of its own: jobs whose first gangs run can wait for ever "
                "for room for their next. Tasks without an order are one gang",
            )
            return


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


def _system(job: Job[Any], context: Context) -> System | None:
    """Return the installation's system for queues and gangs; None if there is none, or the operator has its own."""
    queueing = context.settings.plugins.get(Queueing.name)
    members = None if runs_here(job, context) else operator_of(job).members
    own = members is not None and Queueing.name in members.provides
    return None if own or not isinstance(queueing, QueueingArguments) else queueing.system


def in_kueue(job: Job[Any], context: Context) -> bool:
    """Return whether Kueue queues a job."""
    return _system(job, context) is System.KUEUE and _waits_in_kueue(job)


def _waits_in_kueue(job: Job[Any]) -> bool:
    """Return whether a job names a queue, apart from one that is a default of its kind."""
    runner = runner_of(job.kind)
    return job.get("queue") not in {None, "", runner.default_queue if runner else ""}


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
    gangs_of_a_job_can_wait_for_each_other,
    a_gang_has_priorities_throughout,
)
