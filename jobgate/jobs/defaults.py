"""Defaults that every kind with pod templates can share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from jobgate.jobs.context import Context
from jobgate.jobs.twins import Fill, Place, says
from jobgate.podchecks.resources import HUGE_PAGES, PLAIN, may_overcommit, side_fits
from webhook import Default, Draft, Path
from webhook.values import parts

#: CEL: whether a resource is no device and no huge page, and whether an amount of any resource is surely valid.
_SHARED = f"name in {json.dumps(sorted(PLAIN))}"
SURE_AMOUNT = (
    f'({_SHARED} ? string(amount).matches("^[1-9][0-9]{{0,8}}(m|[KMGT]i?)?$")'
    f' : !name.startsWith("{HUGE_PAGES}") && string(amount).matches("^[1-9][0-9]{{0,8}}$"))'
)


def fill(part: Draft, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields; the schema has the same defaults, from the same model."""
    part.fill(_constant_defaults(model))


def fill_each(job: Draft, *keys: str, model: type[BaseModel]) -> None:
    """Add the constant defaults of a model's fields to each object in the list below these fields."""
    constant = _constant_defaults(model)
    for part in job.each(*keys):
        part.fill(constant)


@cache
def _constant_defaults(model: type[BaseModel]) -> Mapping[str, Any]:
    fields = ((field.alias or name, field) for name, field in model.model_fields.items())
    defaults = ((name, field.get_default()) for name, field in fields if not field.is_required())
    return {name: to_jsonable_python(value) for name, value in defaults if value is not None}


def limit_what_is_not_shared(*tasks: str | tuple[str, ...]) -> Default:
    """Return the default that sets missing limits of devices and huge pages to their requests.

    The API server rejects a pod without such a limit, or with any other limit. Without the default the job would be
    stored, but its pods would never be created.

    Args:
        tasks: the path of the list or map of tasks, each with a `template`. A tuple at the end names fields that are
            the tasks: `"spec", ("chief", "workers")`.
    """

    @says(
        Fill(
            Place.ANY_CONTAINER,
            "resources.limits",
            f"container.resources.requests.transformMap(name, amount, !({_SHARED}), amount)",
            f"has(container.resources.requests) && !container.resources.requests.all(name, {_SHARED}) && "
            f"container.resources.requests.all(name, amount, {_SHARED} || {SURE_AMOUNT})",
            "has(container.resources) && has(container.resources.requests) && !container.resources.requests.all(name, "
            f"{_SHARED} || (has(container.resources.limits) && name in container.resources.limits))",
        ),
    )
    def limit_what_is_not_shared(job: Draft, _: Context) -> None:
        """Missing limits of devices and huge pages are set to the requests: no other limit is valid."""
        for resources in resources_of(job, *tasks, where=_requests_what_is_not_shared):
            copy_amounts(resources, _not_shared(resources["requests"]), "limits")

    return limit_what_is_not_shared


def _requests_what_is_not_shared(_: Mapping[str, Any], resources: Mapping[str, Any]) -> bool:
    requests = resources.get("requests")
    # Fast for nearly all containers, which request only CPU and memory.
    return isinstance(requests, dict) and not PLAIN.issuperset(requests) and bool(_not_shared(requests))


def _not_shared(requests: Mapping[str, Any]) -> dict[str, Any]:
    return {name: amount for name, amount in requests.items() if amount is not None and not may_overcommit(name)}


def resources_of(
    job: Draft,
    *tasks: str | tuple[str, ...],
    where: Callable[[Mapping[str, Any], Mapping[str, Any]], bool],
    lists: tuple[str, ...] = ("initContainers", "containers"),
) -> Iterator[Draft]:
    """Yield the drafts of the `resources` of containers in a job's templates.

    Args:
        job: any JSON object.
        tasks: the path of the tasks, as for `limit_what_is_not_shared`.
        where: returns for a container and its resources whether to yield them.
        lists: the lists of containers.
    """
    for place, spec in pod_specs_of(job, *tasks):
        for name in lists:
            containers = spec.get(name)
            for index, container in enumerate(containers) if isinstance(containers, list) else ():
                resources = container.get("resources") if isinstance(container, dict) else None
                if isinstance(resources, dict) and where(container, resources):
                    way = (*_way(tasks), place, "template", "spec", name, index, "resources")
                    yield job.below(way, resources)


def pod_specs_of(job: Draft, *tasks: str | tuple[str, ...]) -> Iterator[tuple[str | int, dict[str, Any]]]:
    """Yield the pod specs of a job's templates, each with the index, or the key, of its task.

    Args:
        job: any JSON object.
        tasks: the path of the tasks, as for `limit_what_is_not_shared`.
    """
    for place, part in parts(job.value, tasks):
        template = part.get("template")
        spec = template.get("spec") if isinstance(template, dict) else None
        if isinstance(spec, dict):
            yield place, spec


def _way(tasks: tuple[str | tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(step for step in tasks if isinstance(step, str))


def copy_amounts(resources: Draft, amounts: dict[str, Any], side: str) -> None:
    """Add the amounts that are absent on a side, `limits` or `requests`.

    Invalid amounts are not copied: the copy would be reported as a second fault, which the user did not write.
    Combinations, such as huge pages without memory, are checked by rules.
    """
    if not amounts or any(side_fits({side: amounts}, side, Path())):
        return
    target = resources.at(side)
    if target is None:
        resources.setdefault(side, dict(amounts))
        return
    for name, amount in amounts.items():
        target.setdefault(name, amount)
