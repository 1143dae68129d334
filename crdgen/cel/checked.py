"""What the type checker found out of an expression: the type of each part, and which overloads a call may mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from crdgen.cel.tree import envelope
from crdgen.cel.wire import Fields, fields

_PRIMITIVE: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}


@dataclass(frozen=True, slots=True)
class Type:
    """A type of CEL.

    Attributes:
        name: `int`, `string`, `list`, `map`, `object` for what has fields, `dyn` for what is not typed, or that of an
            opaque type, such as `kubernetes.Quantity`.
        of: what a list, a map or an optional value is of.
    """

    name: str
    of: "tuple[Type, ...]" = ()


DYN: Final = Type("dyn")


@dataclass(frozen=True, slots=True)
class Checked:
    """Types and overloads, by the numbers of expressions."""

    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[str, ...]]


def read_checked(serialized: bytes) -> Checked:
    """Return what a serialized expression says of its parts."""
    message = envelope(serialized)
    types, overloads = {}, {}
    for entry in map(fields, message.get(3, ())):
        types[entry[1][0]] = _type(entry[2][0])
    for entry in map(fields, message.get(2, ())):
        named = fields(entry[2][0]).get(3, ())
        overloads[entry[1][0]] = tuple(name.decode() for name in named)
    return Checked(types, overloads)


def _type(data: bytes) -> Type:  # noqa: PLR0911 - one for each kind of type
    for number, values in fields(data).items():
        value = values[0]
        match number:
            case 3 | 4:
                return Type(_PRIMITIVE.get(value, "dyn"))
            case 5:
                return Type(_WELL_KNOWN.get(value, "dyn"))
            case 6:
                return Type("list", _parts(fields(value), 1))
            case 7:
                return Type("map", _parts(fields(value), 1, 2))
            case 9:
                return Type("object")
            case 14:
                opaque = fields(value)
                return Type(opaque[1][0].decode(), tuple(map(_type, opaque.get(2, ()))))
    return DYN


def _parts(message: Fields, *numbers: int) -> tuple[Type, ...]:
    return tuple(_type(message[number][0]) if number in message else DYN for number in numbers)
