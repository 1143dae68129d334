"""One thing for which the API server refuses a Pod, at a Pod Security level and in some versions of it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, NamedTuple

from webhook.path import Path

#: Above all minors that there are: of a violation that no version has stopped to mind.
ALWAYS: Final = 10_000


class Level(IntEnum):
    """How far a namespace's pods are restricted; each level asks for all that those below it ask for."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    @property
    def word(self) -> str:
        """As a label of a namespace says it."""
        return self.name.lower()


class Violation(NamedTuple):
    """What a level minds in a Pod.

    Attributes:
        path: the field.
        value: what stands there; None where something is missing.
        right: what would do.
        level: the lowest level that minds.
        since: the first minor of the level's definition that minds: a namespace can be held to that of any Kubernetes.
        until: the first minor after it that does not mind any more.
        written: all that the user wrote there, where `value` is only what it is called.
    """

    path: Path
    value: Any
    right: str
    level: Level
    since: int = 0
    until: int = ALWAYS
    written: Any = None
