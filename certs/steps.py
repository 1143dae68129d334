"""The steps of the rotation. Any process can repeat each step, and the rotation may stop after any step."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from certs.places import Changes, Target


@dataclass(frozen=True)
class Stage:
    """Issue a generation of at least this number and store it beside the current one.

    In an `emergency`, the current generation cannot be served.
    """

    why: str
    number: int
    emergency: bool


@dataclass(frozen=True)
class Trust:
    """Add missing CAs to a target's bundles; nothing is removed."""

    why: str
    target: Target
    bundles: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Note:
    """Write notes to the store; served certificates do not change."""

    why: str
    changes: Changes


@dataclass(frozen=True)
class Promote:
    """Serve the staged generation."""

    why: str
    changes: Changes


@dataclass(frozen=True)
class Verify:
    """Check that all servers serve the current generation, and note it."""

    why: str


@dataclass(frozen=True)
class Retire:
    """Remove unneeded CAs from a target's bundles, after checking all servers once more."""

    why: str
    target: Target
    bundles: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Wait:
    """Wait `until` a time by the API server's clock. `then` says what follows.

    Attributes:
        overdue: whether to log a warning, because it takes too long.
        settled: whether the rotation is complete.
    """

    why: str
    until: datetime
    then: str
    overdue: bool = False
    settled: bool = False


@dataclass(frozen=True)
class Blocked:
    """Wait until a person has fixed something."""

    reasons: tuple[str, ...]

    @property
    def why(self) -> str:
        """All reasons as one text."""
        return "; ".join(self.reasons)


Step: TypeAlias = Stage | Trust | Note | Promote | Verify | Retire | Wait | Blocked
