"""Defaults that every kind with pod templates can share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from jobgate.kinds.common.pod.amounts import may_overcommit
from jobgate.kinds.common.pod.resources import requirements_fit
from webhook import Context, Default, Draft, Path


def fill(part: Draft, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields, the same as the schema has: both come from the model."""
    for name, value in _constant_defaults(model).items():
        part.setdefault(name, value)


def fill_each(job: Draft, *keys: str, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields to each object in the list below these fields."""
    for part in job.each(*keys, lacking=tuple(_constant_defaults(model))):
        fill(part, model)


@cache
def _constant_defaults(model: type[BaseModel]) -> Mapping[str, Any]:
    fields = ((field.alias or name, field) for name, field in model.model_fields.items())
    defaults = ((name, field.get_default()) for name, field in fields if not field.is_required())
    return {name: to_jsonable_python(value) for name, value in defaults if value is not None}


def limit_what_is_not_shared(*tasks: str) -> Default:
    """Return the default by which devices and huge pages that are only requested are limited to as much.

    The API server refuses a pod that requests them without a limit, and takes no other limit than the request: there is
    one value that can be meant. Without it the job would be stored and its pods would never be made.

    Args:
        tasks: the fields below which the kind has its list, or its map, of tasks, each with a `template`.
    """

    def limit_what_is_not_shared(job: Draft, _: Context) -> None:
        """Devices and huge pages that are only requested are limited to as much; no other value is taken."""
        for task in (*job.each(*tasks), *(entry for _, entry in job.entries(*tasks))):
            for containers in ("initContainers", "containers"):
                for container in task.each("template", "spec", containers, holding="resources"):
                    _limit(container)

    return limit_what_is_not_shared


def _limit(container: Draft) -> None:
    resources = container.at("resources")
    requests = resources.get("requests") if resources is not None else None
    if resources is None or not isinstance(requests, dict):
        return
    missing = {name: amount for name, amount in requests.items() if amount is not None and not may_overcommit(name)}
    copy_amounts(resources, missing, "limits")


def copy_amounts(resources: Draft, amounts: dict[str, Any], side: str) -> None:
    """Add amounts of resources to one side, `limits` or `requests`, where it has none of the same name.

    Wrong amounts are refused where they stand; on the other side too, they would be a fault that nobody wrote.
    """
    if not amounts or any(requirements_fit({"limits": amounts}, Path())):
        return
    there = resources.at(side)
    if there is None:
        resources.setdefault(side, dict(amounts))
        return
    for name, amount in amounts.items():
        there.setdefault(name, amount)
