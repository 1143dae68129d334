"""Read the syntax tree and the types of a compiled expression, which the CEL library serializes.

The message is cel.expr.CheckedExpr. No package has Python classes for it, so it is read as a message of unknown fields,
by their numbers.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet
from msgspec.structs import replace

from crdgen.cel.tree import CelExpression

_Fields: TypeAlias = dict[int, list[Any]]

_PRIMITIVE: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_NUMBERS: Final = frozenset({"bool", "int", "uint", "double", "timestamp", "duration"})
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}


def read(serialized: bytes) -> tuple[CelExpression, Mapping[int, str]]:
    """Return the tree of a serialized expression, and the types of its nodes by their numbers."""
    message = _fields(_fields(serialized)[2][0])
    types = {entry[1][0]: _type(entry[2][0]) for entry in map(_fields, message.get(3, ()))}
    return _node(message[4][0]), types


def _fields(data: bytes) -> _Fields:
    """Return the values of a message's fields by their numbers."""
    values: _Fields = {}
    for unknown in UnknownFieldSet(Empty.FromString(data)):
        values.setdefault(unknown.field_number, []).append(unknown.data)
    return values


def _type(data: bytes) -> str:  # noqa: PLR0911 - one for each kind of type
    """Return a type, as `list(int)`; `object` for types with fields, `dyn` for unknown types."""
    for number, (value, *_) in _fields(data).items():
        match number:
            case 3 | 4:
                return _PRIMITIVE.get(value, "dyn")
            case 5:
                return _WELL_KNOWN.get(value, "dyn")
            case 6:
                return f"list({_type(_fields(value)[1][0])})" if value else "list(dyn)"
            case 7:
                return "map"
            case 9:
                name = str(value.decode())
                return "object" if name.startswith("schema.") else name
            case 14:
                opaque = _fields(value)
                inner = _type(opaque[2][0]) if 2 in opaque else "dyn"
                # An optional number has the size of a number.
                return inner if inner in _NUMBERS else "optional"
    return "dyn"


def _node(data: bytes) -> CelExpression:
    message = _fields(data)
    for number, (value, *_) in message.items():
        if number in _READERS:
            return replace(_READERS[number](_fields(value)), id=message.get(2, [0])[0])
    return CelExpression("literal")


def _literal(fields: _Fields) -> CelExpression:
    for number, (value, *_) in fields.items():
        if number in _LITERALS:
            return CelExpression("unsigned" if number == _UNSIGNED else "literal", _LITERALS[number](value))
    return CelExpression("literal")


def _text(fields: _Fields, number: int) -> str:
    return str(fields[number][0].decode()) if number in fields else ""


def _nodes(fields: _Fields, *numbers: int) -> tuple[CelExpression, ...]:
    return tuple(_node(data) for number in numbers for data in fields.get(number, ()))


def _struct(fields: _Fields) -> CelExpression:
    entries = [_fields(entry) for entry in fields.get(2, ())]
    optional = tuple(entry.get(5, [0])[0] for entry in entries)
    if 1 in fields:
        names = tuple(_text(entry, 2) for entry in entries)
        values = tuple(node for entry in entries for node in _nodes(entry, 4))
        return CelExpression("message", (_text(fields, 1), names, optional), values)
    return CelExpression("map", optional, tuple(node for entry in entries for node in _nodes(entry, 3, 4)))


_UNSIGNED: Final = 4
_LITERALS: Final[dict[int, Callable[[Any], Any]]] = {
    2: bool,
    3: lambda value: value - 2**64 if value >= 2**63 else value,
    _UNSIGNED: int,
    5: lambda value: struct.unpack("<d", struct.pack("<Q", value))[0],
    6: bytes.decode,
    7: bytes,
}
_READERS: Final[dict[int, Callable[[_Fields], CelExpression]]] = {
    3: _literal,
    4: lambda fields: CelExpression("name", _text(fields, 1)),
    5: lambda fields: CelExpression("has" if fields.get(3, [0])[0] else "select", _text(fields, 2), _nodes(fields, 1)),
    6: lambda fields: CelExpression("method" if 1 in fields else "call", _text(fields, 2), _nodes(fields, 1, 3)),
    7: lambda fields: CelExpression("list", tuple(fields.get(2, ())), _nodes(fields, 1)),
    8: _struct,
    9: lambda fields: CelExpression(
        "loop", tuple(_text(fields, number) for number in (1, 8, 3)), _nodes(fields, 2, 4, 5, 6, 7)
    ),
}
