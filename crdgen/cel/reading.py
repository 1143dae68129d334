"""The syntax tree and the types of a compiled expression, read from what the CEL library serializes.

The message is cel.expr.CheckedExpr; no package has its Python classes. So it is read as a message whose fields are all
unknown, by their numbers.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

from crdgen.cel.tree import (
    CelCall,
    CelList,
    CelMap,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    Message,
    Select,
    Unsigned,
)

_Fields: TypeAlias = dict[int, list[Any]]

_PRIMITIVE: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_NUMBERS: Final = frozenset({"bool", "int", "uint", "double", "timestamp", "duration"})
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}


def read(serialized: bytes) -> tuple[Expression, Mapping[int, str]]:
    """Return the tree of a serialized expression, and the type of each of its parts, by the part's number."""
    message = _fields(_fields(serialized)[2][0])
    types = {entry[1][0]: _type(entry[2][0]) for entry in map(_fields, message.get(3, ()))}
    return _node(message[4][0]), types


def _fields(data: bytes) -> _Fields:
    """Return the values of each field of a message, by its number."""
    found: _Fields = {}
    for each in UnknownFieldSet(Empty.FromString(data)):
        found.setdefault(each.field_number, []).append(each.data)
    return found


def _type(data: bytes) -> str:  # noqa: PLR0911 - one for each kind of type
    """Return a type as `list(int)`; `object` for what has fields, `dyn` for what is not typed."""
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


def _node(data: bytes) -> Expression:
    message = _fields(data)
    number = message.get(2, [0])[0]
    for kind, (value, *_) in message.items():
        if kind in _READERS:
            return replace(_READERS[kind](_fields(value)), id=number)
    return Constant(None)


def _constant(fields: _Fields) -> Expression:
    for kind, (value, *_) in fields.items():
        if kind in _LITERALS:
            return Constant(_LITERALS[kind](value))
    return Constant(None)


def _text(fields: _Fields, number: int) -> str:
    return str(fields[number][0].decode()) if number in fields else ""


def _flag(fields: _Fields, number: int) -> bool:
    return bool(fields.get(number, [0])[0])


def _nodes(fields: _Fields, number: int) -> tuple[Expression, ...]:
    return tuple(map(_node, fields.get(number, ())))


def _call(fields: _Fields) -> Expression:
    target = _node(fields[1][0]) if 1 in fields else None
    return CelCall(target, _text(fields, 2), _nodes(fields, 3))


def _packed(data: bytes) -> Iterator[int]:
    """Yield the numbers of a packed field, of seven bits a byte."""
    value = shift = 0
    for byte in data:
        value, shift = value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            yield value
            value = shift = 0


def _struct(fields: _Fields) -> Expression:
    if 1 in fields:
        return Message(_text(fields, 1))
    entries = [_fields(entry) for entry in fields.get(2, ())]
    return CelMap(tuple((_node(entry[3][0]), _node(entry[4][0]), _flag(entry, 5)) for entry in entries))


def _comprehension(fields: _Fields) -> Expression:
    parts = {part: _node(fields[part][0]) for part in (2, 4, 5, 6, 7)}
    names = (_text(fields, 1), _text(fields, 8), parts[2], _text(fields, 3))
    return Comprehension(*names, parts[4], parts[5], parts[6], parts[7])


_LITERALS: Final[dict[int, Callable[[Any], Any]]] = {
    2: bool,
    3: lambda value: value - 2**64 if value >= 2**63 else value,
    4: Unsigned,
    5: lambda value: struct.unpack("<d", struct.pack("<Q", value))[0],
    6: bytes.decode,
    7: bytes,
}
_READERS: Final[dict[int, Callable[[_Fields], Expression]]] = {
    3: _constant,
    4: lambda fields: Identifier(_text(fields, 1)),
    5: lambda fields: Select(_node(fields[1][0]), _text(fields, 2), _flag(fields, 3)),
    6: _call,
    7: lambda fields: CelList(_nodes(fields, 1), frozenset(_packed(b"".join(fields.get(2, ()))))),
    8: _struct,
    9: _comprehension,
}
