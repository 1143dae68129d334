"""JSON values that are quantities of Kubernetes; `crdgen.amounts` parses their text."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final

from crdgen.amounts import amount_of

#: Maximum length of the texts that are cached, in characters.
REMEMBERED: Final = 32

_ZERO: Final = Decimal(0)

_EXPECTED: Final = (
    "must be a quantity: a number with an optional suffix (n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei) or "
    "exponent (of at most three digits), such as 500m, 4Gi or 1e3"
)


def parse(value: object) -> Decimal:
    """Return the exact amount of a JSON value; 0 for null.

    Raises:
        ValueError: the value is not a quantity; the message describes quantities, without the value.
    """
    if isinstance(value, str):
        return _parse_short(value) if len(value) <= REMEMBERED else _parse_text(value)
    if value is None:
        return _ZERO
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        return _parse_text(repr(value))
    raise ValueError(_EXPECTED)


def is_whole(amount: Decimal) -> bool:
    """Return whether an amount is an integer, without computing its digits."""
    if not amount:
        return True
    _, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0:
        return True
    return -exponent < len(digits) and not any(digits[exponent:])


def _parse_text(text: str) -> Decimal:
    try:
        return amount_of(text.strip(" "))  # as in JSON
    except ValueError:
        raise ValueError(_EXPECTED) from None


_parse_short = lru_cache(maxsize=4096)(_parse_text)
