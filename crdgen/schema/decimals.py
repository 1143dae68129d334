"""Decimal numbers, which JSON writes as texts or as numbers."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from crdgen.schema.walk import Schema

_BOUNDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def decimal(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a decimal: a number in bounds, or the text of one.

    Bounds of texts are patterns. An exponent is taken only where there are no bounds and no number of digits, because
    no pattern could tell what it does to them.
    """
    number: Schema = {"type": "number"}
    for word, keyword in _BOUNDS.items():
        if core.get(word) is not None:
            number[keyword] = _number(core[word])
    if core.get("multiple_of") is not None:
        number["multipleOf"] = _number(core["multiple_of"])
    return {"anyOf": [number, {"type": "string", "allOf": [{"pattern": one} for one in patterns(core)]}]}


def patterns(core: Mapping[str, Any]) -> list[str]:
    """Return the patterns that the text of such a decimal matches, all of them."""
    digits, places = core.get("max_digits"), core.get("decimal_places")
    bounded = any(core.get(word) is not None for word in _BOUNDS)
    if digits is None and places is None and not bounded:
        return [r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$"]
    found = [r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"]
    if places is not None:
        found.append(rf"^[+-]?[0-9]*(\.[0-9]{{0,{places}}}0*)?$")
    if digits is not None:
        # So many digits in all; zeros in front are none.
        whole = digits - places if places is not None else digits
        found.append(rf"^[+-]?0*[0-9]{{0,{whole}}}(\.[0-9]*)?$")
        if places is None:
            found.append(rf"^[+-]?0*(\.?[0-9]){{0,{digits}}}\.?0*$")
    return found + [_bound(word, Decimal(core[word])) for word in _BOUNDS if core.get(word) is not None]


def _number(value: Any) -> int | float:
    return int(value) if Decimal(value) == Decimal(value).to_integral_value() else float(value)


def _bound(word: str, bound: Decimal) -> str:
    """Return the pattern of the texts on the right side of a bound.

    Of the two signs, one side is always bounded by a magnitude and the other is taken whole or not at all.
    """
    at_least, strict = word in {"ge", "gt"}, word in {"gt", "lt"}
    magnitude = abs(bound)
    right, wrong = (r"\+?", "-") if at_least else ("-", r"\+?")
    if bound == 0:
        beyond = _compared(magnitude, more=True, equal=False)
        zero = "" if strict else rf"|[+-]?{_compared(magnitude, more=False, equal=True)}"
        return f"^({right}{beyond}{zero})$"
    anything = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
    if (bound > 0) == at_least:  # as far from zero as the bound, on its side
        return f"^{right}{_compared(magnitude, more=True, equal=not strict)}$"
    return f"^({right}{anything}|{wrong}{_compared(magnitude, more=False, equal=not strict)})$"


def _compared(magnitude: Decimal, *, more: bool, equal: bool) -> str:
    """Return the pattern of unsigned decimals above (`more`) or below a magnitude, or equal to it."""
    whole, _, fraction = f"{magnitude:f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    found = [*_whole(whole, more=more), *_fraction(whole, fraction, more=more)]
    if equal:
        found.append(f"{whole}(\\.{fraction}0*)" if fraction else f"{whole}(\\.0*)?")
    return f"0*({'|'.join(found)})"


def _whole(whole: str, *, more: bool) -> list[str]:
    """Return the patterns of numbers whose whole part differs, leading zeros taken off."""
    rest = r"(\.[0-9]*)?"
    found = []
    if more:
        found.append(f"[1-9][0-9]{{{len(whole)},}}{rest}")
    elif len(whole) > 1:
        found.append(f"([1-9][0-9]{{0,{len(whole) - 2}}})?{rest}")
    elif len(whole) == 1:
        found.append(rest)
    for at, digit in enumerate(whole):
        low, high = (int(digit) + 1, 9) if more else (1 if at == 0 else 0, int(digit) - 1)
        if low <= high:
            found.append(f"{whole[:at]}[{low}-{high}][0-9]{{{len(whole) - at - 1}}}{rest}")
    return found


def _fraction(whole: str, fraction: str, *, more: bool) -> list[str]:
    """Return the patterns of numbers with the same whole part and another fraction."""
    found = []
    for at, digit in enumerate(fraction):
        low, high = (int(digit) + 1, 9) if more else (0, int(digit) - 1)
        if low <= high:
            found.append(f"{whole}\\.{fraction[:at]}[{low}-{high}][0-9]*")
    if more:
        found.append(f"{whole}\\.{fraction}0*[1-9][0-9]*")
    else:
        # A shorter fraction is a smaller one; with no fraction at all the point may be missing too.
        found += [f"{whole}\\.{fraction[:at]}" for at in range(1, len(fraction))]
        found += [f"{whole}\\.?"] if fraction else []
    return found
