"""Decode JSON like the API server, by the shapes of Go's types, and collect wrong types and unknown fields.

Rules only check the decoded form, so they never see a wrong type: nulls, unknown fields and values of a wrong type are
absent from it.
"""

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from crdgen.formats import is_date_time

_INT32: Final = 2**31
_INT64: Final = 2**63
# The last step of a path, with its keys or indexes: `labels[example.com/name]`.
_LAST: Final = re.compile(r"[^.\[\]]+(?:\[[^\[\]]*\])*$")
_ABSENT: Final = object()

#: Limit of nesting. Deeper documents are not checked, so that rules can recurse.
DEPTH: Final = 160


class Scalar(Enum):
    """Type of a value without fields."""

    TEXT = auto()
    BOOLEAN = auto()
    INT32 = auto()
    INT64 = auto()
    NUMBER = auto()
    BYTES = auto()
    TIME = auto()
    ANY = auto()


class ListOf(msgspec.Struct, frozen=True):
    """A list; a null item becomes the zero value."""

    item: "Shape"


class MapOf(msgspec.Struct, frozen=True):
    """An object with arbitrary keys."""

    value: "Shape"


class Struct(msgspec.Struct, frozen=True):
    """An object with these fields.

    Attributes:
        hints: Fixes by name, for unknown fields that are known in other objects.
    """

    fields: Mapping[str, "Shape"]
    hints: Mapping[str, str] = {}


class Choice(msgspec.Struct, frozen=True):
    """A struct or another shape. Its Go type has its own decoder, and never reports unknown fields."""

    struct: Struct
    other: Scalar | ListOf


Shape: TypeAlias = Scalar | ListOf | MapOf | Struct | Choice

TEXTS = ListOf(Scalar.TEXT)
TEXT_MAP = MapOf(Scalar.TEXT)


def fields(shape: Shape, *names: str) -> dict[str, Shape]:
    """Return several fields of the same shape."""
    return dict.fromkeys(names, shape)


def struct(**fields: Shape) -> Struct:
    """Return an object with these fields."""
    return Struct(fields)


class DecodingProblem(NamedTuple):
    """A value that cannot be decoded, or an unknown field; an `unseen` field is dropped even by strict decoding."""

    path: str
    problem: str
    fix: str
    value: Any
    unknown: bool = False
    unseen: bool = False


class Decoder(msgspec.Struct):
    """Decodes one document; collects `problems`."""

    problems: list[DecodingProblem] = []

    def read(self, value: Any, shape: Shape, path: str) -> Any:
        """Return the decoded value, or the zero value if it cannot be decoded."""
        decoded = self._read(value, shape, path, seen=True)
        return zero(shape) if decoded is _ABSENT else decoded

    def _read(self, value: Any, shape: Shape, path: str, *, seen: bool) -> Any:
        if value is None:
            return _ABSENT
        match shape:
            case Struct():
                return self._struct(value, shape, path, seen=seen)
            case MapOf():
                return self._map(value, shape, path, seen=seen)
            case ListOf():
                return self._list(value, shape, path, seen=seen)
            case Choice():
                return self._choice(value, shape, path)
            case Scalar():
                return self._scalar(value, shape, path)

    def _struct(self, value: Any, shape: Struct, path: str, *, seen: bool) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong(path, value, "an object")
        fields = shape.fields
        result = {}
        for name, child in value.items():
            field_path = under(path, name)
            field_shape = fields.get(name) if isinstance(name, str) else None
            if field_shape is None:
                fix = shape.hints.get(name, "remove it") if shape.hints else "remove it, or correct its spelling"
                problem = f"{name} is unknown to the API server"
                self.problems.append(DecodingProblem(field_path, problem, fix, child, unknown=True, unseen=not seen))
                continue
            decoded = self._read(child, field_shape, field_path, seen=seen)
            if decoded is not _ABSENT:
                result[name] = decoded
        return result

    def _map(self, value: Any, shape: MapOf, path: str, *, seen: bool) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong(path, value, "an object")
        result = {}
        for name, child in value.items():
            decoded = self._read(child, shape.value, f"{path}[{name}]", seen=seen)
            result[str(name)] = zero(shape.value) if decoded is _ABSENT else decoded
        return result

    def _list(self, value: Any, shape: ListOf, path: str, *, seen: bool) -> Any:
        if not isinstance(value, list):
            return self._wrong(path, value, "a list")
        decoded = [self._read(child, shape.item, f"{path}[{index}]", seen=seen) for index, child in enumerate(value)]
        return [zero(shape.item) if child is _ABSENT else child for child in decoded]

    def _choice(self, value: Any, shape: Choice, path: str) -> Any:
        """Decode a type with its own UnmarshalJSON, which accepts nearly anything and ignores unknown fields."""
        if isinstance(value, Mapping):
            return self._struct(value, shape.struct, path, seen=False)
        if isinstance(shape.other, Scalar):
            return value if isinstance(value, bool) else self._wrong(path, value, "true, false or a schema")
        return self._list(value, shape.other, path, seen=False) if isinstance(value, list) else []

    def _scalar(self, value: Any, shape: Scalar, path: str) -> Any:
        is_valid, expected, _ = _SCALARS[shape]
        return value if is_valid(value) else self._wrong(path, value, expected)

    def _wrong(self, path: str, value: Any, expected: str) -> Any:
        match = _LAST.search(path)
        keyword = match[0] if match else path
        fix = _FIXES.get(keyword, f"write {expected}")
        self.problems.append(DecodingProblem(path, f"{keyword} must be {expected}", fix, value))
        return _ABSENT


def zero(shape: Shape) -> Any:
    """Return Go's zero value of a type."""
    if isinstance(shape, Scalar):
        return _SCALARS[shape][2]
    return {} if isinstance(shape, Struct | MapOf) else []


def under(path: str, name: object) -> str:
    """Return the path of a field."""
    return f"{path}.{name}" if path else str(name)


def is_too_deep(document: Any) -> bool:
    """Return whether the document is nested more deeply than `DEPTH`, or contains itself."""
    level: list[Mapping[Any, Any] | list[Any]] = [[document]]
    for _ in range(DEPTH + 1):
        # A shared part, such as a YAML alias, counts once.
        lists = (value.values() if isinstance(value, Mapping) else value for value in level)
        inner = {id(child): child for values in lists for child in values}
        level = [child for child in inner.values() if isinstance(child, Mapping | list)]
        if not level:
            return False
    return True


def _is_int(value: Any, end: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -end <= value < end


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_base64(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_json(value: Any) -> bool:
    """Return whether JSON can represent the value: YAML also has dates, infinity and NaN."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_json(child) for key, child in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | bool) or _is_number(value)


#: For each scalar: a check of values, its name in messages, and Go's zero value.
_SCALARS: Final[dict[Scalar, tuple[Callable[[Any], bool], str, Any]]] = {
    Scalar.ANY: (_is_json, "JSON", None),
    Scalar.TEXT: (lambda value: isinstance(value, str), "a text", ""),
    Scalar.BOOLEAN: (lambda value: isinstance(value, bool), "a boolean: true or false", False),
    Scalar.INT32: (lambda value: _is_int(value, _INT32), "an integer of 32 bits", 0),
    Scalar.INT64: (lambda value: _is_int(value, _INT64), "an integer, without a decimal point", 0),
    Scalar.NUMBER: (_is_number, "a number", 0),
    Scalar.BYTES: (_is_base64, "base64", ""),
    Scalar.TIME: (
        lambda value: isinstance(value, str) and value.isupper() and is_date_time(value),
        "a time of RFC 3339",
        "",
    ),
}
# Fixes for keywords that newer drafts of JSON Schema changed.
_BOUND: Final = "write the number as minimum or maximum, and true here"
_FIXES: Final = {
    "exclusiveMaximum": _BOUND,
    "exclusiveMinimum": _BOUND,
    "type": "write one type, and nullable: true if null is allowed",
}
