"""Defaults that every kind with pod templates can share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from jobgate.kinds.common.pod.reading import mapping
from jobgate.kinds.common.pod.resources import PLAIN, may_overcommit, side_fits
from jobgate.prerequisites.reference import ReferenceFields, parts
from webhook import Context, Default, Draft, Path, adds_nothing

#: The steps from a job to a place in it.
Way: TypeAlias = tuple[str | int, ...]


def fill(part: Draft, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields, the same as the schema has: both come from the model."""
    part.fill(_constant_defaults(model))


def fill_each(job: Draft, *keys: str, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields to each object in the list below these fields."""
    constant = _constant_defaults(model)
    for part in job.each(*keys, lacking=tuple(constant)):
        part.fill(constant)


@cache
def _constant_defaults(model: type[BaseModel]) -> Mapping[str, Any]:
    fields = ((field.alias or name, field) for name, field in model.model_fields.items())
    defaults = ((name, field.get_default()) for name, field in fields if not field.is_required())
    return {name: to_jsonable_python(value) for name, value in defaults if value is not None}


def limit_what_is_not_shared(*tasks: str) -> Default:
    """Return the default by which devices and huge pages that are only requested are limited to as much.

    The API server rejects a pod that requests them without a limit, and takes no other limit than the request: there is
    one value that can be meant. Without it the job would be stored and its pods would never be made.

    Args:
        tasks: the fields below which the kind has its list, or its map, of tasks, each with a `template`.
    """

    @adds_nothing({})  # a template that requests more than it limits is not plain
    def limit_what_is_not_shared(job: Draft, _: Context) -> None:
        """Devices and huge pages that are only requested are limited to as much; no other value is taken."""
        for way, container in containers_of(job, *tasks):
            requests = container["resources"].get("requests")
            # Nearly all containers request nothing but these.
            if not isinstance(requests, dict) or PLAIN.issuperset(requests):
                continue
            missing = {
                name: amount for name, amount in requests.items() if amount is not None and not may_overcommit(name)
            }
            if missing:
                copy_amounts(job.below((*way, "resources"), container["resources"]), missing, "limits")

    return limit_what_is_not_shared


def containers_of(
    job: Draft, *tasks: str, lists: tuple[str, ...] = ("initContainers", "containers")
) -> Iterator[tuple[Way, dict[str, Any]]]:
    """Yield the containers of a job's templates that say something of resources, each with the way to it."""
    for way, spec in pod_specs_of(job, *tasks):
        for name in lists:
            containers = spec.get(name)
            if isinstance(containers, list):
                for index, container in enumerate(containers):
                    if isinstance(container, dict) and isinstance(container.get("resources"), dict):
                        yield (*way, name, index), container


def pod_specs_of(job: Draft, *tasks: str) -> Iterator[tuple[Way, dict[str, Any]]]:
    """Yield the pod specs of a job's templates, each with the way to it; `tasks` lead to its list, or map, of tasks."""
    for place, part in parts(job.value, ReferenceFields(tasks)):
        spec = mapping(part.get("template")).get("spec")
        if isinstance(spec, dict):
            yield (*tasks, place, "template", "spec"), spec


def copy_amounts(resources: Draft, amounts: dict[str, Any], side: str) -> None:
    """Add amounts of resources to one side, `limits` or `requests`, where it has none of the same name.

    Wrong amounts are rejected where they stand; on the other side too, they would be a fault that nobody wrote. What
    they need beside them, as huge pages need memory, is for the rules to say of the whole.
    """
    if not amounts or any(side_fits({side: amounts}, side, Path())):
        return
    there = resources.at(side)
    if there is None:
        resources.setdefault(side, dict(amounts))
        return
    for name, amount in amounts.items():
        there.setdefault(name, amount)
