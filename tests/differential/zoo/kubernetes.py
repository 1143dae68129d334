"""Small models, one for each thing that a model can say."""

from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int32,
    Int64,
    IntOrString,
    MapList,
    MaxItems,
    MinItems,
    Model,
    Names,
    PodTemplate,
    PreserveUnknown,
    Quantity,
    SetList,
    Time,
    Version,
    Volumes,
)


class Color(StrEnum):
    """What colour it has."""

    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Scalars(Model):
    text: str = "a"
    flag: bool = False
    count: int = 1
    ratio: float = 0.5
    needed: str


class Bounds(Model):
    small: Annotated[int, Int32(minimum=1, maximum=9)] = 1
    large: Annotated[int, Int64] = 1
    above: Annotated[int, Field(gt=2, lt=10)] = 3
    tight: Annotated[int, Field(gt=2, ge=5)] = 6
    even: Annotated[int, Field(multiple_of=2)] = 2
    word: Annotated[str, Field(min_length=1, max_length=3)] = "ab"
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "z"


class Enums(Model):
    color: Color = Color.RED
    described: Annotated[Color, Doc("Its own words win.")] = Color.GREEN
    level: Level = Level.LOW
    word: Literal["on", "off"] = "on"
    only: Literal["z"] = "z"


class Optionals(Model):
    name: str | None = None
    size: Annotated[int | None, Int32(minimum=1)] = None
    color: Color | None = None
    must_say: Annotated[str | None, Doc("Null means that nobody has it.")]
    or_default: int | None = 3


class Inner(Model):
    """An inner part.

    Its second paragraph
    goes over two lines.
    """

    name: str
    weight: Annotated[int, Int32(minimum=0)] = 5
    note: str | None = None


class Nested(Model):
    inner: Inner
    again: Annotated[Inner | None, Doc("The same type, other words.")] = None
    ready: Inner = Inner(name="ready")
    many: list[Inner] = Field(default_factory=list)
    by_name: dict[str, Inner] = Field(default_factory=dict)


class Lists(Model):
    atomic: Annotated[list[str], Atomic, MinItems(1), MaxItems(3)]
    merged: Annotated[list[Inner], MapList("name")] = Field(default_factory=list)
    names: Annotated[list[str], SetList] = Field(default_factory=list)
    numbers: list[int | None] = Field(default_factory=list)
    nested: list[list[int]] = Field(default_factory=list)
    unique: set[str] = Field(default_factory=set)


class Kubernetes(Model):
    port: IntOrString = 80
    either: int | str = "x"
    memory: Quantity = "1Gi"
    since: Time | None = None
    anything: Any = None
    open: Annotated[dict[str, Any], PreserveUnknown] = Field(default_factory=dict)
    free: dict[str, Any] = Field(default_factory=dict)
    counts: dict[str, dict[str, Annotated[int, Int32]]] = Field(default_factory=dict)


class WithPods(Model):
    """Pods, and what they share."""

    template: PodTemplate
    volumes: Volumes | None = None


class Status(Model):
    phase: str = "Pending"
    replicas: Annotated[int, Int32] = 0
    since: Time | None = None


# Each of these is turned into a schema, compared with its golden file, and held against its own model.
PLAIN: tuple[type[Model], ...] = (Scalars, Bounds, Enums, Optionals, Nested, Lists, Kubernetes)


def resource(spec: type[Model], plural: str = "") -> CustomResource:
    """Return a custom resource around the model, with a status and columns."""
    columns = (
        Column("Phase", ".status.phase"),
        Column("Replicas", ".status.replicas"),
        Column("Since", ".status.since", priority=1),
        Column("Age", ".metadata.creationTimestamp"),
    )
    return CustomResource(
        group="zoo.example.com",
        names=Names(kind=spec.__name__, plural=plural, short_names=(spec.__name__[:4].lower(),), categories=("zoo",)),
        versions=(Version("v1", spec=spec, status=Status, columns=columns),),
    )
