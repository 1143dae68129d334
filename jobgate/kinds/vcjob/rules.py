"""The rules of a Volcano Job beyond its schema, those that it shares with other kinds among them."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.dependencies import dependency_rules, gang_dependency_rules
from jobgate.kinds.common.gang import gang_rules
from jobgate.kinds.common.policies import policy_rules
from jobgate.kinds.common.priority import priority_rules
from jobgate.kinds.common.scheduling import scheduling_rules
from jobgate.kinds.common.templates import pod_template_rules
from jobgate.kinds.vcjob.defaults import COUNT_LIMIT
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.names import name_rules
from jobgate.kinds.vcjob.plugins import plugin_rules
from jobgate.kinds.vcjob.queue import queue_rules
from jobgate.kinds.vcjob.topology import topology_rules
from jobgate.kinds.vcjob.updates import update_rules
from jobgate.kinds.vcjob.volumes import volume_rules
from webhook import Cause, Context, Invalid, Job, Notice, Operation, readable


def tasks_have_pods(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """Volcano makes no pod of a task that does not say how many: a slip, more often than a plan."""
    if context.operation is not Operation.CREATE:
        return
    for _, task in readable(job.tasks, "replicas"):
        if task.replicas == 0:
            yield Notice(task.at("replicas"), "the task has no pods: say how many it shall have")


def pods_can_be_counted(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano counts the pods of a job in 32 bits."""
    total = sum(task.replicas for task in job.tasks)
    if total > COUNT_LIMIT:
        yield Invalid("spec.tasks", total, f"the replicas of all tasks must be at most {COUNT_LIMIT} together")


RULES = (
    *name_rules,
    tasks_have_pods,
    pods_can_be_counted,
    *gang_rules,
    *topology_rules,
    *policy_rules,
    *dependency_rules,
    *gang_dependency_rules,
    *plugin_rules,
    *volume_rules,
    *scheduling_rules,
    *priority_rules,
    *queue_rules,
    *pod_template_rules,
    *update_rules,
)
