"""Loads the kinds and plugins of installed packages, by entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

T = TypeVar("T")


class Unusable(Exception):
    """An entry point of an installed package cannot be used."""


def provided(group: str, wanted: type[T]) -> list[T]:
    """Return the objects of a group of entry points.

    Raises:
        Unusable: an entry point cannot be loaded, or its object has another type.
    """
    return [_loaded(entry, wanted) for entry in entry_points(group=group)]


def _loaded(entry: EntryPoint, wanted: type[T]) -> T:
    try:
        value = entry.load()
    except Exception as error:  # the package may raise anything when it is imported
        raise Unusable(f"{_described(entry)} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(value, wanted):
        raise Unusable(f"{_described(entry)} must be a {wanted.__name__}, not a {type(value).__name__}")
    return value


def _described(entry: EntryPoint) -> str:
    package = f" of the package {entry.dist.name}" if entry.dist else ""
    return f"{entry.value}{package}, the entry point {entry.name} of {entry.group},"
