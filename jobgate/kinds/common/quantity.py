"""Quantities of Kubernetes, parsed exactly: `500m`, `4Gi`, `1e3`, `0.5`, `2`.

`crdgen.quantities` says what is a quantity. Kubernetes rounds amounts finer than a billionth up, and stops binary
ones at 2^63; here they are what they say.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from functools import lru_cache
from typing import Final

from crdgen.quantities import is_quantity

#: What each suffix multiplies by: a power of ten, or of two.
DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

#: Longest text whose quantity is remembered, in characters.
REMEMBERED: Final = 32

#: Digits of the greatest binary suffix.
_FACTOR_DIGITS: Final = 19

_ZERO: Final = Decimal(0)
_PARTS = re.compile(r"([+-]?)([0-9]*\.?[0-9]*)(.*)")

_WHAT_IS_RIGHT: Final = (
    "must be a quantity: a number with an optional suffix (n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei) or "
    "exponent (of at most three digits), such as 500m, 4Gi or 1e3"
)


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
    if not match or not is_quantity(text):
        raise ValueError(_WHAT_IS_RIGHT)
    sign, number, suffix = match.groups()
    if number in {"", "."}:  # a missing number is 0
        return _ZERO
    if suffix in BINARY_SUFFIXES:
        exact = Context(prec=len(number) + _FACTOR_DIGITS)
        return exact.multiply(Decimal(f"{sign}{number}"), Decimal(1 << BINARY_SUFFIXES[suffix]))
    exponent = f"e{DECIMAL_SUFFIXES[suffix]}" if suffix in DECIMAL_SUFFIXES else suffix
    return Decimal(f"{sign}{number}{exponent}")


_parse_short = lru_cache(maxsize=4096)(_parse_text)
