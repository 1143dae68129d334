"""Decimals, moments, days, times of day and durations, which JSON has as texts."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from crdgen.generate.walk import BOUNDS, PROBLEM, SAID
from crdgen.schema import VALIDATIONS, Schema

_CLOCK: Final = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]{1,9})?)?"
_ZONE: Final = r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])"
# The API server checks no format for a time of day, and its `date-time` always has a zone.
TIME_PATTERN: Final = f"^{_CLOCK}{_ZONE}?$"
NAIVE_PATTERN: Final = f"^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt _]{_CLOCK}$"
# ISO 8601, and `[-][N days, ]HH:MM:SS[.ffffff]`: what Pydantic reads as a timedelta, and what it writes.
ISO_PATTERN: Final = (
    r"^[+-]?(P([0-9]+([.,][0-9]+)?[YMWDymwd])+([Tt]([0-9]+([.,][0-9]+)?[HMShms])+)?"
    r"|P[Tt]([0-9]+([.,][0-9]+)?[HMShms])+"
    r"|([0-9]+ ?(d|D|day|days),? ?)?[0-9]{1,2}:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?|[0-9]+ ?(d|D|day|days))$"
)
_WORDS: Final = {"ge": (">=", "at least"), "gt": (">", "more than"), "le": ("<=", "at most"), "lt": ("<", "less than")}


def moment(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a datetime; bounds become rules."""
    if core.get("tz_constraint") == "naive":
        return {"type": "string", "pattern": NAIVE_PATTERN} | _no_bounds(core, "a time without a zone")
    return {"type": "string", "format": "date-time"} | _rules(core)


def day(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a date; bounds become rules."""
    return {"type": "string", "format": "date"} | _rules(core)


def clock(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a time of day."""
    return {"type": "string", "pattern": TIME_PATTERN} | _no_bounds(core, "a time of day")


def duration(core: Mapping[str, Any], *, as_number: bool) -> Schema:
    """Return the schema of a timedelta in ISO 8601; `as_number` adds the seconds that the model then writes."""
    bounds = {key: core[key] for key in _WORDS if core.get(key) is not None}
    text: Schema = {"type": "string", "pattern": ISO_PATTERN}
    schema: Schema = {"anyOf": [{"type": "number"}, text]} if as_number else text
    return schema | ({BOUNDS: bounds} if bounds else {})


def rule_of_bound(word: str, bound: str, literal: str, subject: str = "self") -> dict[str, str]:
    """Return the CEL rule of one bound, with its message."""
    operator, says = _WORDS[word]
    return {"rule": f"{subject} {operator} {literal}", "message": f"must be {says} {bound}"}


def _rules(core: Mapping[str, Any]) -> Schema:
    bounds = {key: core[key] for key in _WORDS if core.get(key) is not None}
    if any(isinstance(bound, datetime) and bound.tzinfo is None for bound in bounds.values()):
        return {PROBLEM: ("a bound has no time zone", "give it one: `datetime(…, tzinfo=UTC)`")}

    midnight = {word: "" if isinstance(bound, datetime) else "T00:00:00Z" for word, bound in bounds.items()}
    rules = [
        rule_of_bound(word, bound.isoformat(), f"timestamp('{bound.isoformat()}{midnight[word]}')")
        for word, bound in bounds.items()
    ]
    return {VALIDATIONS: rules} if rules else {}


def _no_bounds(core: Mapping[str, date | time | timedelta | Any], what: str) -> Schema:
    if all(core.get(key) is None for key in _WORDS):
        return {}
    return {PROBLEM: (f"no rule can compare {what}", "drop the bounds, and check them in a webhook")}


#: By Pydantic's name of a bound: the keyword, and what a description says.
_BOUNDS: Final = {
    "ge": ("minimum", "at least"),
    "gt": ("exclusiveMinimum", "greater than"),
    "le": ("maximum", "at most"),
    "lt": ("exclusiveMaximum", "less than"),
}


def decimal(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a decimal: a number in bounds, or the text of one.

    Digits of a number are bounds, and steps where they are whole: of a step below 1 the API server takes no integer for
    a multiple. A text is held to its sign, digits and places only: no pattern says other bounds in a way to be read.
    """
    digits, places = _digits(core)
    if digits == 0:
        return {PROBLEM: ("a decimal of no digits takes nothing", "raise `max_digits`")}
    bounds = {name: Decimal(core[name]) for name in _BOUNDS if core.get(name) is not None}
    number: Schema = {"type": "number"} | {_BOUNDS[name][0]: _number(bound) for name, bound in bounds.items()}
    step = core.get("multiple_of") or (1 if places == 0 else None)
    if step is not None and Decimal(step) == Decimal(step).to_integral_value():
        number["multipleOf"] = _number(Decimal(step))
    if digits is not None:
        limit = 10 ** (digits - (places or 0))
        number |= {} if bounds.keys() & {"ge", "gt"} else {"exclusiveMinimum": -limit}
        number |= {} if bounds.keys() & {"le", "lt"} else {"exclusiveMaximum": limit}
    return {"anyOf": [number, {"type": "string", "pattern": _pattern(core)}], SAID: _said(core)}


def _pattern(core: Mapping[str, Any]) -> str:
    """Return what the text of such a decimal matches: an exponent only where nothing else is said."""
    digits, places = _digits(core)
    signs = r"\+?" if any(core.get(name) is not None and core[name] >= 0 for name in ("ge", "gt")) else "[+-]?"
    exponent = "([eE][+-]?[0-9]{1,4})?" if not core.keys() & {*_BOUNDS, "max_digits", "decimal_places"} else ""
    if digits is None or places is None:
        whole = "[0-9]+"
    else:
        whole = f"0*[0-9]{{1,{digits - places}}}" if digits > places else "0+"
    fraction = "[0-9]" if places is None else f"[0-9]{{0,{places}}}0"
    only = "[0-9]+" if places is None else f"[0-9]{{1,{places or 1}}}0*"
    return rf"^{signs}({whole}(\.{fraction}*)?|\.{only}){exponent}$"


def _digits(core: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return how many digits there may be in all, and behind the point; a step of a tenth is so many places, too."""
    digits, places = core.get("max_digits"), core.get("decimal_places")
    step = core.get("multiple_of")
    if step is not None and (exact := Decimal(step).normalize()).as_tuple().digits == (1,):
        exponent = -int(exact.as_tuple().exponent)
        places = exponent if places is None else min(places, exponent)
        places = None if places < 0 else places
    return digits, places if digits is None or places is None else min(places, digits)


def _said(core: Mapping[str, Any]) -> str:
    """Return what such a decimal is, in words."""
    digits, places = _digits(core)
    bounds = [f"{says} {core[name]}" for name, (_, says) in _BOUNDS.items() if core.get(name) is not None]
    step = core.get("multiple_of")
    steps = [f"in steps of {step}"] if step is not None else []
    counts = [f"of at most {digits} digit{'' if digits == 1 else 's'}"] if digits is not None else []
    behind = [f"with at most {places} behind the point"] if places is not None else []
    return ", ".join(["a decimal as a number or a string", *bounds, *steps, *counts, *behind])


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
