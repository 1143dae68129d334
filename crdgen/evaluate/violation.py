"""One thing in an object that its schema refuses."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Kubernetes' names for what is wrong with a field."""

    REQUIRED = "Required"
    INVALID = "Invalid"
    NOT_SUPPORTED = "NotSupported"
    TYPE_INVALID = "TypeInvalid"
    TOO_LONG = "TooLong"
    TOO_MANY = "TooMany"
    DUPLICATE = "Duplicate"
    FORBIDDEN = "Forbidden"


@dataclass(frozen=True, slots=True)
class Violation:
    """Where, what and why; the message says what would be right and repeats neither path nor value."""

    path: tuple[str | int, ...]
    reason: Reason
    value: Any
    message: str

    def under(self, step: str | int) -> "Violation":
        """Return the same violation as the parent sees it."""
        return Violation((step, *self.path), self.reason, self.value, self.message)
