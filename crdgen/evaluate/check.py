"""Violations, and helpers of the checks that return them."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from crdgen.schema import ARTICLES, Schema


class ErrorType(StrEnum):
    """Kinds of errors, with the names of Kubernetes (field.ErrorType)."""

    REQUIRED = "Required"
    INVALID = "Invalid"
    NOT_SUPPORTED = "NotSupported"
    TYPE_INVALID = "TypeInvalid"
    TOO_LONG = "TooLong"
    TOO_MANY = "TooMany"
    DUPLICATE = "Duplicate"
    FORBIDDEN = "Forbidden"


class Violation(Struct, frozen=True):
    """An error of a field. The message says what would be right, and repeats neither path nor value."""

    path: tuple[str | int, ...]
    reason: ErrorType
    value: Any
    message: str
    #: The text of the CEL rule that was violated, if it was one.
    rule: str = ""

    def under(self, step: str | int) -> "Violation":
        """Return the violation with the path from the parent."""
        return Violation((step, *self.path), self.reason, self.value, self.message, self.rule)


Check: TypeAlias = Callable[[Any], list[Violation] | None]

#: Limit of violations per list or map: nobody reads more, and hostile input may have a million. In lists and maps that
#: are too long, entries beyond this number are not checked.
VIOLATIONS_LIMIT: Final = 1000

# A tuple instead of `dict | list`, which would be created again for each value.
CONTAINERS: Final = (dict, list)


def wrong_type(value: Any, expected: str) -> list[Violation]:
    """Return the violation of a value with a wrong JSON type."""
    not_null = ", not null" if value is None else ""
    return [Violation((), ErrorType.TYPE_INVALID, value, f"must be {ARTICLES[expected]}{not_null}")]


def under(step: str | int, violations: list[Violation]) -> list[Violation]:
    """Return the violations of a child with paths from the parent."""
    return [violation.under(step) for violation in violations]


def identity(value: Any) -> tuple[str, Any]:
    """Return a key that is equal for equal JSON values only: 1, 1.0, true and "1" are four values."""
    if isinstance(value, CONTAINERS):
        try:
            return "json", json.dumps(value, sort_keys=True)
        except (RecursionError, ValueError):
            return "object", id(value)
    return type(value).__name__, value


def quoted(value: Any) -> str:
    """Return a value of a schema as JSON."""
    return json.dumps(value, ensure_ascii=False)


Result = TypeVar("Result")


class Compiled(dict[str, Result]):
    """What is compiled for each field of a schema, when it is first needed: few objects have all fields of a pod.

    A key that is no field has `others`.
    """

    def __init__(self, schema: Schema, build: Callable[[Schema], Result], others: Result) -> None:
        super().__init__()
        self._schemas: dict[str, Schema] = schema.get("properties", {})
        self._build = build
        self._others = others

    def __missing__(self, key: str) -> Result:
        if key not in self._schemas:
            return self._others
        result = self[key] = self._build(self._schemas[key])
        return result
