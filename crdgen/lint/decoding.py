"""Decoding: JSON becomes what the API server sees, and what it cannot read or would drop is told.

The rules look at the decoded form only, so that none of them meets a wrong type: nulls and unknown fields are gone, and
a value of a wrong type counts as left out.
"""

import base64
import binascii
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crdgen.lint.shape import SCHEMA, Choice, ListOf, MapOf, Scalar, Shape, Struct
from crdgen.sealed import Sealed

_INT32: Final = 2**31
_INT64: Final = 2**63
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_ABSENT: Final = object()

#: Deeper documents are not looked at: nobody writes them, and each rule would have to be ready for them.
DEPTH: Final = 160


@dataclass(frozen=True)
class Fault:
    """A value that cannot be read, or a field that is not known, and what would be right.

    Attributes:
        unseen: an unknown field that even strict decoding does not report.
    """

    path: str
    problem: str
    fix: str
    unknown: bool = False
    unseen: bool = False


@dataclass
class Decoder:
    """Decodes one document; `faults` collects what is wrong in it."""

    faults: list[Fault] = field(default_factory=list)

    def read(self, value: Any, shape: Shape, path: str) -> Any:
        """Return the decoded value, or its zero value where it cannot be read."""
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
        if isinstance(value, Sealed):
            return value
        if not isinstance(value, Mapping):
            return self._wrong(path, value, "an object")
        fields = shape.fields()
        result = {}
        for name, child in value.items():
            at = under(path, name)
            known = fields.get(name) if isinstance(name, str) else None
            if known is None:
                fix = UNKNOWN.get(name, "remove it") if shape is SCHEMA else "remove it, or correct its spelling"
                problem = f"{name} is unknown to the API server"
                self.faults.append(Fault(at, problem, fix, unknown=True, unseen=not seen))
                continue
            decoded = self._read(child, known, at, seen=seen)
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
        """Decode what has a decoder of its own. It takes nearly anything, and never tells of unknown fields."""
        if isinstance(value, Mapping):
            return self._struct(value, SCHEMA, path, seen=False)
        if shape is Choice.SCHEMA_OR_BOOLEAN:
            return value if isinstance(value, bool) else self._wrong(path, value, "true, false or a schema")
        if isinstance(value, list):
            item = SCHEMA if shape is Choice.SCHEMA_OR_LIST else Scalar.TEXT
            return self._list(value, ListOf(item), path, seen=False)
        return []

    def _scalar(self, value: Any, shape: Scalar, path: str) -> Any:
        match shape:
            case Scalar.ANY:
                return value if _is_json(value) else self._wrong(path, value, "JSON")
            case Scalar.TEXT:
                right, wanted = isinstance(value, str), "a text"
            case Scalar.BOOLEAN:
                right, wanted = isinstance(value, bool), "a boolean: true or false"
            case Scalar.INT32:
                right, wanted = _is_int(value, _INT32), "an integer of 32 bits"
            case Scalar.INT64:
                right, wanted = _is_int(value, _INT64), "an integer, without a decimal point"
            case Scalar.NUMBER:
                right, wanted = _is_number(value), "a number"
            case Scalar.BYTES:
                right, wanted = _is_base64(value), "base64"
            case Scalar.TIME:
                right, wanted = isinstance(value, str) and _TIME.fullmatch(value) is not None, "a time of RFC 3339"
        return value if right else self._wrong(path, value, wanted)

    def _wrong(self, path: str, value: Any, wanted: str) -> Any:
        keyword = path.rsplit(".", 1)[-1]
        fix = _BOUND if keyword in _BOUNDS and _is_number(value) else f"write {wanted}"
        self.faults.append(Fault(path, f"{keyword} must be {wanted}", fix))
        return _ABSENT


def zero(shape: Shape) -> Any:
    """Return what Go has in the place of a null or of nothing."""
    match shape:
        case Struct() | MapOf():
            return {}
        case ListOf() | Choice():
            return []
        case Scalar.TEXT | Scalar.BYTES | Scalar.TIME:
            return ""
        case Scalar.BOOLEAN:
            return False
        case Scalar.ANY:
            return None
        case _:
            return 0


def under(path: str, name: object) -> str:
    """Return the path of a field."""
    return f"{path}.{name}" if path else str(name)


def is_too_deep(document: Any) -> bool:
    """Tell whether the document is nested more deeply than anybody writes it; one that holds itself is."""
    level = [document]
    for _ in range(DEPTH):
        # A part that is shared, as YAML's aliases are, counts once.
        inner = {id(child): child for value in level for child in _children(value)}
        level = [child for child in inner.values() if isinstance(child, Mapping | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, Sealed):
        return []
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


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
    """Tell whether JSON can hold the value: YAML knows dates, and numbers that are none."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_json(child) for key, child in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | bool) or _is_number(value)


_BOUNDS: Final = frozenset({"exclusiveMaximum", "exclusiveMinimum"})
_BOUND: Final = "write the number as minimum or maximum, and true here"

#: Keywords of JSON Schema that no CustomResourceDefinition knows, and what says the same.
UNKNOWN: Final[Mapping[Any, str]] = {
    "$defs": "write each definition in the place where it is used",
    "const": "write enum with this one value",
    "contains": "write a rule: self.exists(item, …)",
    "contentEncoding": "write format: byte for base64, or remove it",
    "contentMediaType": "remove it: it is not checked",
    "deprecated": "say it in the description",
    "discriminator": "remove it, and let each branch of oneOf name the value of the field that tells them apart",
    "else": "write a rule: condition ? this : that",
    "examples": "write example with one of them",
    "if": "write a rule: condition ? this : that",
    "maxContains": "write a rule: self.filter(item, …).size() <= n",
    "minContains": "write a rule: self.filter(item, …).size() >= n",
    "prefixItems": "write items with one schema, and minItems and maxItems",
    "propertyNames": "write a rule: self.all(key, …)",
    "readOnly": "say it in the description, or let a rule compare self with oldSelf",
    "then": "write a rule: condition ? this : that",
    "unevaluatedProperties": "remove it: unknown fields are pruned",
    "writeOnly": "say it in the description",
    "x-kubernetes-group-version-kind": "remove it: only Kubernetes' own types have it",
    "x-kubernetes-patch-merge-key": "write x-kubernetes-list-map-keys",
    "x-kubernetes-patch-strategy": "write x-kubernetes-list-type: map",
    "x-kubernetes-unions": "write oneOf, or a rule",
}
