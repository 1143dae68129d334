"""Values of rules: JSON as its schema types it (k8s.io/apiserver, pkg/cel/common/valuesunstructured.go).

Scalars are Python's: None, bool, int, `Unsigned`, float, str, bytes, with `Timestamp` and `Duration`. Lists and objects
of self are `Items` and `Fields`, which convert what is asked of them; those that a rule makes are list and dict.
"""

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from crdgen.cel.declared import with_meta
from crdgen.cel.names import unescape
from crdgen.cel.times import NANO, Duration, Fault, Timestamp, timestamp
from crdgen.cel.tree import Unsigned
from crdgen.escaping import escape
from crdgen.formats import duration
from crdgen.schema.walk import Schema
from crdgen.words import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE

#: What `find` gives where there is nothing.
MISSING: Final = object()


class NoOverload(Fault):
    """A function has no form for these arguments; only values without a static type come so far."""

    def __init__(self) -> None:
        super().__init__("no such overload")


@dataclass(frozen=True, slots=True)
class Optional:
    """CEL's optional value: nothing where `value` is MISSING."""

    value: Any = MISSING


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as a value, which `type(x)` gives."""

    name: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that no schema describes: rules can compare it, and nothing else."""

    value: Any


class Items:
    """A list of self. Lists of sets and maps compare and add as sets and maps do."""

    __slots__ = ("elements", "keys", "kind", "schema")

    def __init__(self, elements: list[Any], schema: Schema, kind: str = "", keys: tuple[str, ...] = ()) -> None:
        self.elements = elements
        self.schema = schema
        self.kind = kind
        self.keys = keys

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return (value_of(element, self.schema) for element in self.elements)

    def at(self, index: int) -> Any:
        """Return one element."""
        return value_of(self.elements[index], self.schema)

    def key(self, element: Any) -> Any:
        """Return what tells an element from others, given as JSON."""
        if self.kind == "map" and isinstance(element, dict):
            return tuple(hashable(element.get(key)) for key in self.keys)
        return hashable(element)

    def plus(self, other: "Items | list[Any]") -> "Items":
        """Return both: of a set or map, an element that is there already is not added, or takes its place."""
        found = list(self.elements)
        places = (
            {self.key(element): index for index, element in enumerate(found)} if self.kind in {"map", "set"} else {}
        )
        for element in map(plain, other):
            place = places.get(self.key(element))
            if place is None:
                places[self.key(element)] = len(found)
                found.append(element)
            elif self.kind == "map":
                found[place] = element
            else:
                continue
        return Items(found, self.schema, self.kind, self.keys)


class Fields:
    """An object of self."""

    __slots__ = ("schema", "value")

    def __init__(self, value: dict[str, Any], schema: Schema) -> None:
        self.value = value
        self.schema = schema

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[str]:
        named = "properties" in self.schema
        for key in self.value:
            if self.child(key) is not None:
                yield (escape(key) or key) if named else key

    def child(self, key: str) -> Schema | None:
        """Return the schema of a field, or None where the schema does not list it."""
        if "properties" in self.schema:
            found: Schema | None = self.schema["properties"].get(key)
            return found
        extra = self.schema.get("additionalProperties")
        return extra if isinstance(extra, dict) else None

    def find(self, key: Any) -> Any:
        """Return the value of a key as rules write it, or MISSING."""
        if not isinstance(key, str):
            raise NoOverload
        named = "properties" in self.schema
        name = unescape(key) if named else key
        if name is None or name not in self.value or (named and self.value[name] is None):
            return MISSING
        schema = self.child(name)
        return MISSING if schema is None else value_of(self.value[name], schema)


def value_of(value: Any, schema: Schema) -> Any:  # noqa: C901, PLR0911, PLR0912 - one for each type
    """Return JSON as rules see it; Fault where it is not of the schema's type."""
    if value is None:
        if schema.get("nullable"):
            return None
        raise Fault("invalid data, got null for schema with nullable=false")
    if schema.get(INT_OR_STRING):
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise Fault("invalid data, expected XIntOrString value to be either a string or integer")
    match schema.get("type"), value:
        case "object", dict():
            embedded = schema.get(EMBEDDED)
            return Fields(value, with_meta(schema) if embedded else schema)
        case "object", _:
            raise Fault("invalid data, expected a map for the provided schema with type=object")
        case "array", list():
            keys = tuple(escape(key) or key for key in schema.get(LIST_MAP_KEYS, ()))
            return Items(value, schema["items"], schema.get(LIST_TYPE, ""), keys)
        case "array", _:
            raise Fault("invalid data, expected an array for the provided schema with type=array")
        case "string", str():
            return _text(value, schema.get("format", ""))
        case "string", _:
            raise Fault(f"invalid data, expected string, got {go_type(value)}")
        case "number", int() | float() if not isinstance(value, bool):
            return float(value)
        case "number", _:
            raise Fault(f"invalid data, expected float, got {go_type(value)}")
        case "integer", int() if not isinstance(value, bool):
            return value
        case "integer", _:
            raise Fault(f"invalid data, expected int, got {go_type(value)}")
        case "boolean", bool():
            return value
        case "boolean", _:
            raise Fault(f"invalid data, expected bool, got {go_type(value)}")
        case _:
            return Hidden(value)


def _text(value: str, form: str) -> Any:
    match form:
        case "duration":
            length = duration(value)
            if length is None:
                raise Fault(f"Invalid duration {value}: unable to parse {value} as duration")
            return Duration(length)
        case "date":
            try:
                return Timestamp((date.fromisoformat(value) - date(1970, 1, 1)).days * 86400 * NANO)
            except ValueError as error:
                raise Fault(f"Invalid date formatted string {value}: {error}") from None
        case "date-time":
            try:
                return timestamp(value)
            except Fault as error:
                raise Fault(f"Invalid date-time formatted string {value}: {error}") from None
        case "byte":
            try:
                return base64.urlsafe_b64decode(value)
            except (binascii.Error, ValueError) as error:
                raise Fault(f"Invalid byte formatted string {value}: {error}") from None
        case _:
            return value


def go_type(value: Any) -> str:
    """Return what Go calls the type of a JSON value."""
    names = {bool: "bool", int: "int64", float: "float64", str: "string", dict: "map[string]interface {}"}
    return names.get(type(value), "[]interface {}")


def plain(value: Any) -> Any:
    """Return the JSON of a value."""
    match value:
        case Items():
            return value.elements
        case Fields():
            return value.value
        case Hidden(inner):
            return inner
        case _:
            return value


def hashable(value: Any) -> Any:
    """Return what tells a JSON value from others, as a key."""
    if isinstance(value, dict | list):
        return "json", json.dumps(value, sort_keys=True, default=str)
    return type(value).__name__, value


def kind(value: Any) -> str:
    """Return what CEL calls the type of a value."""
    match value:
        case None:
            return "null_type"
        case bool():
            return "bool"
        case Unsigned():
            return "uint"
        case list() | Items():
            return "list"
        case dict() | Fields():
            return "map"
        case _:
            return _KINDS.get(type(value)) or str(getattr(value, "cel_type", "unknown"))


_KINDS: Final[dict[type, str]] = {
    int: "int",
    float: "double",
    str: "string",
    bytes: "bytes",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeName: "type",
    Optional: "optional_type",
}
