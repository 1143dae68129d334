"""Decimal numbers, which are strings or numbers in JSON."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from crdgen.generate.notes import PROBLEM, SAID
from crdgen.schema import Schema

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
