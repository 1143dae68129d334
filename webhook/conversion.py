"""The conversion of jobs of older shapes, for `jobgate convert`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Conversion:
    """A job in the shape of today.

    Attributes:
        job: the new object.
        decisions: what was decided where the shapes differ, a sentence each, for the user to check.
        fault: why the object cannot be converted; empty if it can.
    """

    job: dict[str, Any]
    decisions: tuple[str, ...]
    fault: str = ""


#: Gives the conversion of an object, or None where it is no older shape of the kind.
Convert: TypeAlias = Callable[[Mapping[str, Any]], Conversion | None]
