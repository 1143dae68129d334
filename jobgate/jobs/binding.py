"""The expression that makes a kind: one custom resource bound to its defaults, rules and operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypedDict, TypeVar, Unpack

from pydantic import BaseModel

from crdgen import CustomResource
from jobgate.jobs.context import is_forgetful
from jobgate.jobs.job import SHARED_FIELDS, Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.operator import Operator
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.runner import STATE, Runner, RunStatus
from jobgate.jobs.schema import StructuralSchema
from jobgate.jobs.task import Task
from jobgate.jobs.tasks import listed_tasks, tasks_in_fields
from jobgate.prerequisites.item import RECORD
from jobgate.prerequisites.reference import ANNOTATION
from webhook import Default, Rule
from webhook.kind import Convert
from webhook.view import json_name

#: The annotations that are reviewed in jobs of all kinds; that by which kubectl remembers a file only gives a warning.
_REVIEWED: Final = (ANNOTATION, RECORD, COMMAND)


#: The attribute of a rule's function that names what it looks up.
_LOOKED_UP: Final = "looked_up"

Function = TypeVar("Function", bound=Callable[..., Any])


class More(TypedDict, total=False):
    """What few kinds have: the attributes of `webhook.Kind` with these names."""

    fields: Mapping[str, str | tuple[str, ...]]
    settings: type[BaseModel] | None
    watches: tuple[str, ...]
    conversion: Convert | None
    reviewed: Mapping[str, tuple[str, ...]]


def looks_up(*resources: str) -> Callable[[Function], Function]:
    """Declare the resources that the rule below looks up: a kind with this rule watches them."""

    def marked(check: Function) -> Function:
        setattr(check, _LOOKED_UP, resources)
        return check

    return marked


def bind(
    resource: CustomResource,
    *,
    operator: Operator,
    tasks: Callable[[Any], Iterable[Task]] | None = None,
    defaults: tuple[Default, ...] = (),
    rules: tuple[Rule, ...] = (),
    runner: Runner | None = None,
    **more: Unpack[More],
) -> JobKind:
    """Return the kind of a custom resource's stored version.

    Args:
        resource: names and models; the CRD is generated from it.
        operator: the profile of who runs its jobs.
        tasks: gives the tasks of a spec; by default the items of its list `tasks`, or of the list that `fields` names
            for it. If `fields` names several, `{"tasks": ("chief", "workers")}`, each of these fields is a task.
        defaults: what mutation adds, in order.
        rules: what validation checks beyond the schema.
        runner: how jobgate runs its jobs, or None if only their operator runs them.
        more: what few kinds have. What the shared rules look up is watched, and the metadata that they read is
            reviewed, without being named here.

    Raises:
        UnknownField: a rule is about a field that neither the kind nor any other has.
        TypeError: a rule is a plain function, or the status of a kind with a runner has no place for its state.
    """
    looked_up = [name for one in rules for name in getattr(getattr(one, "check", one), _LOOKED_UP, ())]
    more["watches"] = tuple(dict.fromkeys((*looked_up, *more.get("watches", ()))))
    reviewed = more.get("reviewed", {})
    more["reviewed"] = {**reviewed, "annotations": (*_REVIEWED, *reviewed.get("annotations", ()))}
    version = next(one for one in resource.versions if one.storage)
    if runner is not None and not issubclass(version.status or object, RunStatus):
        raise TypeError(f"the status of {resource.names.kind} lacks {STATE}: derive it from RunStatus")
    spec: type[BaseModel] = version.spec
    attributes = more.get("fields", {}).get("tasks", "tasks")
    place: tuple[str | tuple[str, ...], ...]
    if isinstance(attributes, str):
        key = json_name(spec, attributes)
        place, given = ("spec", key), listed_tasks(attributes, key)
    else:
        keys = {attribute: json_name(spec, attribute) for attribute in attributes}
        place, given = ("spec", tuple(keys.values())), tasks_in_fields(keys)
    return JobKind(
        group=resource.group,
        version=version.name,
        kind=resource.names.kind,
        plural=resource.names.plural,
        spec=spec,
        schema=StructuralSchema(resource, place),
        view=Job,
        known_fields=SHARED_FIELDS,
        restores=is_forgetful,
        tasks=tasks or given,
        operator=operator,
        defaults=defaults,
        rules=rules,
        resource=resource,
        runner=runner,
        **more,
    )
