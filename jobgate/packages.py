"""Loads the kinds and plugins of installed packages, by entry points.

A broken entry point is named, with a warning, and stops no other.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
#: Longest fault, in characters: it is in the answers to requests.
_FAULT_LIMIT = 400


class UnusablePackage(UserWarning):
    """An entry point of an installed package cannot be used."""


class Provided(Struct, Generic[T], frozen=True):
    """An entry point of an installed package.

    Attributes:
        name, target, group: the entry point: `sweepjob = "sweepjob:KIND"` of `jobgate.kinds`.
        package, version: the package that has it.
        value: the object; None if the entry point is unusable.
        fault: why it is unusable; empty if it is not.
    """

    name: str
    target: str
    group: str
    package: str
    version: str
    value: T | None
    fault: str = ""

    def __str__(self) -> str:
        """Return a sentence with the fault."""
        package = f" of the package {self.package} {self.version}" if self.package else ""
        return f"{self.target}{package}, the entry point {self.name} of {self.group}, {self.fault}"

    def clashing(self, fault: str) -> Provided[T]:
        """Return the entry point as unusable, because its object is in conflict with another."""
        return Provided(self.name, self.target, self.group, self.package, self.version, None, fault)


def may_provide(group: str) -> bool:
    """Return whether an installed package may have entry points of a group.

    Most often none has, and `importlib.metadata` takes a tenth of a short command to tell.
    """
    try:
        return any(_mentions(os.path.abspath(folder), group.encode()) for folder in sys.path)  # noqa: PTH100
    except OSError:
        return True


def _mentions(folder: str, group: bytes) -> bool:
    """Return whether a package in a folder of the path has a group; an archive may have any."""
    if not os.path.isdir(folder):  # noqa: PTH112 - a third of the time of pathlib, in each command
        return os.path.exists(folder)  # noqa: PTH110
    return group in _entry_points(folder)


@cache
def _entry_points(folder: str) -> bytes:
    """Return the entry points of the packages in a folder."""
    with os.scandir(folder) as entries:
        files = [f"{entry.path}/entry_points.txt" for entry in entries if entry.name.endswith("-info")]
    return b"\n".join(Path(file).read_bytes() for file in files if os.path.exists(file))  # noqa: PTH110


def provided(group: str, wanted: type[T]) -> list[Provided[T]]:
    """Return a group of entry points, sorted by name, with their objects."""
    if not may_provide(group):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415

    entries = sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))
    return [_loaded(entry, wanted) for entry in entries]


def usable(entries: Iterable[Provided[T]]) -> Iterator[T]:
    """Yield the objects of entry points, and warn of those that have none."""
    for entry in entries:
        if entry.value is None:
            warnings.warn(str(entry), UnusablePackage, stacklevel=2)
        else:
            yield entry.value


def _loaded(entry: EntryPoint, wanted: type[T]) -> Provided[T]:
    package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
    loaded: object = None
    try:
        loaded = entry.load()
        fault = "" if isinstance(loaded, wanted) else f"must be a {wanted.__name__}, not a {type(loaded).__name__}"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the package may raise anything when it is imported
        fault = f"cannot be loaded: {type(error).__name__}: {error}"[:_FAULT_LIMIT]
    value = loaded if isinstance(loaded, wanted) else None
    return Provided(entry.name, entry.value, entry.group, package, version, value, " ".join(fault.split()))
