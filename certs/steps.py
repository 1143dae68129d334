"""The steps of the protocol. Each is one act, safe to be repeated by anyone, and safe to be the last for a while."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from certs.store import Changes
from certs.target import Target


@dataclass(frozen=True)
class Stage:
    """Make a generation and store it beside the current one.

    Attributes:
        why: it is due.
        number: the lowest that it may have.
        emergency: whether what is stored cannot be served.
    """

    why: str
    number: int
    emergency: bool


@dataclass(frozen=True)
class Trust:
    """Add what a target does not trust yet to its bundles; nothing is taken away."""

    why: str
    target: Target
    bundles: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Note:
    """Change what is noted in the store, and nothing that is served."""

    why: str
    changes: Changes


@dataclass(frozen=True)
class Promote:
    """Serve what was staged."""

    why: str
    changes: Changes


@dataclass(frozen=True)
class Verify:
    """Look whether all servers serve the current generation, and note it."""

    why: str


@dataclass(frozen=True)
class Retire:
    """Take what is no longer needed out of a target's bundles; all servers are looked at once more before."""

    why: str
    target: Target
    bundles: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Wait:
    """Do nothing until a time.

    Attributes:
        why: there is nothing to do before.
        until: that time; by the API server's clock.
        then: what will be done.
        overdue: whether it takes longer than it should, so that a warning is logged.
        settled: whether the rotation is over, and nothing to be done until the next one.
    """

    why: str
    until: datetime
    then: str
    overdue: bool = False
    settled: bool = False


@dataclass(frozen=True)
class Blocked:
    """Do nothing until a person has changed something.

    Attributes:
        why: what is wrong, one line each.
    """

    reasons: tuple[str, ...]

    @property
    def why(self) -> str:
        """All of it."""
        return "; ".join(self.reasons)


Step: TypeAlias = Stage | Trust | Note | Promote | Verify | Retire | Wait | Blocked
