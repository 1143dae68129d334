"""What mutation adds to a DIJob. What the CRD defaults too is the same value there: both come from the models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.jobs.defaults import copy_amounts, fill, fill_each, limit_what_is_not_shared, resources_of
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.kinds.dijob.models import DIJobSpec, Task, TaskType
from jobgate.kinds.dijob.operator import MAIN_CONTAINER
from webhook import Context, Draft, Job, adds_nothing


@adds_nothing({})
def job_defaults(job: Draft, _: Context) -> None:
    """The job's own defaults, for a server that has not applied the CRD's."""
    spec = job.at("spec")
    if spec is not None:
        fill(spec, DIJobSpec)


@adds_nothing({})
def task_defaults(job: Draft, _: Context) -> None:
    """The type defaults to none, and replicas to 1."""
    fill_each(job, "spec", "tasks", model=Task)


#: The types that a task can be called by.
_ROLES = frozenset(TaskType) - {TaskType.NONE}


@adds_nothing({"tasks.name": {"required": True}})
def name_typed_tasks_by_their_type(job: Draft, _: Context) -> None:
    """DI-orchestrator names them so on its first reconcile; doing it here keeps its update a no-op."""
    for task in job.each("spec", "tasks", lacking="name"):
        role = task.get("type")
        if isinstance(role, str) and role in _ROLES:
            task["name"] = role


def _all_request(job: Job[DIJobSpec], _: Context) -> bool:
    for template in job.said("tasks.template"):
        for container in template["spec"]["containers"]:
            if "limits" in (resources := container.get("resources", ())) and not resources.get("requests"):
                return False
    return True


def _only_limits(container: Mapping[str, Any], resources: Mapping[str, Any]) -> bool:
    return (
        container.get("name") == MAIN_CONTAINER
        and not resources.get("requests")
        and isinstance(resources.get("limits"), dict)
    )


@adds_nothing(_all_request)
def main_containers_request_their_limits(job: Draft, _: Context) -> None:
    """The operator crashes on a main container that has limits but no requests.

    Kubernetes uses the limits as requests too, so the pods stay the same.
    """
    for resources in resources_of(job, "spec", "tasks", where=_only_limits, lists=("containers",)):
        copy_amounts(resources, resources["limits"], "requests")


DEFAULTS = (
    job_defaults,
    task_defaults,
    name_typed_tasks_by_their_type,
    main_containers_request_their_limits,
    limit_what_is_not_shared("spec", "tasks"),
    prerequisites_are_ready("spec", "tasks", in_spec=True),
)
