"""Quantities of Kubernetes, parsed exactly: `500m`, `4Gi`, `1e3`, `0.5`, `2`.

What is a quantity, and how much it is, is what `resource.ParseQuantity` and `Quantity.UnmarshalJSON` of
`k8s.io/apimachinery/pkg/api/resource` say. A pattern alone would not do: `1e1.5` passes the usual one, and one object
that holds it stops every typed client that lists its kind.
"""

from __future__ import annotations

import re
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import Final

#: What each suffix multiplies by: a power of ten, or of two.
DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

#: The most that a quantity with a binary suffix can be; more is taken for this.
BINARY_LIMIT: Final = Decimal(2**63 - 1)

#: The least that a quantity tells apart; finer amounts are rounded up (away from zero) to it.
_NANO: Final = Decimal("1e-9")
_NANO_EXPONENT: Final = -9

#: Longest text whose quantity is remembered, in characters.
REMEMBERED: Final = 32

#: Digits of an amount that Kubernetes parses as one machine word.
_WORD_DIGITS: Final = 18

#: Greatest exponent that is taken, up or down: a rule of ours. Kubernetes takes any of 32 bits, and then works out the
#: power of ten: an API server that was sent a Pod with `1e2147483647` did not answer in time (1.36, seen).
EXPONENT_LIMIT: Final = 999

_ZERO: Final = Decimal(0)
_PARTS = re.compile(r"([+-]?)(0*)([0-9]*)(?:\.([0-9]*))?([numkMGTPE]?|[KMGTPE]i|[eE][+-]?[0-9]+)\Z")

_WHAT_IS_RIGHT: Final = (
    "must be a quantity: a number with an optional suffix (n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei) or "
    "exponent, such as 500m, 4Gi or 1e3"
)
_TOO_GREAT: Final = f"must be a quantity with an exponent between -{EXPONENT_LIMIT} and {EXPONENT_LIMIT}"


def parse(value: object) -> Decimal:
    """Return the amount that a JSON value says, exactly; null is nothing.

    Raises:
        ValueError: the value is not a quantity; its text says what would be one, and not what the value was.
    """
    if isinstance(value, str):
        return _parse_short(value) if len(value) <= REMEMBERED else _parse_text(value)
    if value is None:
        return _ZERO
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        return _parse_text(repr(value))
    raise ValueError(_WHAT_IS_RIGHT)


def is_whole(amount: Decimal) -> bool:
    """Return whether an amount is an integer, without spelling it out."""
    if not amount:
        return True
    _, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0:
        return True
    return -exponent < len(digits) and not any(digits[exponent:])


def _parse_text(text: str) -> Decimal:
    text = text.strip(" ")
    match = _PARTS.match(text)
    if not text or not match:
        raise ValueError(_WHAT_IS_RIGHT)
    sign, zeros, number, fraction, suffix = match.groups("")
    if suffix in BINARY_SUFFIXES:
        return _binary(sign, zeros, number, fraction, BINARY_SUFFIXES[suffix])
    exponent = DECIMAL_SUFFIXES[suffix] if suffix in DECIMAL_SUFFIXES else _exponent(suffix[1:])
    if not zeros and not number and not fraction:
        # Kubernetes reads a missing number as 0, unless the exponent is finer than it can keep.
        if exponent < _NANO_EXPONENT:
            raise ValueError(_WHAT_IS_RIGHT)
        return _ZERO
    return _rounded(Decimal(f"{sign}{number or 0}.{fraction}e{exponent}"))


_parse_short = lru_cache(maxsize=4096)(_parse_text)


def _binary(sign: str, zeros: str, number: str, fraction: str, power: int) -> Decimal:
    if not zeros and not number and not fraction:
        # A missing number is 0 for the suffixes that Kubernetes multiplies by in a machine word.
        if power > BINARY_SUFFIXES["Ti"]:
            raise ValueError(_WHAT_IS_RIGHT)
        return _ZERO
    exact = Context(prec=len(number) + len(fraction) + _WORD_DIGITS + 2)
    amount = exact.multiply(Decimal(f"{number or 0}.{fraction}"), Decimal(1 << power))
    amount = min(_rounded(amount), BINARY_LIMIT)
    return amount.copy_negate() if sign == "-" else amount


def _exponent(text: str) -> int:
    if len(text.lstrip("+-").lstrip("0")) > len(str(EXPONENT_LIMIT)):
        raise ValueError(_TOO_GREAT)
    return int(text)


def _rounded(amount: Decimal) -> Decimal:
    """Round an amount up, away from zero, to what a quantity can keep."""
    exponent = amount.as_tuple().exponent
    if not amount:
        return _ZERO
    if not isinstance(exponent, int) or exponent >= _NANO_EXPONENT:
        return amount
    if amount.adjusted() < _NANO_EXPONENT:
        return _NANO.copy_sign(amount)
    return amount.quantize(_NANO, rounding=ROUND_UP, context=Context(prec=max(amount.adjusted() + 11, 1)))
