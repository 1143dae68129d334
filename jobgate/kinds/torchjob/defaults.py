"""What mutation adds to a TorchJob. What the operator assumes of jobs that do not say it is not stored."""

from __future__ import annotations

from itertools import chain

from jobgate.jobs.defaults import fill, limit_what_is_not_shared
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.kinds.torchjob.models import RestartPolicy, TaskSpec, TorchJobSpec
from jobgate.kinds.torchjob.operator import MAIN_CONTAINER, PORT, PORT_NAME
from jobgate.kinds.torchjob.tasks import TaskType, type_of
from webhook import Context, Draft, Job, adds_nothing
from webhook.values import objects

#: What happens to a pod that has ended, where its task does not say. An AIMaster keeps what it knows in annotations of
#: the job, so that it goes on where it was when its container is restarted.
RESTART_POLICIES = {
    TaskType.MASTER: RestartPolicy.EXIT_CODE,
    TaskType.WORKER: RestartPolicy.ON_FAILURE,
    TaskType.AI_MASTER: RestartPolicy.ON_FAILURE,
}

#: The steps to the tasks.
_TASKS = ("spec", "torchTaskSpecs")


@adds_nothing({})
def task_defaults(job: Draft, __: Context) -> None:
    """A task without a number of pods has one."""
    for _, task in job.entries(*_TASKS):
        fill(task, TaskSpec)


@adds_nothing({"tasks.restart_policy": {"required": True}})
def restart_policy_by_type(job: Draft, _: Context) -> None:
    """The operator has the same defaults for Master and Worker, and crashes on an AIMaster without a restart policy."""
    for key, task in job.entries(*_TASKS):
        role = type_of(key)
        if role is not None:
            task.setdefault("restartPolicy", RESTART_POLICIES[role].value)


def _has_its_port(job: Job[TorchJobSpec], _: Context) -> bool:
    for name, template in zip(job.said("tasks.name"), job.said("tasks.template"), strict=True):
        for container in template["spec"]["containers"] if type_of(name) is TaskType.MASTER else ():
            if container["name"] == MAIN_CONTAINER:
                return any(port.get("name") == PORT_NAME for port in container.get("ports") or ())
    return True


@adds_nothing(_has_its_port)
def the_master_has_its_port(job: Draft, __: Context) -> None:
    """The operator looks for this port in the container named torch, and creates no pods of the job without it."""
    for key, task in job.entries(*_TASKS):
        if type_of(key) is not TaskType.MASTER:
            continue
        named = (one for one in task.each("template", "spec", "containers") if one.get("name") == MAIN_CONTAINER)
        container = next(named, None)
        if container is None:
            continue
        ports = container.get("ports", [])
        if isinstance(ports, list) and all(port.get("name") != PORT_NAME for _, port in objects(ports)):
            container.append("ports", {"name": PORT_NAME, "containerPort": PORT})


def _are_kept(job: Job[TorchJobSpec], _: Context) -> bool:
    containers = chain.from_iterable(template["spec"]["containers"] for template in job.said("tasks.template"))
    return all(container.get("terminationMessagePolicy") for container in containers)


@adds_nothing(_are_kept)
def the_last_words_of_a_container_are_kept(job: Draft, __: Context) -> None:
    """If a container writes no termination message, the last lines of its log are used, as the operator does."""
    for _, task in job.entries(*_TASKS):
        for container in task.each("template", "spec", "containers"):
            container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")


DEFAULTS = (
    task_defaults,
    restart_policy_by_type,
    the_master_has_its_port,
    the_last_words_of_a_container_are_kept,
    limit_what_is_not_shared(*_TASKS),
    prerequisites_are_ready(*_TASKS),
)
