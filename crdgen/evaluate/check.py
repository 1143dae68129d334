"""What the checks find, and what they have in common."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from crdgen.schema import ARTICLES, Schema


class ErrorType(StrEnum):
    """What is wrong with a field, as Kubernetes names it (field.ErrorType)."""

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
    reason: ErrorType
    value: Any
    message: str

    def under(self, step: str | int) -> "Violation":
        """Return the same violation as the parent sees it."""
        return Violation((step, *self.path), self.reason, self.value, self.message)


Check: TypeAlias = Callable[[Any], list[Violation] | None]

#: Of one list or map, no more violations than these are looked for: nobody reads them, and hostile ones hold a million.
#: And one that is longer than it may be is looked into only up to so many entries.
ENOUGH: Final = 1000

# A tuple, and not `dict | list`: that would be built again for each value.
CONTAINERS: Final = (dict, list)


def wrong_type(value: Any, wanted: str) -> list[Violation]:
    """Return the violation of a value that has another JSON type."""
    rather = ", not null" if value is None else ""
    return [Violation((), ErrorType.TYPE_INVALID, value, f"must be {ARTICLES[wanted]}{rather}")]


def under(step: str | int, found: list[Violation]) -> list[Violation]:
    """Return the violations of a child as its parent sees them."""
    return [violation.under(step) for violation in found]


def identity(value: Any) -> tuple[str, Any]:
    """Return what tells a JSON value from another: 1, 1.0, true and "1" are four values."""
    if isinstance(value, CONTAINERS):
        try:
            return "json", json.dumps(value, sort_keys=True)
        except (RecursionError, ValueError):
            return "object", id(value)
    return type(value).__name__, value


def quoted(value: Any) -> str:
    """Return a value of a schema as JSON shows it."""
    return json.dumps(value, ensure_ascii=False)


Built = TypeVar("Built")


def built(schema: Schema, build: Callable[[Schema], Built]) -> tuple[dict[str, Built], Built | None, Built | None]:
    """Return what is built of the schemas of fields, of a map's values, and of items."""
    fields = {name: build(child) for name, child in schema.get("properties", {}).items()}
    others, items = schema.get("additionalProperties"), schema.get("items")
    return (
        fields,
        build(others) if isinstance(others, dict) else None,
        build(items) if isinstance(items, dict) else None,
    )
