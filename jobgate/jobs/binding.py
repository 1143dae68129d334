"""Creates a kind: binds a custom resource to its defaults and rules and, if it is of jobs, to its operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypedDict, TypeVar, Unpack, overload

from pydantic import BaseModel

from crdgen import CustomResource
from jobgate.jobs.context import is_forgetful
from jobgate.jobs.elastic import ELASTIC
from jobgate.jobs.fields import TaskScale
from jobgate.jobs.job import SHARED_FIELDS, Job
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.operator import Operator
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.runner import Runner
from jobgate.jobs.schema import StructuralSchema
from jobgate.jobs.status import STATE, RunStatus
from jobgate.jobs.task import Task
from jobgate.prerequisites.reference import ANNOTATION, RECORD
from webhook import Default, OtherVersion, Path, Rule
from webhook.kind import Rewrite
from webhook.view import json_name

#: The annotations that are reviewed in jobs of all kinds; kubectl's last-applied annotation only causes a warning.
REVIEWED: Final = (ANNOTATION, RECORD, COMMAND, ELASTIC)

#: Where the replicas of the task are that `spec.scale` names.
_SCALED: Final = Path("spec") / "scale" / "replicas"
#: The attribute of a rule's function with the resources that it looks up.
_LOOKED_UP: Final = "looked_up"

Function = TypeVar("Function", bound=Callable[..., Any])


class More(TypedDict, total=False):
    """Optional attributes of `webhook.Kind`, which few kinds set."""

    fields: Mapping[str, str | tuple[str, ...]]
    settings: type[BaseModel] | None
    watches: tuple[str, ...]
    versions: Mapping[str, OtherVersion]
    older: Rewrite | None
    reviewed: Mapping[str, tuple[str, ...]]


def looks_up(*resources: str) -> Callable[[Function], Function]:
    """Declare the resources that the rule below looks up: a kind with this rule watches them."""

    def marked(check: Function) -> Function:
        setattr(check, _LOOKED_UP, resources)
        return check

    return marked


def looked_up(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return the resources that rules look up."""
    resources = (name for rule in rules for name in getattr(getattr(rule, "check", rule), _LOOKED_UP, ()))
    return tuple(dict.fromkeys(resources))


@overload
def bind(
    resource: CustomResource,
    *,
    defaults: tuple[Default, ...] = ...,
    rules: tuple[Rule, ...] = ...,
    **more: Unpack[More],
) -> CustomKind: ...


@overload
def bind(
    resource: CustomResource,
    *,
    operator: Operator,
    tasks: Callable[[Any], Iterable[Task]] | None = ...,
    defaults: tuple[Default, ...] = ...,
    rules: tuple[Rule, ...] = ...,
    runner: Runner[Any] | None = ...,
    **more: Unpack[More],
) -> JobKind: ...


def bind(
    resource: CustomResource,
    *,
    operator: Operator | None = None,
    tasks: Callable[[Any], Iterable[Task]] | None = None,
    defaults: tuple[Default, ...] = (),
    rules: tuple[Rule, ...] = (),
    runner: Runner[Any] | None = None,
    **more: Unpack[More],
) -> CustomKind:
    """Return the kind of a custom resource's stored version.

    Args:
        resource: names and models; the CRD is generated from it.
        operator: the profile of the program that runs its jobs; without it, the objects are no jobs.
        tasks: returns the tasks of a spec; by default the items of the list `tasks`, or of its name in `fields`. If
            `fields` names several, `{"tasks": ("chief", "workers")}`, each of these fields is a task.
        defaults: applied by mutation, in order.
        rules: checked by validation, in addition to the schema.
        runner: how jobgate runs its jobs, or None if only their operator runs them.
        more: optional attributes. The resources that rules with `@looks_up` look up are watched, and the metadata that
            shared rules read is reviewed, without being listed here.

    Raises:
        UnknownField: a rule is about a field that no kind has.
        TypeError: a rule is a plain function, the status of a kind with a runner lacks the runner's state, a kind has
            tasks or a runner without an operator, or `versions` are not the other versions of the resource.
    """
    more["watches"] = tuple(dict.fromkeys((*looked_up(rules), *more.get("watches", ()))))
    version = next(version for version in resource.versions if version.storage)
    others = [other.name for other in resource.versions if other is not version]
    if (converted := more.get("versions")) and sorted(converted) != sorted(others):
        text = (
            f"versions of {resource.names.kind} has {', '.join(converted)}, and must have {', '.join(others) or 'none'}"
        )
        raise TypeError(f"{text}: the versions of its resource beside {version.name}, which is stored")
    names: dict[str, Any] = {
        "group": resource.group,
        "version": version.name,
        "kind": resource.names.kind,
        "plural": resource.names.plural,
        "spec": version.spec,
    }
    if operator is None:
        if tasks or runner or "tasks" in more.get("fields", {}):
            raise TypeError(f"tasks of {resource.names.kind} need an operator: the program that creates their pods")
        return CustomKind(
            **names,
            schema=StructuralSchema(resource),
            restores=is_forgetful,
            defaults=defaults,
            rules=rules,
            resource=resource,
            **more,
        )
    reviewed = more.get("reviewed", {})
    more["reviewed"] = {**reviewed, "annotations": (*REVIEWED, *reviewed.get("annotations", ()))}
    if runner is not None and not issubclass(version.status or object, RunStatus):
        raise TypeError(f"the status of {resource.names.kind} lacks {STATE}: derive it from RunStatus")
    spec: type[BaseModel] = version.spec
    attributes = more.get("fields", {}).get("tasks", "tasks")
    place: tuple[str | tuple[str, ...], ...]
    if isinstance(attributes, str):
        key = json_name(spec, attributes)
        place, given = ("spec", key), _listed_tasks(attributes, key)
    else:
        keys = {attribute: json_name(spec, attribute) for attribute in attributes}
        place, given = ("spec", tuple(keys.values())), _tasks_in_fields(keys)
    return JobKind(
        **names,
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


def _listed_tasks(attribute: str, key: str) -> Callable[[Any], Iterator[Task]]:
    """Return the function that creates the tasks of a spec from a list, by its attribute and its key in JSON."""
    path = Path("spec") / key

    def tasks(spec: Any) -> Iterator[Task]:
        scale = spec.__dict__.get("scale")
        # An invalid one lacks a field.
        given = scale.__dict__ if isinstance(scale, TaskScale) else {}
        name, replicas = given.get("task"), given.get("replicas")
        for index, task in enumerate(getattr(spec, attribute)):
            if name is None or replicas is None or task.__dict__.get("name") != name:
                yield Task(path / index, task)
            else:
                yield Task(path / index, task, None, {"replicas": _SCALED}, replicas=replicas)

    return tasks


def _tasks_in_fields(fields: Mapping[str, str]) -> Callable[[Any], Iterator[Task]]:
    """Return the function that creates the tasks of a spec with a field for each, named after their fields.

    `fields` has the keys in JSON by attribute.
    """
    places = {attribute: (key.lower(), Path("spec") / key) for attribute, key in fields.items()}

    def tasks(spec: Any) -> Iterator[Task]:
        for attribute, (name, place) in places.items():
            if (task := getattr(spec, attribute)) is not None:
                yield Task(place, task, None, {"name": place}, name=name)

    return tasks
