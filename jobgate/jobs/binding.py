"""The expression that makes a kind: one custom resource bound to its defaults, rules and operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, TypeVar, Unpack

from pydantic import BaseModel

from crdgen import CustomResource
from jobgate.jobs.operator import Operator
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.runner import STATE, Runner, RunStatus
from jobgate.jobs.schema import StructuralSchema
from jobgate.jobs.tasks import listed_tasks
from jobgate.prerequisites.item import RECORD
from jobgate.prerequisites.reference import ANNOTATION
from webhook import Default, Kind, Rule, Task
from webhook.kind import Convert, TaskWord
from webhook.view import json_name

#: The annotations that are reviewed in jobs of all kinds; that by which kubectl remembers a file only gives a warning.
_REVIEWED: Final = (ANNOTATION, RECORD, COMMAND)


#: The attribute of a rule's function that names what it looks up.
_LOOKED_UP: Final = "looked_up"

Function = TypeVar("Function", bound=Callable[..., Any])


class More(TypedDict, total=False):
    """What few kinds have: the attributes of `webhook.Kind` of these names."""

    parts: str
    words: Mapping[str, tuple[str, ...]]
    task_words: Mapping[str, TaskWord]
    settings: type[BaseModel] | None
    watches: tuple[str, ...]
    conversion: Convert | None
    reviewed: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class JobKind(Kind):
    """A kind whose CRD is generated.

    Attributes:
        resource: what from: the names and models of its custom resource.
        runner: how its jobs are run here, or None where only their operator runs them.
    """

    resource: CustomResource = field(repr=False, compare=False)
    runner: Runner | None = field(default=None, repr=False, compare=False)


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
    tasks: Callable[[Any], Iterable[Task]] = listed_tasks,
    defaults: tuple[Default, ...] = (),
    rules: tuple[Rule, ...] = (),
    runner: Runner | None = None,
    **more: Unpack[More],
) -> JobKind:
    """Return the kind of a custom resource's stored version.

    Args:
        resource: names and models; the CRD is generated from it.
        operator: the profile of who runs its jobs.
        tasks: gives the neutral views of a spec's parts; by default those of its list `tasks`.
        defaults: what mutation adds, in order.
        rules: what validation checks beyond the schema.
        runner: how its jobs are run here, or None where only their operator runs them.
        more: what few kinds have. What the shared rules look up is watched by itself, and what they read of metadata
            reviewed.

    Raises:
        UnknownWord: a rule reads what is no word of the kind, nor of any other.
        TypeError: a rule is a plain function, or the status of a kind with a runner has no place for its state.
        ValueError: a rule can never be quiet: its `quiet` allows none of the values of a field.
    """
    looked_up = [name for one in rules for name in getattr(getattr(one, "check", one), _LOOKED_UP, ())]
    more["watches"] = tuple(dict.fromkeys((*looked_up, *more.get("watches", ()))))
    reviewed = more.get("reviewed", {})
    more["reviewed"] = {**reviewed, "annotations": (*_REVIEWED, *reviewed.get("annotations", ()))}
    if tasks is listed_tasks:
        more.setdefault("task_words", {})
    version = next(one for one in resource.versions if one.storage)
    if runner is not None and not issubclass(version.status or object, RunStatus):
        raise TypeError(f"the status of {resource.names.kind} lacks {STATE}: derive it from RunStatus")
    spec: type[BaseModel] = version.spec
    return JobKind(
        group=resource.group,
        version=version.name,
        kind=resource.names.kind,
        plural=resource.names.plural,
        spec=spec,
        schema=StructuralSchema(resource, json_name(spec, more.get("parts", "tasks"))),
        tasks=tasks,
        operator=operator,
        defaults=defaults,
        rules=rules,
        resource=resource,
        runner=runner,
        **more,
    )
