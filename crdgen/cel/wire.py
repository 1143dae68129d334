"""The few lines of protobuf's wire format that reading a compiled expression takes.

The library's Python face gives what it compiled as bytes of a message only, and no package carries the message's Python
classes.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

#: A message: the values of each field, by the field's number; integers, or the bytes of what is longer.
Fields: TypeAlias = dict[int, list[Any]]


def fields(data: bytes) -> Fields:
    """Return the fields of a message."""
    found: Fields = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                value: Any
                value, at = _varint(data, at)
            case 1:
                value, at = data[at : at + 8], at + 8
            case 2:
                length, at = _varint(data, at)
                value, at = data[at : at + length], at + length
            case _:
                value, at = data[at : at + 4], at + 4
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def varints(data: bytes) -> Iterator[int]:
    """Yield the integers of a packed field."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value
