"""Conversions between types, and optional values."""

import math
from collections.abc import Callable
from typing import Any, Final

from crdgen.cel.functions.operators import integer, unsigned
from crdgen.cel.functions.overloads import Table
from crdgen.cel.times import NANO, Duration, Fault, Timestamp, duration, timestamp, written
from crdgen.cel.tree import Unsigned
from crdgen.cel.values import MISSING, Fields, Items, Optional, TypeName, kind
from crdgen.utf8 import utf8


def _unreadable(kind: str) -> Fault:
    return Fault(f"type conversion error from 'string' to '{kind}'")


def _read(read: Callable[[str], Any], kind: str) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return read(text)
        except Fault:
            raise _unreadable(kind) from None

    return convert


def _digits(text: str) -> str:
    """Return a number's text; Python alone takes blanks around it and underscores in it."""
    return "" if "_" in text or text != text.strip() else text


def _int_of(text: str) -> int:
    try:
        return integer(int(_digits(text)))
    except (ValueError, Fault):
        raise _unreadable("int") from None


def _uint_of(text: str) -> Unsigned:
    try:
        return unsigned(int(_digits(text)))
    except (ValueError, Fault):
        raise _unreadable("uint") from None


def _double_of(text: str) -> float:
    try:
        return float(_digits(text))
    except ValueError:
        raise _unreadable("double") from None


def _truncated(value: float) -> int:
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise Fault("integer overflow")
    return int(value)


def _bool_of(text: str) -> bool:
    if text in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if text in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise _unreadable("bool")


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Fault("invalid UTF-8 in bytes, cannot convert to string") from None


def number(value: float) -> str:
    """Return a double as Go's shortest form without an exponent where it is of usual size."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    if value == int(value) and abs(value) < 1e21:
        return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    return repr(value)


def _value(optional: Optional) -> Any:
    if optional.value is MISSING:
        raise Fault("optional.none() dereference")
    return optional.value


def _non_zero(value: Any) -> Optional:
    zero = value is None or (isinstance(value, list | dict | Items | Fields) and not len(value))
    return (
        Optional() if zero or (not isinstance(value, list | dict | Items | Fields) and not value) else Optional(value)
    )


CONVERSIONS: Final[Table] = {
    ("dyn", object): lambda value: value,
    ("type", object): lambda value: TypeName(kind(value)),
    ("bool", bool): lambda value: value,
    ("bool", str): _bool_of,
    ("bytes", bytes): lambda value: value,
    ("bytes", str): utf8,
    ("double", float): lambda value: value,
    ("double", int): float,
    ("double", Unsigned): float,
    ("double", str): _double_of,
    ("duration", Duration): lambda value: value,
    ("duration", str): _read(duration, "google.protobuf.Duration"),
    ("duration", int): Duration,
    ("int", int): lambda value: value,
    ("int", Unsigned): lambda value: integer(int(value)),
    ("int", float): _truncated,
    ("int", str): _int_of,
    ("int", Timestamp): lambda value: value.nanoseconds // NANO,
    ("int", Duration): lambda value: value.nanoseconds,
    ("uint", Unsigned): lambda value: value,
    ("uint", int): unsigned,
    ("uint", float): lambda value: unsigned(_truncated(value)),
    ("uint", str): _uint_of,
    ("string", str): lambda value: value,
    ("string", bool): lambda value: "true" if value else "false",
    ("string", int): str,
    ("string", Unsigned): lambda value: str(int(value)),
    ("string", float): number,
    ("string", bytes): _decoded,
    ("string", Timestamp): written,
    ("string", Duration): written,
    ("timestamp", Timestamp): lambda value: value,
    ("timestamp", str): _read(timestamp, "google.protobuf.Timestamp"),
    ("timestamp", int): lambda value: Timestamp(value * NANO),
    ("optional.of", object): Optional,
    ("optional.ofNonZeroValue", object): _non_zero,
    ("optional.none",): Optional,
    ("optional.unwrap", list): lambda values: [value.value for value in values if value.value is not MISSING],
    ("unwrapOpt", list): lambda values: [value.value for value in values if value.value is not MISSING],
    ("hasValue", Optional): lambda value: value.value is not MISSING,
    ("value", Optional): _value,
}
