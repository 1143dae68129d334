"""The defaults of a TorchJob. Values that the operator itself assumes for absent fields are not stored."""

from __future__ import annotations

import json

from jobgate.jobs.context import Context
from jobgate.jobs.defaults import fill, limit_what_is_not_shared
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.jobs.twins import Fill, Need, Place, says
from jobgate.kinds.torchjob.models import RestartPolicy, TaskSpec
from jobgate.kinds.torchjob.operator import MAIN_CONTAINER, PORT, PORT_NAME
from jobgate.kinds.torchjob.tasks import TaskType, type_of
from webhook import Draft
from webhook.values import objects

#: Default restart policies. An AIMaster keeps its state in annotations of the job, so it continues after a restart.
RESTART_POLICIES = {
    TaskType.MASTER: RestartPolicy.EXIT_CODE,
    TaskType.WORKER: RestartPolicy.ON_FAILURE,
    TaskType.AI_MASTER: RestartPolicy.ON_FAILURE,
}

#: The path of the tasks.
_TASKS = ("spec", "torchTaskSpecs")


@says()
def task_defaults(job: Draft, __: Context) -> None:
    """A task has one pod by default."""
    for _, task in job.entries(*_TASKS):
        fill(task, TaskSpec)


_POLICIES = json.dumps({role.lower(): policy for role, policy in RESTART_POLICIES.items()})


@says(
    Fill(Place.TASK, "restartPolicy", f"{_POLICIES}[at.lowerAscii()]", f"at.lowerAscii() in {_POLICIES}"),
    # Letters that are not ASCII can have one of ASCII as their lower case.
    Need(Place.TASK, 'at.matches("[^ -~]")'),
)
def restart_policy_by_type(job: Draft, _: Context) -> None:
    """The operator has the same defaults for Master and Worker, and crashes on an AIMaster without a restart policy."""
    for key, task in job.entries(*_TASKS):
        role = type_of(key)
        if role is not None:
            task.setdefault("restartPolicy", RESTART_POLICIES[role].value)


_PORT = f'{{"name": dyn("{PORT_NAME}"), "containerPort": dyn({PORT})}}'
#: CEL: whether a container is the first of its name in the master.
_TRAINS = (
    f'at.lowerAscii() == "{TaskType.MASTER.lower()}" && has(container.name) && container.name == "{MAIN_CONTAINER}" && '
    f'!task.template.spec.containers.exists(i, other, i < index && has(other.name) && other.name == "{MAIN_CONTAINER}")'
)
_LACKS_IT = f'!container.ports.exists(port, type(port) == map && has(port.name) && port.name == "{PORT_NAME}")'


@says(
    Fill(Place.CONTAINER, "ports", f"[{_PORT}]", _TRAINS),
    Fill(
        Place.CONTAINER,
        "ports.-",
        _PORT,
        f"{_TRAINS} && has(container.ports) && type(container.ports) == list && {_LACKS_IT}",
    ),
)
def the_master_has_its_port(job: Draft, __: Context) -> None:
    """The operator looks for this port in the container named torch, and creates no pods of the job without it."""
    for key, task in job.entries(*_TASKS):
        if type_of(key) is not TaskType.MASTER:
            continue
        containers = task.each("template", "spec", "containers")
        container = next((container for container in containers if container.get("name") == MAIN_CONTAINER), None)
        if container is None:
            continue
        ports = container.get("ports", [])
        if isinstance(ports, list) and all(port.get("name") != PORT_NAME for _, port in objects(ports)):
            container.append("ports", {"name": PORT_NAME, "containerPort": PORT})


@says(Fill(Place.CONTAINER, "terminationMessagePolicy", '"FallbackToLogsOnError"'))
def the_last_words_of_a_container_are_kept(job: Draft, __: Context) -> None:
    """If a container writes no termination message, the last lines of its log are used, as the operator does."""
    for _, task in job.entries(*_TASKS):
        for container in task.each("template", "spec", "containers", lacking="terminationMessagePolicy"):
            container["terminationMessagePolicy"] = "FallbackToLogsOnError"


DEFAULTS = (
    task_defaults,
    restart_policy_by_type,
    the_master_has_its_port,
    the_last_words_of_a_container_are_kept,
    limit_what_is_not_shared(*_TASKS),
    prerequisites_are_ready(*_TASKS),
)
