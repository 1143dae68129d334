"""The actions of the runner: `plan` returns them, `loop` carries them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object. If one of this name exists, it is the job's own, or blocks the job."""

    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object. In the foreground it exists until all objects that it owns are gone; by force no pod waits."""

    found: Mapping[str, Any]
    foreground: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """Change an object with a merge patch."""

    found: Mapping[str, Any]
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetState:
    """Write the runner's state to the status of the job. The next look acts on it."""

    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write the whole status of the job. One that only reports that pods are `starting` can wait until they run."""

    status: Mapping[str, Any]
    starting: bool = False


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """Record an Event on the job.

    Attributes:
        type, reason, message: as in the Event.
        occurrence: what distinguishes an Event from an equal one, such as that of an earlier restart.
    """

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    occurrence: str = ""


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Look at the job again after this time: something is due then, and no change of an object announces it."""

    seconds: float


Action: TypeAlias = Create | Delete | Patch | SetState | SetStatus | RecordEvent | RequeueAfter
