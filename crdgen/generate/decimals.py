"""Decimal numbers, which are strings or numbers in JSON."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Final

from crdgen.generate.bounds import SAYS
from crdgen.generate.notes import PROBLEM, SAID
from crdgen.schema import Schema

_BOUNDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}

_BELOW_ONE: Final = r"0+(\.[0-9]*)?|\.[0-9]+"
_ZERO: Final = r"0+(\.0*)?|\.0+"
# Any unsigned decimal.
_ANY: Final = r"[0-9]+(\.[0-9]*)?|\.[0-9]+"


def decimal(core: Mapping[str, Any]) -> Schema:
    """Return the schema of a decimal: a number in bounds, or the text of one.

    Digits of a number are bounds, and steps where they are whole: of a step below 1 the API server takes no integer for
    a multiple. So a number may have more places than the model takes; a text may not. Bounds of texts are patterns. An
    exponent is taken only where there are no bounds and no number of digits, because no pattern could tell what it does
    to them.
    """
    if core.get("max_digits") == 0:
        return {PROBLEM: ("a decimal of no digits takes nothing", "raise `max_digits`")}
    number: Schema = {"type": "number"}
    for word, keyword in _BOUNDS.items():
        if core.get(word) is not None:
            number[keyword] = _number(core[word])
    digits, places = _digits(core)
    step = core.get("multiple_of") or (1 if places == 0 else None)
    if step is not None and Decimal(step) == Decimal(step).to_integral_value():
        number["multipleOf"] = _number(step)
    if digits is not None:
        number = _within(number, 10 ** (digits - (places or 0)))
    found = patterns(core)
    return {"anyOf": [number, {"type": "string", **_all([{"pattern": one} for one in found])}], SAID: _said(core)}


def _said(core: Mapping[str, Any]) -> str:
    """Return what such a decimal is, in words."""
    digits, places = _digits(core)
    bounds = [f"{says} {core[word]}" for word, says in SAYS.items() if core.get(word) is not None]
    step = core.get("multiple_of")
    steps = [f"in steps of {step}"] if step is not None else []
    counts = [f"of at most {digits} digit{'' if digits == 1 else 's'}"] if digits is not None else []
    behind = [f"with at most {places} behind the point"] if places is not None else []
    return ", ".join(["a decimal as a number or a string", *bounds, *steps, *counts, *behind])


def _all(checks: list[Schema]) -> Schema:
    return checks[0] if len(checks) == 1 else {"allOf": checks}


def _within(number: Schema, limit: int) -> Schema:
    """Return a number that also lies between minus and plus a limit, which is out of bounds itself."""
    closest: Schema = {}
    if _outside(number, "maximum", "exclusiveMaximum", limit, 1):
        closest["exclusiveMaximum"] = limit
    if _outside(number, "minimum", "exclusiveMinimum", -limit, -1):
        closest["exclusiveMinimum"] = -limit
    return number | closest


def _outside(number: Schema, bound: str, exclusive: str, limit: int, sign: int) -> bool:
    """Return whether a limit is tighter than the bounds of a number, if it has any."""
    return all(sign * number[word] > sign * limit for word in (bound, exclusive) if word in number)


def patterns(core: Mapping[str, Any]) -> list[str]:
    """Return the patterns that the text of such a decimal matches, all of them.

    Each that does not hold is a line of an error: so signs, zero, digits and one bound for each sign go into the first.
    """
    digits, places = _digits(core)
    bounds = {word: Decimal(core[word]) for word in _BOUNDS if core.get(word) is not None}
    if digits is None and places is None and not bounds:
        return [r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$"]
    sides = [_side(bounds, digits, places, negative=negative) for negative in (False, True)]
    found = [_signed(*side) for side in zip_longest(*sides, fillvalue=_ANY)]
    if digits is not None and places is None:
        found.append(rf"^[+-]?0*(\.?[0-9]){{0,{digits}}}\.?0*$")
    return found


def _digits(core: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return how many digits there may be in all, and behind the point; a step of a tenth is so many places, too."""
    digits, places = core.get("max_digits"), core.get("decimal_places")
    step = core.get("multiple_of")
    if step is not None and (exact := Decimal(step).normalize()).as_tuple().digits == (1,):
        exponent = -int(exact.as_tuple().exponent)
        places = exponent if places is None else min(places, exponent)
        places = None if places < 0 else places
    return digits, places if digits is None or places is None else min(places, digits)


def _signed(positive: str, negative: str) -> str:
    if positive == negative:
        return f"^[+-]?({positive})$"
    sides = [rf"\+?({positive})" if positive else "", f"-({negative})" if negative else ""]
    return f"^({'|'.join(side for side in sides if side)})$"


def _side(bounds: Mapping[str, Decimal], digits: int | None, places: int | None, *, negative: bool) -> list[str]:
    """Return the patterns of the texts of one sign, without it; an empty one where there are none."""
    compared: list[str] = []
    some = False  # zero is out of bounds
    for word, signed in bounds.items():
        bound = -signed if negative else signed
        strict = word in {"gt", "lt"}
        more = (word in {"ge", "gt"}) != negative  # at least so far from zero
        if more and (bound > 0 or (bound == 0 and strict)):
            some |= bound == 0
            compared += [_compared(bound, more=True, equal=not strict)] if bound else []
        elif not more and (bound < 0 or (bound == 0 and strict)):
            return [""]
        elif not more:
            if not bound:
                return [_ZERO]
            compared.append(_compared(bound, more=False, equal=not strict))
    if digits is None and places is None and compared:
        return [_compared(Decimal(0), more=True, equal=False), *compared] if some else compared
    return [_body(digits, places, some=some), *compared]


def _body(digits: int | None, places: int | None, *, some: bool) -> str:
    """Return the pattern of unsigned decimals of so many digits; zeros at both ends are none.

    Args:
        digits: How many there may be in all; with `places`, also how many in front of the point.
        places: How many there may be behind the point.
        some: Zero is none of them.
    """
    whole = "*" if digits is None else f"{{0,{digits - (places or 0) - 1}}}"
    few = digits is not None and digits <= (places or 0)  # none in front of the point
    fraction = r"(\.[0-9]*)?" if places is None else rf"(\.[0-9]{{0,{places}}}0*)?"
    lead = [] if few else [f"0*[1-9][0-9]{whole}{fraction}"]
    if some:
        return "|".join([*lead, rf"0*\.({_nonzero(places)})"]) if places != 0 else "|".join(lead)
    if not few:
        start = "[0-9]+" if digits is None else f"0*[0-9]{{1,{digits - (places or 0)}}}"
        lead = [f"{start}{fraction}"]
    else:
        # A zero in front of the point is a digit where there is none behind it.
        lead = [rf"0+\.[0-9]{{1,{places}}}0*"]
    return "|".join([*lead, r"\.[0-9]+" if places is None else rf"\.[0-9]{{1,{places}}}0*" if places else r"\.0+"])


def _nonzero(places: int | None) -> str:
    """Return the pattern of what is behind the point and not zero."""
    if places is None:
        return "0*[1-9][0-9]*"
    return "|".join(f"0{{{zeros}}}[1-9][0-9]{{0,{places - zeros - 1}}}0*" for zeros in range(places))


def _number(value: Any) -> int | float:
    return int(value) if Decimal(value) == Decimal(value).to_integral_value() else float(value)


def _compared(magnitude: Decimal, *, more: bool, equal: bool) -> str:
    """Return the pattern of unsigned decimals above (`more`) or below a magnitude, or equal to it."""
    whole, _, fraction = f"{magnitude:f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    found = [*_whole(whole, more=more), *_fraction(whole, fraction, more=more)]
    if equal:
        found.append(f"{whole}(\\.{fraction}0*)" if fraction else f"{whole}(\\.0*)?")
    below = [] if more else [_BELOW_ONE] if whole else [r"0+\.?"]
    return "|".join([*([f"0*({'|'.join(found)})"] if found else []), *below])


def _whole(whole: str, *, more: bool) -> list[str]:
    """Return the patterns of numbers whose whole part differs and is not zero, leading zeros taken off."""
    rest = r"(\.[0-9]*)?"
    found = []
    if more:
        found.append(f"[1-9][0-9]{{{len(whole)},}}{rest}")
    elif len(whole) > 1:
        found.append(f"[1-9][0-9]{{0,{len(whole) - 2}}}{rest}")
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
        found += [f"{whole}\\.?"] if fraction and whole else []
    return found
