"""A fault by which a prerequisite cannot be resolved or injected: a stable reason, the chain of items, a detail."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class ProblemReason(StrEnum):
    """The reasons in conditions and messages."""

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


class PrerequisiteProblem(Struct, frozen=True):
    """A fault.

    Attributes:
        reason: stable, for machines.
        chain: the items from the job's reference to the item with the fault.
        detail: the fault, and how to fix it.
        place: index of the reference that leads to it; None if it concerns all references together.
    """

    reason: ProblemReason
    chain: tuple[str, ...]
    detail: str
    place: int | None = None

    def message(self, start: str = "") -> str:
        """Return the message: reason, chain from `start` on, detail."""
        chain = " → ".join((*((start,) if start else ()), *self.chain))
        return f"{self.reason}: {chain}: {self.detail}" if chain else f"{self.reason}: {self.detail}"
