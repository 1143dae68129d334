"""The format of a file that describes a kind of job. Its JSON Schema is published for editors.

A path names a value of the object. With a dot at its beginning, as in `.spec.suspend`, it leads from the object on;
without one, from the task on. Keys with dots are in brackets: `.metadata.labels[kueue.x-k8s.io/queue-name]`.
"""

import re
from functools import cached_property
from string import Formatter
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from crdgen.podtemplate import load
from jobgate.configured.catalogue import named_in_catalogue, names
from jobgate.names import LABEL_LIMIT, SUBDOMAIN_LIMIT
from webhook.path import steps_of
from webhook.values import mapping

_STEP: Final = r"(?:[^.\[\]\s]+|\[[^\]]+\])(?:\.[^.\[\]\s]+|\[[^\]]+\])*"
#: What a pattern of names may have, and what that of pods.
PLACEHOLDERS: Final = frozenset({"job", "task", "index", "inner", "random", "hash"})
_OF_PODS: Final = frozenset({"job", "task", "index"})


def _path(pattern: str, description: str) -> tuple[AfterValidator, WithJsonSchema]:
    """Return the check of a path, and its schema for editors."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError("must be a path, as .spec.template from the object on, or template from the task on")
        return value

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": pattern, "description": description})


def _pattern(value: str, known: frozenset[str]) -> str:
    """Return a pattern of names, or raise if it has stray braces or other placeholders than the known ones."""
    shown = ", ".join(f"{{{name}}}" for name in sorted(known))
    try:
        parts = [*Formatter().parse(value)]
    except ValueError as error:
        raise ValueError(f"stray brace ({error}): braces are only for placeholders, which are {shown}") from None
    for _, name, *rest in parts:
        if name is not None and (name not in known or any(rest)):
            raise ValueError(f"unknown placeholder {{{name}}}: must be one of {shown}")
    return value


Path: TypeAlias = Annotated[str, *_path(rf"^\.?{_STEP}$", "Path of a value, as .spec.replicas.")]
ObjectPath: TypeAlias = Annotated[str, *_path(rf"^\.{_STEP}$", "Path from the object on.")]
TemplatePath: TypeAlias = Annotated[str, *_path(rf"^(\.|\.?{_STEP})$", "Path; . is the task itself.")]


class Model(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )
    #: Exactly one of these fields is set.
    one_of: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if self.one_of and sum(getattr(self, name) not in (None, (), "") for name in self.one_of) != 1:
            raise ValueError(f"must have one of {', '.join(self.one_of[:-1])} and {self.one_of[-1]}")
        return self


class Count(Model):
    """A number in the object: of one field, of several multiplied, or the smallest of several."""

    one_of = ("path", "times", "smallest")
    path: Path | None = Field(None, description="The field with the number.")
    default: StrictInt | None = Field(None, description="The number if the field is absent; 1 by default.")
    plus: StrictInt = Field(0, description="Is added to the number, for example -1.")
    times: tuple["Count | Path | StrictInt", ...] = Field((), description="Numbers that are multiplied.")
    smallest: tuple["Count | Path | StrictInt", ...] = Field((), description="Numbers; the smallest counts.")


class TaskName(Model):
    """The name of a task: a constant, or its key in a map."""

    one_of = ("value", "key")
    value: str = Field("", description="The name, if all objects of the kind have this task.")
    key: Literal["same", "lower"] | None = Field(None, description="The key in the map: as it is, or in lower case.")


class Assembled(Model):
    """A part of a pod that the operator takes from another field than a pod template."""

    to: str = Field(description="Field of the pod; with [] at the end, a list gets items.")
    path: TemplatePath | None = Field(None, description="The field that the operator copies.")
    value: Any = Field(None, description="A constant; with `path`, fields that each object there gets.")

    @field_validator("to")
    @classmethod
    def _is_in_pods(cls, value: str) -> str:
        schema: Any = load()["PodTemplateSpec"]
        for step in steps_of(value.removesuffix("[]")):
            inner = mapping(schema.get("properties")).get(str(step)) or schema.get("additionalProperties")
            schema = schema.get("items") if isinstance(step, int) else inner
            if not schema:
                raise ValueError(f"pods have no field {step} there: must be as spec.volumes[] or spec.nodeSelector")
        return value

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if self.value is None if self.path is None else not isinstance(self.value or {}, dict):
            raise ValueError("must have path, value, or both with a mapping of fields as value")
        return self


class TaskSource(Model):
    """Where the object has tasks: groups of pods with one template."""

    one_of = ("at", "each")
    at: ObjectPath | None = Field(None, description="Path of the only task.")
    each: ObjectPath | None = Field(None, description="Path of a list or a map of tasks.")
    required: bool = Field(False, description="Whether an object without these tasks is invalid.")
    keys: tuple[str, ...] = Field((), description="The keys of these tasks in the map; others are denied.")
    when: tuple[Path, ...] = Field((), description="A task has at least one of these fields; others have no pods.")
    name: Path | TaskName | None = Field(None, description="The task's name: its path, or a constant or key.")
    replicas: Count | Path | StrictInt = Field(1, description="Number of pods.")
    least: Count | Path | StrictInt | None = Field(None, description="Lower bound of the first number of replicas.")
    most: Count | Path | StrictInt | None = Field(None, description="Upper bound of the first number of replicas.")
    min_available: Path | None = Field(None, description="Pods of the task that start together.")
    depends_on: Path | None = Field(None, description="List of tasks to wait for: names, or objects with a name.")
    template: TemplatePath | tuple[TemplatePath, ...] = Field((), description="Path of the pod template, or several.")
    pod: tuple[Assembled, ...] = Field((), description="Parts of the pod that are not in the template.")

    @property
    def has_pods(self) -> bool:
        """Whether the tasks are pods; others are created from another object."""
        return bool(self.template or self.pod)


class DerivedName(Model):
    """A name that the operator derives from the job's."""

    of: str = Field(min_length=1, description="What has the name, for messages: the pods, the head Service.")
    pattern: str = Field(description=f"The name, with any of {', '.join(sorted(PLACEHOLDERS))} in braces.")
    task: str = Field("", description="The only task that has the name.")
    format: Literal["label", "dns1035", "subdomain"] = Field("label", description="Which characters it may have.")
    most: int = Field(LABEL_LIMIT, ge=1, le=SUBDOMAIN_LIMIT, description="Its maximum length.")

    @field_validator("pattern")
    @classmethod
    def _placeholders(cls, value: str) -> str:
        return _pattern(value, PLACEHOLDERS)


class RestartPolicies(Model):
    """The restart policies that the operator's pods may have."""

    allowed: tuple[str, ...] = Field(("Never", "OnFailure"), min_length=1, description="The allowed values.")
    default: str = Field("Always", description="The value if the template has none.")


class OperatorEntry(Model):
    """The program that creates the pods."""

    name: str = Field(min_length=1, description="Its name in messages.")
    kubernetes: str = Field(
        "1.99", pattern=r"^1\.[0-9]{1,2}$", description="Version of its types, which drop newer fields."
    )
    pod_name: str = Field("{job}-{task}-{index}", description="Names of the pods, for `jobgate explain`.")
    overwrites: dict[str, Any] = Field({}, description="Fields of the pod spec that it overwrites, with their values.")
    defaults: tuple[ObjectPath, ...] = Field((), description="Required fields that its own webhook sets.")
    restart_policy: RestartPolicies | None = Field(None, description="Restart policies of its pods, if limited.")
    volumes: tuple[str, ...] = Field((), description="Names of volumes that it adds to pods.")
    claims: tuple[ObjectPath, ...] = Field((), description="Lists of claim templates; pods get a volume for each.")

    @field_validator("pod_name")
    @classmethod
    def _placeholders(cls, value: str) -> str:
        return _pattern(value, _OF_PODS)


class MembersEntry(Model):
    """The labels by which the pods of a job are recognized, for prerequisites and plugins."""

    job: str = Field(min_length=1, description="Label with the name of the job.")
    task: str = Field(min_length=1, description="Label with the name of the task.")
    index: str = Field(
        "",
        description="Label or annotation with the pod's index in its task, from 0. Without it, there are no plugins.",
    )


class Fields(Model):
    """Fields of the object that rules of all kinds know, each by its path."""

    suspend: ObjectPath | None = None
    queue: ObjectPath | None = None
    scheduler_name: ObjectPath | None = None
    priority_class_name: ObjectPath | None = None
    min_available: ObjectPath | None = Field(None, description="Pods of the job that start together.")
    min_replicas: ObjectPath | None = Field(None, description="Least pods of all tasks together.")
    max_replicas: ObjectPath | None = Field(None, description="Most pods of all tasks together.")

    @cached_property
    def paths(self) -> dict[str, str]:
        """The paths of the fields that the kind has."""
        return {name: path for name in type(self).model_fields if (path := getattr(self, name)) is not None}


#: Fields of an entry that are of no use once it is complete.
LIKE: Final = {"like", "moved"}


def _moved(value: Any, places: Any) -> Any:
    """Return JSON in which the beginnings of paths are replaced."""
    if isinstance(value, dict):
        return {key: _moved(part, places) for key, part in value.items()}
    if isinstance(value, list):
        return [_moved(part, places) for part in value]
    for old, new in places.items() if isinstance(places, dict) and isinstance(value, str) else ():
        if value == old or value.startswith((f"{old}.", f"{old}[")):
            return f"{new}{value[len(old) :]}"
    return value


class Entry(Model):
    """A kind of job that others define."""

    model_config = ConfigDict(
        title="A kind of job for jobgate",
        # `like` can replace the others.
        json_schema_extra={"required": ["group", "versions", "kind", "plural"]},
    )

    group: str = Field(description='The group of the kind, for example ray.io; "" for the core group.')
    versions: tuple[str, ...] = Field(min_length=1, description="Served versions with this shape, the preferred first.")
    kind: str = Field(pattern=r"^[A-Z][A-Za-z0-9]*$", description="The kind, for example RayCluster.")
    plural: str = Field(pattern=r"^[a-z][a-z0-9]*$", description="The plural in URLs, for example rayclusters.")
    operator: OperatorEntry
    names: tuple[DerivedName, ...] = Field((), description="Names that the operator derives from the job's.")
    tasks: tuple[TaskSource, ...] = Field(min_length=1, description="Where the object has tasks.")
    fields_: Fields = Field(Fields(), alias="fields", description="Fields that rules of all kinds know.")
    together: bool = Field(True, description="Whether the pods of all tasks run at the same time.")
    queue_of: Literal["kueue", "volcano"] = Field("kueue", description="Whose queue `fields.queue` names.")
    placeholder: str = Field("", description="Text in values that are filled in later and not checked, as {{.")
    members: MembersEntry | None = Field(None, description="How the pods of a job are recognized.")
    like: str = Field("", description="Kind of the catalogue, as rayjobs.ray.io, that has the fields which are absent.")
    moved: dict[ObjectPath, ObjectPath] = Field(
        {}, description="Where paths of that kind are in this one: {.spec: .spec.template} if its spec is inside."
    )

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, value: Any) -> Any:
        """Take fields that are absent from the entry that `like` names."""
        if not isinstance(value, dict) or not value.get("like"):
            return value
        if not isinstance(value["like"], str) or not (alike := named_in_catalogue(value["like"])):
            raise ValueError(f"like: must be a kind of the catalogue: {', '.join(names())}")
        base = alike[0].model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=LIKE)
        return {**_moved(base, value.get("moved")), **value}

    @property
    def has_plugins(self) -> bool:
        """Whether pods can get plugins."""
        return self.members is not None and bool(self.members.index)

    @property
    def name(self) -> str:
        """The name of its CRD, `<plural>.<group>`."""
        return f"{self.plural}.{self.group}"
