"""Findings in an object: causes deny it, notices warn.

`kubectl` prints only the causes of an `Invalid` status, as `* field: message`. So a cause's message is complete: it has
the reason, the offending value and what would be right, but not the path. The reasons and the form of the text are
those of `k8s.io/apimachinery/pkg/util/validation/field`.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, Final, Self, TypeAlias

from webhook.path import Path
from webhook.text import line, shown


class Notice:
    """A warning: what the user wrote is legal, but something else happens.

    Attributes:
        path: the field; exact, and limited in length when it is printed.
        message: what will happen, and what to write instead: one printable line of limited length.
    """

    __slots__ = ("message", "path")

    def __init__(self, path: Path | str, message: str) -> None:
        self.path = path if isinstance(path, Path) else Path(path)
        self.message = line(message)

    def at(self, path: Path | str) -> Self:
        """Return the same finding at another path."""
        finding = copy(self)
        finding.path = path if isinstance(path, Path) else Path(path)
        return finding

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (other.path, other.message) == (self.path, self.message)

    def __hash__(self) -> int:
        return hash((type(self), self.path, self.message))


class Cause(Notice):
    """A fault, for which the object is denied.

    Attributes:
        reason: the machine-readable reason in `status.details.causes`.
        words: the reason at the beginning of the message.
        value: the offending value, as the user wrote it. Two causes of one rule at one path are the same fault only if
            it is equal. If it is None, the values at `path` are compared (`webhook.ratchet`).
    """

    __slots__ = ("value",)
    reason: ClassVar[str] = "FieldValueInvalid"
    words: ClassVar[str] = "Invalid value"

    def __init__(self, path: Path | str, message: str, value: Any = None) -> None:
        super().__init__(path, message)
        self.value = value

    @classmethod
    def of(cls, path: Path | str, value: Any, detail: str) -> Cause:
        """Return a cause of this class with a value and a detail, whatever arguments the class itself takes."""
        cause = cls.__new__(cls)
        Cause.__init__(cause, path, f"{cls.words}: {shown(value)}: {detail}", value)
        return cause

    def to_status(self) -> dict[str, str]:
        """Return the entry of `status.details.causes`."""
        return {"reason": self.reason, "message": self.message, "field": str(self.path)}


class Required(Cause):
    """A required field is absent or empty."""

    __slots__ = ()
    reason = "FieldValueRequired"

    def __init__(self, path: Path | str, detail: str = "", value: Any = None) -> None:
        super().__init__(path, f"Required value: {detail}" if detail else "Required value", value)


class _OfValue(Cause):
    """A cause whose message begins with the value."""

    __slots__ = ()

    def __init__(self, path: Path | str, value: Any, detail: str = "") -> None:
        super().__init__(path, f"{self.words}: {shown(value)}" + (f": {detail}" if detail else ""), value)


class Invalid(_OfValue):
    """A value of the right type that is not allowed."""

    __slots__ = ()


class TypeInvalid(_OfValue):
    """A value of the wrong type."""

    __slots__ = ()
    reason = "FieldValueTypeInvalid"


class Duplicate(_OfValue):
    """A value that must be unique, but occurs twice."""

    __slots__ = ()
    reason = "FieldValueDuplicate"
    words = "Duplicate value"


class NotSupported(Cause):
    """A value that is not in a fixed set."""

    __slots__ = ()
    reason = "FieldValueNotSupported"
    words = "Unsupported value"

    def __init__(self, path: Path | str, value: Any, supported: Iterable[str]) -> None:
        choices = ", ".join(shown(choice) for choice in supported)
        super().__init__(path, f"Unsupported value: {shown(value)}: supported values: {choices}", value)


class Forbidden(Cause):
    """A field that must not be set here, whatever its value."""

    __slots__ = ()
    reason = "FieldValueForbidden"

    def __init__(self, path: Path | str, detail: str, value: Any = None) -> None:
        super().__init__(path, f"Forbidden: {detail}", value)


class NotFound(_OfValue):
    """A reference to something that does not exist."""

    __slots__ = ()
    reason = "FieldValueNotFound"
    words = "Not found"


class TooLong(Cause):
    """A text that is longer than its limit, in characters or another unit."""

    __slots__ = ()
    reason = "FieldValueTooLong"
    words = "Too long"

    def __init__(self, path: Path | str, value: str, limit: int, detail: str = "", *, unit: str = "characters") -> None:
        text = f"Too long: {shown(value)}: may not be more than {limit} {unit}"
        super().__init__(path, text + (f": {detail}" if detail else ""), value)


class TooMany(Cause):
    """A list or map with more entries than its limit."""

    __slots__ = ()
    reason = "FieldValueTooMany"
    words = "Too many"

    def __init__(self, path: Path | str, count: int, limit: int) -> None:
        super().__init__(path, f"Too many: {count}: must have at most {limit} items", count)


#: The name of a rule with what it has found; no name if a program other than the review of a kind answers.
Finding: TypeAlias = tuple[str, Notice]

#: The name of the schema as the rule of a finding.
SCHEMA: Final = "schema"
#: The name of the rule of the cause that the review takes too long.
TIME: Final = "time"
