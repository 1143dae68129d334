"""Operators."""

import math
from collections.abc import Callable
from typing import Any, Final

from crdgen.cel.equality import equal, find
from crdgen.cel.functions.overloads import Table
from crdgen.cel.times import Duration, Fault, Timestamp
from crdgen.cel.tree import Unsigned
from crdgen.cel.values import MISSING, Fields, Items, NoOverload, Optional, kind

_NUMBERS: Final = (int, float, Unsigned)
_ORDERED: Final = frozenset({"bool", "bytes", "string", "google.protobuf.Timestamp", "google.protobuf.Duration"})
_NUMERIC: Final = frozenset({"int", "uint", "double"})


def integer(value: int) -> int:
    """Return the integer, or fail where 64 bits do not hold it."""
    if not -(2**63) <= value < 2**63:
        raise Fault("integer overflow")
    return value


def unsigned(value: int) -> Unsigned:
    """Return the unsigned integer, or fail where 64 bits do not hold it."""
    if not 0 <= value < 2**64:
        raise Fault("unsigned integer overflow")
    return Unsigned(value)


def compare(left: Any, right: Any) -> int | None:
    """Return -1, 0 or 1 as left is less than, equal to or more than right, and None where neither is (NaN)."""
    kinds = {kind(left), kind(right)}
    if not kinds <= _NUMERIC and (len(kinds) > 1 or not kinds <= _ORDERED):
        raise NoOverload
    if left == right:
        return 0
    if left < right:
        return -1
    return 1 if left > right else None


def _ordering(holds: Callable[[int | None], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: holds(compare(left, right))


def _quotient(left: int, right: int) -> int:
    """Divide towards zero, as Go does."""
    if right == 0:
        raise Fault("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise Fault("modulus by zero")
    return left - right * _quotient(left, right)


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)


def _index(value: Any, key: Any) -> Any:
    match value:
        case Optional(inner):
            return value if inner is MISSING else Optional(_index(inner, key))
        case list() | Items():
            if kind(key) == "double" and key.is_integer():
                key = int(key)
            if kind(key) not in {"int", "uint"}:
                raise Fault(f"unsupported index: {key}")
            if not 0 <= key < len(value):
                raise Fault(f"index out of bounds: {key}")
            return value.at(key) if isinstance(value, Items) else value[key]
        case dict() | Fields():
            found = find(value, key)
            if found is MISSING:
                raise Fault(f"no such key: {key}")
            return found
    raise NoOverload


def contains(value: Any, over: Any) -> bool:
    """Tell whether a list holds the value, or a map has it for a key."""
    match over:
        case list() | Items():
            return any(equal(element, value) for element in over)
        case dict() | Fields():
            return find(over, value) is not MISSING
    raise NoOverload


def _plus_lists(left: Any, right: Any) -> Any:
    return left.plus(right) if isinstance(left, Items) else [*left, *right]


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict | Items | Fields):
        return len(value)
    raise NoOverload


def _inserted(value: dict[Any, Any], key: Any, entry: Any = MISSING) -> dict[Any, Any]:
    """What the comprehensions that make maps do in each step."""
    added = {key: entry} if entry is not MISSING else key
    for name in added:
        if find(value, name) is not MISSING:
            raise Fault(f"insert failed: key {name} already exists")
    return {**value, **added}


OPERATORS: Final[Table] = {
    ("_==_", object, object): equal,
    ("_!=_", object, object): lambda left, right: not equal(left, right),
    ("_<_", object, object): _ordering(lambda order: order == -1),
    ("_<=_", object, object): _ordering(lambda order: order in {-1, 0}),
    ("_>_", object, object): _ordering(lambda order: order == 1),
    ("_>=_", object, object): _ordering(lambda order: order in {0, 1}),
    ("!_", bool): lambda value: not value,
    ("-_", int): lambda value: integer(-value),
    ("-_", float): lambda value: -value,
    ("_[_]", object, object): _index,
    ("@in", object, object): contains,
    ("size", object): _size,
    ("cel.@mapInsert", dict, object, object): _inserted,
    ("cel.@mapInsert", dict, dict): _inserted,
    ("_+_", Timestamp, Duration): lambda time, length: Timestamp(time.nanoseconds + length.nanoseconds),
    ("_+_", Duration, Timestamp): lambda length, time: Timestamp(time.nanoseconds + length.nanoseconds),
    ("_+_", Duration, Duration): lambda left, right: Duration(left.nanoseconds + right.nanoseconds),
    ("_-_", Timestamp, Duration): lambda time, length: Timestamp(time.nanoseconds - length.nanoseconds),
    ("_-_", Timestamp, Timestamp): lambda left, right: Duration(left.nanoseconds - right.nanoseconds),
    ("_-_", Duration, Duration): lambda left, right: Duration(left.nanoseconds - right.nanoseconds),
    ("_+_", str, str): lambda left, right: left + right,
    ("_+_", bytes, bytes): lambda left, right: left + right,
    **{("_+_", left, right): _plus_lists for left in (list, Items) for right in (list, Items)},
    ("_+_", int, int): lambda left, right: integer(left + right),
    ("_-_", int, int): lambda left, right: integer(left - right),
    ("_*_", int, int): lambda left, right: integer(left * right),
    ("_/_", int, int): lambda left, right: integer(_quotient(left, right)),
    ("_%_", int, int): lambda left, right: integer(_remainder(left, right)),
    ("_+_", Unsigned, Unsigned): lambda left, right: unsigned(int(left) + int(right)),
    ("_-_", Unsigned, Unsigned): lambda left, right: unsigned(int(left) - int(right)),
    ("_*_", Unsigned, Unsigned): lambda left, right: unsigned(int(left) * int(right)),
    ("_/_", Unsigned, Unsigned): lambda left, right: unsigned(_quotient(left, right)),
    ("_%_", Unsigned, Unsigned): lambda left, right: unsigned(_remainder(left, right)),
    ("_+_", float, float): lambda left, right: left + right,
    ("_-_", float, float): lambda left, right: left - right,
    ("_*_", float, float): lambda left, right: left * right,
    ("_/_", float, float): _divided,
}
