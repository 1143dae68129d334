"""What keeps a prerequisite from being resolved or injected: a stable reason, the way to it, what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProblemReason(StrEnum):
    """The reasons, as conditions and messages name them."""

    UNKNOWN_REFERENCE = "UnknownReference"
    FORBIDDEN = "Forbidden"
    CYCLE = "Cycle"
    MISSING_VARIABLE = "MissingVariable"
    UNKNOWN_VARIABLE = "UnknownVariable"
    INVALID_VALUE = "InvalidValue"
    UNDECLARED_PLACEHOLDER = "UndeclaredPlaceholder"
    UNSUPPORTED_PLUGIN = "UnsupportedPlugin"
    MALFORMED = "Malformed"
    MOUNT_CONFLICT = "MountConflict"
    VOLUME_CONFLICT = "VolumeConflict"
    ENV_CONFLICT = "EnvConflict"
    PLUGIN_CONFLICT = "PluginConflict"
    UNKNOWN_CONTAINER = "UnknownContainer"
    COMMAND_REQUIRED = "CommandRequired"
    TOO_LARGE = "TooLarge"
    DEPTH_EXCEEDED = "DepthExceeded"


@dataclass(frozen=True, slots=True)
class PrerequisiteProblem:
    """One fault.

    Attributes:
        reason: stable, for machines.
        chain: the items from the one that the job names to the one with the fault.
        detail: what is wrong and what would be right.
        place: index of the reference that leads to it; None if it concerns all together.
    """

    reason: ProblemReason
    chain: tuple[str, ...]
    detail: str
    place: int | None = None

    def said(self, start: str = "") -> str:
        """Return it as a message: reason, chain from `start` on, detail."""
        chain = " → ".join((*((start,) if start else ()), *self.chain))
        return f"{self.reason}: {chain}: {self.detail}" if chain else f"{self.reason}: {self.detail}"
