"""Loads the kinds and plugins of installed packages, by entry points."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Unusable(Exception):
    """An entry point of an installed package cannot be used."""


def may_provide(group: str) -> bool:
    """Return whether an installed package may have entry points of a group.

    Most often none has, and `importlib.metadata` takes a tenth of a short command to tell.
    """
    folders = [Path(folder) for folder in sys.path]
    files = (file for folder in folders for file in folder.glob("*-info/entry_points.txt"))
    try:
        return any(group.encode() in file.read_bytes() for file in files) or any(map(Path.is_file, folders))
    except OSError:
        return True


def provided(group: str, wanted: type[T]) -> list[T]:
    """Return the objects of a group of entry points.

    Raises:
        Unusable: an entry point cannot be loaded, or its object has another type.
    """
    if not may_provide(group):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415

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
