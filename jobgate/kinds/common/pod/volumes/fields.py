"""The fields of a volume, by name; what is null or of another shape reads as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from jobgate.kinds.common.pod import reading
from webhook.cause import Invalid, Required
from webhook.path import Path

Fields: TypeAlias = Mapping[str, Any]

_NOTHING: Final[Fields] = {}


def text(fields: Fields, name: str) -> str:
    """Return a text, or "" where there is none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def mapping(fields: Fields, name: str) -> Fields:
    """Return an object, or an empty one where there is none."""
    return reading.mapping(fields.get(name))


def texts(fields: Fields, name: str) -> list[str]:
    """Return the items of a list of texts, each at its place; what is no text is as an empty one."""
    return [reading.text(item) for item in reading.items(fields.get(name))]


def each(fields: Fields, name: str) -> list[Fields]:
    """Return the items of a list of objects, each at its place; what is no object is as an empty one."""
    return objects(fields.get(name))


def objects(value: Any) -> list[Fields]:
    """Return what is to be a list of objects as one, each at its place; what is no object is as an empty one."""
    return [item if isinstance(item, dict) else _NOTHING for item in reading.items(value)]


def required(fields: Fields, path: Path, meanings: Mapping[str, str]) -> Iterator[Required]:
    """Refuse each field of `meanings` that is absent or empty, saying what it would be."""
    for name, meaning in meanings.items():
        value = fields.get(name)
        if value is None or value in ("", []):
            yield Required(path / name, f"must be {meaning}")


def within(fields: Fields, name: str, path: Path, lowest: int, highest: int) -> Iterator[Invalid]:
    """Refuse a whole number that is out of its bounds."""
    value = reading.whole(fields.get(name))
    if value is not None and not lowest <= value <= highest:
        yield Invalid(path / name, value, f"must be between {lowest} and {highest}")
