"""What installed packages add: kinds and plugins, by entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

T = TypeVar("T")


class Unusable(Exception):
    """An entry point of an installed package cannot be used."""


def provided(group: str, wanted: type[T]) -> list[T]:
    """Return what installed packages provide under a group of entry points.

    Raises:
        Unusable: one of them cannot be loaded, or is something else than is wanted.
    """
    return [_loaded(entry, wanted) for entry in entry_points(group=group)]


def _loaded(entry: EntryPoint, wanted: type[T]) -> T:
    try:
        found = entry.load()
    except Exception as error:  # whatever the package does when it is imported
        raise Unusable(f"{_described(entry)} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(found, wanted):
        raise Unusable(f"{_described(entry)} must be a {wanted.__name__}, not a {type(found).__name__}")
    return found


def _described(entry: EntryPoint) -> str:
    package = f" of the package {entry.dist.name}" if entry.dist else ""
    return f"{entry.value}{package}, the entry point {entry.name} of {entry.group},"
