"""The result of one object, locally and at the API server."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from crdgen.evaluate import ErrorType, Violation
from crdgen.schema.limits import RANGES

_LOW, _HIGH = RANGES["int64"]


class Author(StrEnum):
    """The origin of an object: written by hand, or drawn from the schema or the model."""

    HAND = "hand"
    SCHEMA = "schema"
    MODEL = "model"


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of an object.

    Attributes:
        schema, source: The schema's name, and its source.
        author: The origin of the object.
        value: The value of the schema's field.
        violations: Why the local evaluation rejects it; empty if it is accepted.
        taken_there: Whether the API server accepts it.
        here, there: The resulting field, locally and at the API server; empty if the API server rejects the object.
        message: The API server's error.
    """

    schema: str
    source: str
    author: Author
    value: Any
    violations: tuple[Violation, ...]
    taken_there: bool
    here: Mapping[str, Any]
    there: Mapping[str, Any]
    message: str

    @property
    def taken_here(self) -> bool:
        """Whether the local evaluation accepts it."""
        return not self.violations

    @property
    def differs(self) -> bool:
        """Whether the verdicts differ, or the resulting fields if both accept it."""
        return self.taken_here != self.taken_there or (self.taken_here and not same(self.here, self.there))

    @property
    def explained(self) -> str:
        """Why the two differ, if that is a known difference."""
        return next((why for why, holds in KNOWN if self.differs and holds(self)), "")

    def sentence(self) -> str:
        """Return a description of the result."""
        words = "; ".join(f"{shown(violation.path)}: {violation.message}" for violation in self.violations)
        return (
            f"{self.schema}, by {self.author}: {self.value!r}\n"
            f"  here {'taken' if self.taken_here else 'rejected'}: {dict(self.here)!r} {words[:600]}\n"
            f"  there {'taken' if self.taken_there else 'rejected'}: {dict(self.there)!r} {self.message[:600]}"
        )


def _is_duration_of_go(result: Result) -> bool:
    """The CEL library reads no `µs` and no fraction of more than 18 digits (docs/reference/crd-evaluation.md)."""
    words = "String to Duration conversion failed"
    return result.taken_there and all(words in violation.message for violation in result.violations)


def _is_list_for_text(result: Result) -> bool:
    return result.taken_there and all(
        violation.reason is ErrorType.TYPE_INVALID
        and isinstance(violation.value, list)
        and violation.message == "must be a string"
        for violation in result.violations
    )


def _is_of_unchecked_format(result: Result) -> bool:
    return result.taken_here and not result.taken_there and _UNCHECKED.search(result.message) is not None


def _is_number_of_enum(result: Result) -> bool:
    """The API server converts a number to the type of the enum's values, and then takes `2.5` for `2`."""
    return result.taken_there and all(
        violation.reason is ErrorType.NOT_SUPPORTED and isinstance(violation.value, float)
        for violation in result.violations
    )


_UNCHECKED: Final = re.compile("must be of type (creditcard|isbn|isbn10|isbn13|rgbcolor):")
#: Known, intended differences.
KNOWN: Final[list[tuple[str, Callable[[Result], bool]]]] = [
    (
        "a list where a string with a format is expected is rejected here; no typed client could read it",
        _is_list_for_text,
    ),
    ("a format that nobody gives to a field is not checked", _is_of_unchecked_format),
    ("the CEL library does not read the duration", _is_duration_of_go),
    ("a number is not converted to the type of an enum's values", _is_number_of_enum),
]


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same for the API server.

    1.0 and 1 are the same, true and 1 are not; a number that does not fit into 64 bits is a float.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(_read(left) == _read(right))


def _read(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not _LOW <= value <= _HIGH else value


def shown(path: tuple[str | int, ...]) -> str:
    """Return a path as the API server writes it."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "<nil>"
