"""The shapes that Go's types give to JSON: what Kubernetes decodes a document into before it looks at what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias


class Scalar(Enum):
    """A value that has no fields."""

    TEXT = auto()
    BOOLEAN = auto()
    INT32 = auto()
    INT64 = auto()
    NUMBER = auto()
    BYTES = auto()
    TIME = auto()
    ANY = auto()


@dataclass(frozen=True)
class ListOf:
    """A list; a null in it is the item's zero value."""

    item: "Shape"


@dataclass(frozen=True)
class MapOf:
    """An object with any keys."""

    value: "Shape"


@dataclass(frozen=True)
class Struct:
    """An object with these fields. The fields are given by a function, because a schema holds schemas.

    Attributes:
        hints: What to do about a field that is none of these but known elsewhere, by its name.
    """

    name: str
    fields: Callable[[], Mapping[str, "Shape"]]
    hints: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """A struct or another shape, with a decoder of its own, below which unknown fields are never reported."""

    struct: Struct
    other: Scalar | ListOf


Shape: TypeAlias = Scalar | ListOf | MapOf | Struct | Choice

TEXTS = ListOf(Scalar.TEXT)
TEXT_MAP = MapOf(Scalar.TEXT)


def fields(shape: Shape, *names: str) -> dict[str, Shape]:
    """Return several fields of one shape."""
    return dict.fromkeys(names, shape)


def struct(name: str, /, **fields: Shape) -> Struct:
    """Return an object with these fields."""
    return Struct(name, lambda: fields)
