"""Schemas of decimals, datetimes, dates, times and durations, which are strings in JSON."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from crdgen.generate.walk import BOUNDS, PROBLEM
from crdgen.schema import VALIDATIONS, Schema

_CLOCK: Final = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]{1,9})?)?"
_ZONE: Final = r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])"
# The API server has no format for times of day, and its `date-time` always has a zone.
TIME_PATTERN: Final = f"^{_CLOCK}{_ZONE}?$"
NAIVE_PATTERN: Final = f"^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt _]{_CLOCK}$"
# ISO 8601, which Pydantic reads and writes as a timedelta, and `[-][N days, ]HH:MM:SS[.ffffff]`, which it reads.
ISO_PATTERN: Final = (
    r"^[+-]?(P([0-9]+([.,][0-9]+)?[YMWDymwd])+([Tt]([0-9]+([.,][0-9]+)?[HMShms])+)?"
    r"|P[Tt]([0-9]+([.,][0-9]+)?[HMShms])+"
    r"|([0-9]+ ?(d|D|day|days),? ?)?[0-9]{1,2}:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?|[0-9]+ ?(d|D|day|days))$"
)
_COMPARISONS: Final = {
    "ge": (">=", "at least"),
    "gt": (">", "more than"),
    "le": ("<=", "at most"),
    "lt": ("<", "less than"),
}


def datetime_(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a datetime; bounds become rules."""
    if core.get("tz_constraint") == "naive":
        return {"type": "string", "pattern": NAIVE_PATTERN} | _no_bounds(core, "a time without a zone")
    return {"type": "string", "format": "date-time"} | _rules(core)


def date_(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a date; bounds become rules."""
    return {"type": "string", "format": "date"} | _rules(core)


def time_(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a time of day."""
    return {"type": "string", "pattern": TIME_PATTERN} | _no_bounds(core, "a time of day")


def duration(core: Mapping[str, Any], *, as_number: bool) -> Schema:
    """Return the schema of a timedelta in ISO 8601; with `as_number`, also seconds, which the model then writes."""
    bounds = {key: core[key] for key in _COMPARISONS if core.get(key) is not None}
    text: Schema = {"type": "string", "pattern": ISO_PATTERN}
    schema: Schema = {"anyOf": [{"type": "number"}, text]} if as_number else text
    return schema | ({BOUNDS: bounds} if bounds else {})


def bound_rule(word: str, bound: str, literal: str, subject: str = "self") -> dict[str, str]:
    """Return the CEL rule for a bound, with its message."""
    operator, words = _COMPARISONS[word]
    return {"rule": f"{subject} {operator} {literal}", "message": f"must be {words} {bound}"}


def _rules(core: Mapping[str, Any]) -> Schema:
    bounds = {key: core[key] for key in _COMPARISONS if core.get(key) is not None}
    if any(isinstance(bound, datetime) and bound.tzinfo is None for bound in bounds.values()):
        return {PROBLEM: ("a bound has no time zone", "give it one: `datetime(…, tzinfo=UTC)`")}

    midnight = {word: "" if isinstance(bound, datetime) else "T00:00:00Z" for word, bound in bounds.items()}
    rules = [
        bound_rule(word, bound.isoformat(), f"timestamp('{bound.isoformat()}{midnight[word]}')")
        for word, bound in bounds.items()
    ]
    return {VALIDATIONS: rules} if rules else {}


def _no_bounds(core: Mapping[str, date | time | timedelta | Any], what: str) -> Schema:
    if all(core.get(key) is None for key in _COMPARISONS):
        return {}
    return {PROBLEM: (f"no rule can compare {what}", "drop the bounds, and check them in a webhook")}


#: Keywords of numbers by Pydantic's names.
_NUMBER_KEYWORDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


def decimal(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a decimal: a number with bounds, or a string with a pattern that only checks the sign.

    A step below 1 is dropped: for the API server, no integer is a multiple of it.
    """
    bounds = {keyword: Decimal(core[name]) for name, keyword in _NUMBER_KEYWORDS.items() if core.get(name) is not None}
    if core.get("decimal_places") == 0:
        bounds.setdefault("multipleOf", Decimal(1))
    # `% 1` would fail for more digits than the precision of decimals.
    whole = {keyword: int(bound) for keyword, bound in bounds.items() if bound == bound.to_integral_value()}
    if "multipleOf" not in whole:
        bounds.pop("multipleOf", None)
    number = {keyword: whole.get(keyword, float(bound)) for keyword, bound in bounds.items()}
    sign = r"\+?" if any(core.get(name) is not None and core[name] >= 0 for name in ("ge", "gt")) else "[+-]?"
    pattern = rf"^{sign}([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{{1,4}})?$"
    return {"anyOf": [{"type": "number"} | number, {"type": "string", "pattern": pattern}]}
