"""What the runner does, as values: the plan says it, the loop does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object. One of its name may be there: ours then, or one that is in the way."""

    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object. In the foreground it is there until all that it owns is gone."""

    found: Mapping[str, Any]
    foreground: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """Change an object by a merge patch."""

    found: Mapping[str, Any]
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetState:
    """Write the runner's state into the status of the job; what follows from it is done at the next look."""

    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write the status of the job: all of it. One that only says that pods are about to start can wait for them."""

    status: Mapping[str, Any]
    starting: bool = False


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """Record an Event on the job."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Look again in so many seconds: something becomes due then that nobody writes."""

    seconds: float


Action: TypeAlias = Create | Delete | Patch | SetState | SetStatus | RecordEvent | RequeueAfter
