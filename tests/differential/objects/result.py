"""What was made of one object, here and there."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from crdgen.evaluate import ErrorType, Violation
from crdgen.schema.limits import RANGES

_LOW, _HIGH = RANGES["int64"]


class Author(StrEnum):
    """Who wrote an object: a person, or hypothesis, who knows the schema or the model."""

    HAND = "hand"
    SCHEMA = "schema"
    MODEL = "model"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What both made of an object.

    Attributes:
        schema, source: The schema's name, and where it comes from.
        author: What the object was drawn from.
        value: The object as it was written, in the schema's place.
        violations: Why it is rejected here; none, and it is taken.
        taken_there: The server's verdict.
        here, there: What became of the object, under the schema's name; of what the server rejects it says nothing.
        message: The server's words against it.
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
        """Whether nothing is held against it here."""
        return not self.violations

    @property
    def differs(self) -> bool:
        """Whether the verdicts, or what both made of an object that they take, are not the same."""
        return self.taken_here != self.taken_there or (self.taken_here and not same(self.here, self.there))

    @property
    def explained(self) -> str:
        """Why the two differ, where that is known and meant."""
        return next((why for why, holds in KNOWN if self.differs and holds(self)), "")

    def sentence(self) -> str:
        """Return what a person looks into."""
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
#: Differences that are meant.
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
    """Tell whether two JSON values are the same to the API server.

    JSON does not tell 1.0 from 1, but true from 1; a number that no integer of 64 bits holds is a float.
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
