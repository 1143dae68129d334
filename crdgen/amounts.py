"""Amounts of quantities, parsed exactly: `500m`, `4Gi`, `1e3`, `0.5`, `2`.

`crdgen.quantities` defines the format. The amount is the one that `resource.ParseQuantity` of
`k8s.io/apimachinery/pkg/api/resource` returns.
"""

from __future__ import annotations

import re
from decimal import ROUND_UP, Context, Decimal
from typing import Final

from crdgen.quantities import is_quantity

#: The factor of each suffix: a power of ten, or of two.
DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

#: Maximum of a quantity with a binary suffix; larger values are reduced to it.
BINARY_LIMIT: Final = Decimal(2**63 - 1)

#: Decimal places of quantities, and of resources of containers; more places are rounded up.
NANO: Final = 9
MILLI: Final = 3

#: Number of digits that Kubernetes parses as one machine word.
_WORD_DIGITS: Final = 18

_ZERO: Final = Decimal(0)
_PARTS = re.compile(r"([+-]?)([0-9]*\.?[0-9]*)(.*)")


def amount_of(text: str) -> Decimal:
    """Return the exact amount of a quantity.

    Raises:
        ValueError: the text is not a quantity.
    """
    match = _PARTS.match(text)
    if not match or not is_quantity(text):
        raise ValueError("not a quantity")
    sign, number, suffix = match.groups()
    if number in {"", "."}:  # a missing number is 0
        return _ZERO
    if suffix in BINARY_SUFFIXES:
        exact = Context(prec=len(number) + _WORD_DIGITS + 2)
        amount = min(rounded(exact.multiply(Decimal(number), Decimal(1 << BINARY_SUFFIXES[suffix]))), BINARY_LIMIT)
        return amount.copy_negate() if sign == "-" else amount
    exponent = f"e{DECIMAL_SUFFIXES[suffix]}" if suffix in DECIMAL_SUFFIXES else suffix
    return rounded(Decimal(f"{sign}{number}{exponent}"))


def rounded(amount: Decimal, places: int = NANO) -> Decimal:
    """Round an amount away from zero to this number of decimal places."""
    exponent = amount.as_tuple().exponent
    if not amount:
        return _ZERO
    if not isinstance(exponent, int) or exponent >= -places:
        return amount
    unit = Decimal(1).scaleb(-places)
    if amount.adjusted() < -places:
        return unit.copy_sign(amount)
    return amount.quantize(unit, rounding=ROUND_UP, context=Context(prec=max(amount.adjusted() + places + 2, 1)))
