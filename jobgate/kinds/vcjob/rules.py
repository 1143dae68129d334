"""The rules of a Volcano Job beyond its schema, those that it shares with other kinds among them."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.dependencies import gangs_can_start
from jobgate.kinds.common.rules import shared_rules
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.names import derived_objects_have_legal_names, pod_names_are_short_enough, tasks_have_names
from jobgate.kinds.vcjob.plugins import (
    host_lists_have_room,
    leading_tasks_are_there,
    plugins_are_known,
    plugins_understand_their_arguments,
)
from jobgate.kinds.vcjob.queue import queue_rules
from jobgate.kinds.vcjob.topology import topology_rules
from jobgate.kinds.vcjob.updates import update_rules
from jobgate.kinds.vcjob.volumes import volume_rules
from webhook import Context, Job, Notice, Operation, rule


@rule(reads=("tasks.replicas",))
def tasks_have_pods(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """Volcano makes no pod of a task that does not say how many: a slip, more often than a plan."""
    if context.operation is not Operation.CREATE:
        return
    for task in job.tasks:
        if task.replicas == 0:
            yield Notice(task.at("replicas"), "the task has no pods: set at least 1")


@rule("min_success", whole=("tasks.replicas",))
def enough_pods_can_succeed(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """Volcano takes a job that asks for more successes than it has pods: whatever becomes of these, it fails."""
    total = sum(task.replicas for task in job.tasks)
    if job.spec.min_success is not None and job.spec.min_success > total:
        yield Notice("spec.minSuccess", f"must be at most {total}, the total replicas of all tasks")


RULES = (
    tasks_have_names,
    tasks_have_pods,
    enough_pods_can_succeed,
    *shared_rules(
        {
            # A job's name may hold dots, where nothing is called by it that may not.
            "derived_names_are_legal": (pod_names_are_short_enough,),
            # Volcano has plugins of its own, which take other arguments.
            "plugins_are_known": (plugins_are_known,),
            "plugins_understand_their_arguments": (plugins_understand_their_arguments,),
            "plugins_can_be_carried_out": (leading_tasks_are_there, host_lists_have_room),
            # Volcano takes no change of them.
            "plugins_reach_new_pods_only": (),
            "derived_objects_have_legal_names": (derived_objects_have_legal_names,),
        }
    ),
    gangs_can_start(refuse=False),
    *topology_rules,
    *volume_rules,
    *queue_rules,
    *update_rules,
)
