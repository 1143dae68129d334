"""The syntax tree and the types of a compiled expression, read from what the CEL library serializes.

The message is cel.expr.CheckedExpr; no package has its Python classes. So it is read as a message whose fields are all
unknown, by their numbers.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

from crdgen.cel.tree import (
    CelCall,
    CelList,
    CelMap,
    Comprehension,
    Constant,
    Identifier,
    Message,
    Node,
    Select,
    Unsigned,
)

_Fields: TypeAlias = dict[int, list[Any]]

_PRIMITIVE: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_NUMBERS: Final = frozenset({"bool", "int", "uint", "double", "timestamp", "duration"})
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}


def read(serialized: bytes) -> tuple[Node, Mapping[int, str]]:
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


def _node(data: bytes) -> Node:
    message = _fields(data)
    for number, (value, *_) in message.items():
        if number in _READERS:
            return _READERS[number](message.get(2, [0])[0], _fields(value))
    return Constant(None)


def _constant(number: int, fields: _Fields) -> Node:  # noqa: PLR0911 - one for each kind of literal
    for kind, (value, *_) in fields.items():
        match kind:
            case 2:
                return Constant(bool(value), id=number)
            case 3:
                return Constant(value - 2**64 if value >= 2**63 else value, id=number)
            case 4:
                return Constant(Unsigned(value), id=number)
            case 5:
                return Constant(struct.unpack("<d", struct.pack("<Q", value))[0], id=number)
            case 6:
                return Constant(value.decode(), id=number)
            case 7:
                return Constant(value, id=number)
    return Constant(None, id=number)


def _text(fields: _Fields, number: int) -> str:
    return str(fields[number][0].decode()) if number in fields else ""


def _flag(fields: _Fields, number: int) -> bool:
    return bool(fields.get(number, [0])[0])


def _call(number: int, fields: _Fields) -> Node:
    target = _node(fields[1][0]) if 1 in fields else None
    return CelCall(target, _text(fields, 2), tuple(map(_node, fields.get(3, ()))), id=number)


def _list(number: int, fields: _Fields) -> Node:
    return CelList(tuple(map(_node, fields.get(1, ()))), frozenset(_packed(b"".join(fields.get(2, ())))), id=number)


def _packed(data: bytes) -> Iterator[int]:
    """Yield the numbers of a packed field, of seven bits a byte."""
    value = shift = 0
    for byte in data:
        value, shift = value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            yield value
            value = shift = 0


def _struct(number: int, fields: _Fields) -> Node:
    if 1 in fields:
        return Message(_text(fields, 1), id=number)
    entries = [_fields(entry) for entry in fields.get(2, ())]
    made = tuple((_node(entry[3][0]), _node(entry[4][0]), _flag(entry, 5)) for entry in entries)
    return CelMap(made, id=number)


def _comprehension(number: int, fields: _Fields) -> Node:
    parts = {part: _node(fields[part][0]) for part in (2, 4, 5, 6, 7)}
    names = (_text(fields, 1), _text(fields, 8), parts[2], _text(fields, 3))
    return Comprehension(*names, parts[4], parts[5], parts[6], parts[7], id=number)


_READERS: Final[dict[int, Callable[[int, _Fields], Node]]] = {
    3: _constant,
    4: lambda number, fields: Identifier(_text(fields, 1), id=number),
    5: lambda number, fields: Select(_node(fields[1][0]), _text(fields, 2), _flag(fields, 3), id=number),
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}
