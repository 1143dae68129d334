"""Rejects bounds that exclude each other: the API server accepts them, but no value."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any, Final, NamedTuple, TypeAlias

from crdgen.durations import format_duration
from crdgen.generate.errors import Faults, SchemaError
from crdgen.schema import LIST_TYPE, Schema

_Fault: TypeAlias = tuple[str, str]
"""What is wrong, and what would be right."""

_NUMBERS: Final = frozenset({"integer", "number"})
_LOWER: Final = ("ge", "gt")
_UPPER: Final = ("le", "lt")
# What a message calls a bound, by Pydantic's word.
SAYS: Final = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
# By type: the ending of the keywords that count, and what they count.
_COUNTS: Final = {
    "array": ("Items", "item", "items"),
    "object": ("Properties", "entry", "entries"),
    "string": ("Length", "character", "characters"),
}


class _Bound(NamedTuple):
    """One bound, as Pydantic calls it."""

    word: str
    value: Any

    @property
    def is_exclusive(self) -> bool:
        return self.word in {"gt", "lt"}

    def __str__(self) -> str:
        shown = format_duration(self.value) if isinstance(self.value, timedelta) else self.value
        return f"{SAYS[self.word]} {shown}"


def bounds(schema: Schema, path: str) -> Schema:
    """Return the node as it is, once its bounds leave something between them.

    A node of several types is not looked at: its members have been, and what it does not mean it shuts out so.
    """
    kind = schema.get("type")
    faults = Faults()
    for fault in (*_of_number(schema), *_of_counts(schema)) if isinstance(kind, str) else ():
        with faults.gathered():
            raise SchemaError(path, *fault)
    faults.tell()
    return schema


def refuse_empty(given: Mapping[str, Any], path: str) -> None:
    """Reject bounds of times, dates or durations that exclude each other.

    Args:
        given: The bounds by Pydantic's words: `ge`, `gt`, `le`, `lt`.
        path: The field.
    """
    fault = contradiction(given)
    if fault is not None:
        raise SchemaError(path, *fault)


def contradiction(given: Mapping[str, Any]) -> _Fault | None:
    """Return what is wrong with bounds between which nothing lies, and the fix; None where something does."""
    for low in (_Bound(word, given[word]) for word in _LOWER if word in given):
        for high in (_Bound(word, given[word]) for word in _UPPER if word in given):
            if _crossed(low, high):
                return _apart(low, high)
    return None


def _of_number(schema: Schema) -> Iterator[_Fault]:
    if schema.get("type") not in _NUMBERS:
        return
    low = _bound(schema, "minimum", "exclusiveMinimum", "ge", "gt")
    high = _bound(schema, "maximum", "exclusiveMaximum", "le", "lt")
    if low is None or high is None:
        return
    if _crossed(low, high):
        yield _apart(low, high)
    elif schema["type"] == "integer" and _step(schema) and not _has_multiple(low, high, _step(schema)):
        step = f" in steps of {schema['multipleOf']}" if "multipleOf" in schema else ""
        problem = f"takes nothing: no integer{step} is {low} and {high}"
        yield problem, f"widen one of the two (`{low.word}`, `{high.word}`)"


def _bound(schema: Schema, word: str, exclusive: str, inclusive_name: str, exclusive_name: str) -> _Bound | None:
    value = schema.get(word)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return _Bound(exclusive_name if schema.get(exclusive) is True else inclusive_name, value)


def _step(schema: Schema) -> int:
    """Return the step of an integer; 0 where it is none that can be counted in."""
    step = schema.get("multipleOf", 1)
    is_whole = not isinstance(step, bool) and isinstance(step, int | float) and step >= 1 and step == int(step)
    return int(step) if is_whole else 0


def _has_multiple(low: _Bound, high: _Bound, step: int) -> bool:
    least, most = (Fraction(Decimal(repr(bound.value))) / step for bound in (low, high))
    first, last = ceil(least), floor(most)
    first += low.is_exclusive and first == least
    last -= high.is_exclusive and last == most
    return first <= last


def _of_counts(schema: Schema) -> Iterator[_Fault]:
    ending, one, several = _COUNTS.get(schema["type"], ("", "", ""))
    if not ending:
        return
    least, most = schema.get(f"min{ending}"), schema.get(f"max{ending}")
    if not isinstance(least, int):
        return
    if isinstance(most, int) and least > most:
        problem = f"takes nothing: it must have at least {_counted(least, one, several)} and at most {most}"
        yield problem, "lower the first (`min_length`), or raise the second (`max_length`)"
    values = schema["items"].get("enum") if isinstance(schema.get("items"), dict) else None
    if schema.get(LIST_TYPE) == "set" and isinstance(values, list) and least > len(values):
        problem = (
            f"takes nothing: it must have at least {_counted(least, one, several)}, each once, of {len(values)} values"
        )
        yield problem, "lower `min_length`, or use a list"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _crossed(low: _Bound, high: _Bound) -> bool:
    try:
        return bool(low.value > high.value or (low.value == high.value and (low.is_exclusive or high.is_exclusive)))
    except TypeError:  # a moment with a zone, and one without
        return False


def _apart(low: _Bound, high: _Bound) -> _Fault:
    fix = f"correct one of the two (`{low.word}`, `{high.word}`)"
    if low.value == high.value:
        fix = f"use `ge` and `le`, which take {low.value} itself, or {fix}"
    return f"takes nothing: it must be {low} and {high}", fix
