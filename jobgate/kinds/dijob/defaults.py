"""The defaults of a DIJob. The CRD's defaults are the same, because both come from the models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.defaults import SURE_AMOUNT, copy_amounts, fill, fill_each, limit_what_is_not_shared, resources_of
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.jobs.twins import Fill, Place, says
from jobgate.kinds.dijob.models import DIJobSpec, Task, TaskType
from jobgate.kinds.dijob.operator import MAIN_CONTAINER
from webhook import Draft


@says()
def job_defaults(job: Draft, _: Context) -> None:
    """The job's own defaults, in case the API server has not applied those of the CRD."""
    spec = job.at("spec")
    if spec is not None:
        fill(spec, DIJobSpec)


@says()
def task_defaults(job: Draft, _: Context) -> None:
    """The type defaults to none, and replicas to 1."""
    fill_each(job, "spec", "tasks", model=Task)


#: The types that a task can be named after.
_ROLES = frozenset(TaskType) - {TaskType.NONE}


@says(Fill(Place.TASK, "name", "task.type", f"has(task.type) && task.type in {json.dumps(sorted(_ROLES))}"))
def name_typed_tasks_by_their_type(job: Draft, _: Context) -> None:
    """DI-orchestrator sets the same name on its first reconcile; set here, its update changes nothing."""
    for task in job.each("spec", "tasks", lacking="name"):
        role = task.get("type")
        if isinstance(role, str) and role in _ROLES:
            task["name"] = role


def _only_limits(container: Mapping[str, Any], resources: Mapping[str, Any]) -> bool:
    return (
        container.get("name") == MAIN_CONTAINER
        and not resources.get("requests")
        and isinstance(resources.get("limits"), dict)
    )


_IS_MAIN = (
    f'has(container.name) && container.name == "{MAIN_CONTAINER}" && '
    "has(container.resources.limits) && container.resources.limits.size() > 0"
)


@says(
    Fill(
        Place.CONTAINER,
        "resources.requests",
        "container.resources.limits",
        f"{_IS_MAIN} && container.resources.limits.all(name, amount, {SURE_AMOUNT})",
        f"has(container.resources) && {_IS_MAIN} && "
        "!(has(container.resources.requests) && container.resources.requests.size() > 0)",
    ),
)
def main_containers_request_their_limits(job: Draft, _: Context) -> None:
    """The operator crashes on a main container that has limits but no requests.

    By default Kubernetes sets requests to the limits, too, so the pods do not change.
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
