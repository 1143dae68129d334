"""The syntax tree of a compiled expression, read from what the CEL library serializes (cel.expr.CheckedExpr)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from crdgen.cel.wire import Fields, varints
from crdgen.cel.wire import fields as decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expression:
    #: The expression's own number, by which `crdgen.cel.checked` tells its type; 0 for one that nobody compiled.
    id: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant(_Expression):
    """A literal: None, a bool, int, float, str or bytes, or an `Unsigned`."""

    value: Any


class Unsigned(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Identifier(_Expression):
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(_Expression):
    """`operand.field`, or whether it is there."""

    operand: "Node"
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call(_Expression):
    """A function; operators are functions too."""

    target: "Node | None"
    function: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class ListOf(_Expression):
    """`[a, ?b]`; `optional` are the places of the optional ones."""

    elements: "tuple[Node, ...]"
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class MapOf(_Expression):
    """`{key: value, ?key: value}`: key, value, whether it is optional."""

    entries: "tuple[tuple[Node, Node, bool], ...]"


@dataclass(frozen=True, slots=True)
class Message(_Expression):
    """`Type{...}`; rules have no type to make."""

    name: str


@dataclass(frozen=True, slots=True)
class Comprehension(_Expression):
    """What `all`, `exists`, `map` and the like become."""

    variable: str
    second: str
    range: "Node"
    accumulator: str
    initial: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"


Node: TypeAlias = Constant | Identifier | Select | Call | ListOf | MapOf | Message | Comprehension


def read(serialized: bytes) -> Node:
    """Return the tree of a serialized expression."""
    return _node(envelope(serialized)[4][0])


def envelope(serialized: bytes) -> Fields:
    """Return the message CheckedExpr: its field 2 is what names refer to, 3 their types, and 4 the tree."""
    return decoded(decoded(serialized)[2][0])


def children(node: Node) -> Iterator[Node]:
    """Yield what is directly below the node."""
    match node:
        case Select(operand, _, _):
            yield operand
        case Call(target, _, arguments):
            if target is not None:
                yield target
            yield from arguments
        case ListOf(elements, _):
            yield from elements
        case MapOf(entries):
            for key, value, _ in entries:
                yield from (key, value)
        case Comprehension():
            yield from (node.range, node.initial, node.condition, node.step, node.result)
        case _:
            return


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def _node(data: bytes) -> Node:
    message = decoded(data)
    for number, values in message.items():
        if number in _READERS:
            found: Node = _READERS[number](decoded(values[0]))
            return replace(found, id=message.get(2, [0])[0])
    return Constant(None)


def _constant(fields: Fields) -> Node:  # noqa: PLR0911 - one for each kind of literal
    for number, values in fields.items():
        value = values[0]
        match number:
            case 2:
                return Constant(bool(value))
            case 3:
                return Constant(value - 2**64 if value >= 2**63 else value)
            case 4:
                return Constant(Unsigned(value))
            case 5:
                return Constant(struct.unpack("<d", value)[0])
            case 6:
                return Constant(value.decode())
            case 7:
                return Constant(value)
    return Constant(None)


def _text(fields: Fields, number: int) -> str:
    return fields[number][0].decode() if number in fields else ""


def _flag(fields: Fields, number: int) -> bool:
    return bool(fields.get(number, [0])[0])


def _call(fields: Fields) -> Node:
    target = _node(fields[1][0]) if 1 in fields else None
    return Call(target, _text(fields, 2), tuple(_node(argument) for argument in fields.get(3, ())))


def _list(fields: Fields) -> Node:
    places: set[int] = set()
    for value in fields.get(2, ()):
        places.update([value] if isinstance(value, int) else varints(value))
    return ListOf(tuple(_node(element) for element in fields.get(1, ())), frozenset(places))


def _struct(fields: Fields) -> Node:
    if 1 in fields:
        return Message(_text(fields, 1))
    entries = [decoded(entry) for entry in fields.get(2, ())]
    return MapOf(tuple((_node(entry[3][0]), _node(entry[4][0]), _flag(entry, 5)) for entry in entries))


def _comprehension(fields: Fields) -> Node:
    parts = {number: _node(fields[number][0]) for number in (2, 4, 5, 6, 7)}
    return Comprehension(
        _text(fields, 1), _text(fields, 8), parts[2], _text(fields, 3), parts[4], parts[5], parts[6], parts[7]
    )


_READERS: dict[int, Any] = {
    3: _constant,
    4: lambda fields: Identifier(_text(fields, 1)),
    5: lambda fields: Select(_node(fields[1][0]), _text(fields, 2), _flag(fields, 3)),
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}
