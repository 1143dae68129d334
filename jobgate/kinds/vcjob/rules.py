"""Rules for Volcano Jobs beyond the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jobgate.jobs.context import Context
from jobgate.jobs.gangs import total_pods
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.twins import Fault, says
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE, QUEUES, ROOT_QUEUE, SCHEDULER
from jobgate.kinds.vcjob.plugins import (
    host_lists_have_room,
    leading_tasks_are_there,
    plugins_are_known,
    plugins_understand_their_arguments,
    the_runner_carries_out_the_arguments,
)
from jobgate.kinds.vcjob.topology import topology_rules
from jobgate.kinds.vcjob.volumes import existing_claims_stay, volume_rules
from jobgate.names import LABEL_LIMIT, dns_1035_label, dns_label
from jobgate.plugins import Derived
from jobgate.plugins.queueing import Queueing, System
from jobgate.rules.dependencies import gangs_can_start
from jobgate.rules.plugins import derived_names
from jobgate.rules.shared import shared_rules
from jobgate.rules.tasks import derived_names_are_legal, expected_name, name_path, pod_names_are_short
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Forbidden, Invalid, NotFound, Notice, Operation, Required, TooLong, rule
from webhook.values import mapping


@rule()
def tasks_have_pods(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """Volcano creates no pods for a task without replicas, which is most likely a mistake."""
    if context.operation is not Operation.CREATE:
        return
    for task in job.tasks:
        if task.replicas == 0:
            yield Notice(task.at("replicas"), "the task has no pods: set at least 1")


@rule("min_success")
def enough_pods_can_succeed(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """A job that requires more succeeded pods than it has always fails."""
    total = total_pods(job)
    if job.spec.min_success is not None and job.spec.min_success > total:
        yield Notice("spec.minSuccess", f"must be at most {total}, the total replicas of all tasks")


@rule()
@says(Fault("tasks.name", '$(it) == ""'))
def tasks_have_names(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano names a task without a name by its index, but does not replace an empty name."""
    for task in job.tasks:
        if task.name == "":
            yield Required(task.at("name"), f"set a name, or remove the field to use default{task.path.steps[-1]}")


@rule()
@says(pod_names_are_short)
def pod_names_are_short_enough(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A pod name contains the names of the job and the task, and is never shortened; the last pod's is the longest.

    The name of a job may contain dots, unless a derived name may not; the next rules check that.
    """
    for cause in derived_names_are_legal(job, context):
        if isinstance(cause, TooLong):
            yield cause


@rule()
def pods_of_the_runner_have_host_names(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """If jobgate runs the job, the host names of its pods begin with the job's name, which must not contain dots."""
    if not runs_here(job, context) or context.operation is not Operation.CREATE:
        return
    if any(isinstance(fault, Invalid) for fault in derived_objects_have_legal_names(job, context)):
        return  # already reported for the names of plugins and volumes
    name = expected_name(context)
    if fault := dns_label(name.rstrip("-")[:LABEL_LIMIT].rstrip("-")) if name else None:
        detail = f"{fault}: used in the host names of the pods"
        yield Invalid(name_path(context), context.name or context.generate_name, detail)


_BY_PLUGINS: Final = (
    Derived("plugin svc", "Service", "<job>", dns_1035_label, 0),
    Derived("plugin svc", "volume", "<job>-svc", dns_label, 4),
    Derived("plugin ssh", "volume", "<job>-ssh", dns_label, 4),
    Derived("plugin ray", "Service", "<job>-head-svc", dns_1035_label, 9),
)
_BY_VOLUMES: Final = Derived("spec.volumes", "volume", "<job>-<12 characters>", dns_label, 13)


#: Up to this length of a job's name, no derived name is too long.
_SHORT: Final = LABEL_LIMIT - max(derived.extra for derived in (*_BY_PLUGINS, _BY_VOLUMES))


@rule("plugins", "volumes")
def derived_objects_have_legal_names(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A job stays Pending if its Service or its volumes cannot be named after it."""
    name = expected_name(context)
    if len(name) <= _SHORT and not dns_1035_label(name):
        return  # the strictest format
    # No names are derived for invalid fields.
    plugins = {f"plugin {plugin}" for plugin in getattr(job.spec, "plugins", None) or ()}
    derived = [each for each in _BY_PLUGINS if each.maker in plugins]
    derived += [_BY_VOLUMES] if getattr(job.spec, "volumes", None) else []
    yield from derived_names(derived, context)


_QUEUE = "spec.queue"

#: The state of a queue that accepts jobs.
_OPEN = "Open"


@rule("queue", "scheduler_name")
@says(*(Fault(field, 'oldObject == null && $(it) == ""') for field in ("queue", "scheduler_name")))
def queue_and_scheduler_are_named(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """An empty queue name is not replaced by the default, so the job would never be scheduled."""
    if context.operation is not Operation.CREATE:
        return
    for field, default in (("queue", DEFAULT_QUEUE), ("scheduler_name", SCHEDULER)):
        if getattr(job.spec, field) == "":
            yield Required(job.at(field), f"set a name, or remove the field to use {default}")


@rule("queue")
@says(Fault("queue", f'$(it) == "{ROOT_QUEUE}"'))
def queue_is_not_the_root(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """The root queue is the parent of all queues and accepts no jobs."""
    if job.spec.queue == ROOT_QUEUE:
        yield Forbidden(_QUEUE, f"{ROOT_QUEUE} accepts no jobs: use a child queue, such as default")


@rule("queue")
def queue_takes_jobs(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A job in a queue that does not exist, or is not open, is never scheduled.

    Stored jobs are not checked again, nor jobs that jobgate runs, unless Volcano queues them.
    """
    if context.operation is not Operation.CREATE or job.spec.queue in {"", ROOT_QUEUE}:
        return
    queueing = context.settings.plugins.get(Queueing.name)
    if runs_here(job, context) and getattr(queueing, "system", None) is not System.VOLCANO:
        return
    try:
        queue = context.objects.get(QUEUES, job.spec.queue)
    except LookupError:
        return  # the queues are not known
    if queue is None:
        yield NotFound(_QUEUE, job.spec.queue, "no Queue with this name exists in the cluster")
        return
    state = mapping(queue.get("status")).get("state")
    if state != _OPEN:
        shown = state if isinstance(state, str) and state else "not known yet"
        yield Forbidden(_QUEUE, f"the queue {job.spec.queue} accepts no jobs: its state is {shown}, must be {_OPEN}")


@rule("queue")
@says(Fault("queue", f"size($(it)) > {LABEL_LIMIT}"))
def queue_name_fits_a_label(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano labels every pod with its queue: with a longer name, no pod can be created."""
    if len(job.spec.queue) > LABEL_LIMIT:
        yield TooLong(_QUEUE, job.spec.queue, LABEL_LIMIT, "used as a label on every pod")


#: The fields of a stored job that may change in any phase.
MAY_CHANGE = MayChange(
    {
        "spec.minAvailable": Mutable.ALWAYS,
        "spec.priorityClassName": Mutable.ALWAYS,
        "spec.policies": Mutable.BEFORE_ITS_TASK_RUNS,
        "spec.tasks[*].replicas": Mutable.ALWAYS,
        "spec.scale": Mutable.ALWAYS,
        "spec.tasks[*].minAvailable": Mutable.ALWAYS,
        "spec.tasks[*].policies": Mutable.BEFORE_ITS_TASK_RUNS,
        "spec.tasks[*].template": Mutable.BEFORE_ITS_TASK_RUNS,
        # Volcano writes the names of claims that it creates; `existing_claims_stay` protects the others.
        "spec.volumes[*].volumeClaimName": Mutable.ALWAYS,
    },
    keys={"spec.tasks": "name"},
)

#: The rules about the name of a job.
NAME_RULES = (pod_names_are_short_enough, pods_of_the_runner_have_host_names, derived_objects_have_legal_names)

RULES = (
    tasks_have_names,
    tasks_have_pods,
    enough_pods_can_succeed,
    *shared_rules(
        {
            # A job's name may contain dots, unless a derived name may not.
            "derived_names_are_legal": (pod_names_are_short_enough, pods_of_the_runner_have_host_names),
            # Volcano has its own plugins with other arguments.
            "plugins_are_known": (plugins_are_known,),
            "plugins_understand_their_arguments": (plugins_understand_their_arguments,),
            "plugins_can_be_carried_out": (
                leading_tasks_are_there,
                host_lists_have_room,
                the_runner_carries_out_the_arguments,
            ),
            # Plugins of a Volcano Job may not change.
            "plugins_reach_new_pods_only": (),
            "derived_objects_have_legal_names": (derived_objects_have_legal_names,),
        }
    ),
    gangs_can_start(deny=False),
    *topology_rules,
    *volume_rules,
    queue_and_scheduler_are_named,
    queue_is_not_the_root,
    queue_takes_jobs,
    queue_name_fits_a_label,
    MAY_CHANGE.rule(),
    existing_claims_stay,
)
