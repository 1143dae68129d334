"""The rules of a Volcano Job beyond its schema, those that it shares with other kinds among them."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.dependencies import dependency_rules, gangs_can_start
from jobgate.kinds.common.gang import gang_rules
from jobgate.kinds.common.policies import policy_rules
from jobgate.kinds.common.priority import priority_rules
from jobgate.kinds.common.scheduling import scheduling_rules
from jobgate.kinds.common.templates import pod_template_rules
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.names import name_rules
from jobgate.kinds.vcjob.plugins import plugin_rules
from jobgate.kinds.vcjob.queue import queue_rules
from jobgate.kinds.vcjob.topology import topology_rules
from jobgate.kinds.vcjob.updates import update_rules
from jobgate.kinds.vcjob.volumes import volume_rules
from webhook import Context, Job, Notice, Operation, readable


def tasks_have_pods(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """Volcano makes no pod of a task that does not say how many: a slip, more often than a plan."""
    if context.operation is not Operation.CREATE:
        return
    for _, task in readable(job.tasks, "replicas"):
        if task.replicas == 0:
            yield Notice(task.at("replicas"), "the task has no pods: say how many it shall have")


def enough_pods_can_succeed(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """Volcano takes a job that asks for more successes than it has pods: whatever becomes of these, it fails."""
    total = sum(task.replicas for task in job.tasks)
    if job.spec.min_success is not None and job.spec.min_success > total:
        yield Notice(
            "spec.minSuccess", f"the job has only {total} pods, and can never succeed: ask for at most as many"
        )


RULES = (
    *name_rules,
    tasks_have_pods,
    enough_pods_can_succeed,
    *gang_rules,
    *topology_rules,
    *policy_rules,
    *dependency_rules,
    gangs_can_start(refuse=False),
    *plugin_rules,
    *volume_rules,
    *scheduling_rules,
    *priority_rules,
    *queue_rules,
    *pod_template_rules,
    *update_rules,
)
