"""Quantities (k8s.io/apimachinery, pkg/api/resource; k8s.io/apiserver, pkg/cel/library/quantity.go)."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from crdgen.cel.functions.overloads import Table, readable
from crdgen.cel.times import Fault

_FORM: Final = re.compile(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,9}|)", re.ASCII
)
_BINARY: Final = {name: 1024**power for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO: Final = 10**9


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount, to the nano."""

    amount: Fraction
    cel_type = "kubernetes.Quantity"


def _read(text: str) -> Quantity:
    found = _FORM.fullmatch(text)
    if (
        not text
        or not found
        or (not (found[2] or found[3]) and (not found[4] or found[4][0] in "eE" or "P" in found[4]))
    ):
        raise Fault(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            if text
            else "empty string"
        )
    digits, suffix = f"{found[2]}{found[3] or ''}", found[4]
    amount = Fraction(int(digits or 0), 10 ** len(found[3] or ""))
    if suffix in _BINARY:
        amount *= _BINARY[suffix]
    else:
        exponent = int(suffix[1:]) if suffix[:1] in {"e", "E"} and len(suffix) > 1 else _DECIMAL[suffix]
        if abs(exponent) > 10_000:
            # The result would not fit into the memory of a machine; no such object is stored.
            raise Fault("unable to parse quantity's suffix")
        amount *= Fraction(10) ** exponent
    # What is finer than nano is rounded up, away from zero.
    return Quantity(Fraction(math.ceil(amount * _NANO), _NANO) * (-1 if found[1] == "-" else 1))


def _is_integer(quantity: Quantity) -> bool:
    return quantity.amount.denominator == 1 and -(2**63) <= quantity.amount < 2**63


def _integer(quantity: Quantity) -> int:
    if not _is_integer(quantity):
        raise Fault("cannot convert value to integer")
    return int(quantity.amount)


def _sign(quantity: Quantity) -> int:
    return (quantity.amount > 0) - (quantity.amount < 0)


QUANTITIES: Final[Table] = {
    ("quantity", str): _read,
    ("isQuantity", str): readable(_read),
    ("sign", Quantity): _sign,
    ("isGreaterThan", Quantity, Quantity): lambda left, right: left.amount > right.amount,
    ("isLessThan", Quantity, Quantity): lambda left, right: left.amount < right.amount,
    ("compareTo", Quantity, Quantity): lambda left, right: _sign(Quantity(left.amount - right.amount)),
    ("asApproximateFloat", Quantity): lambda quantity: float(quantity.amount),
    ("asInteger", Quantity): _integer,
    ("isInteger", Quantity): _is_integer,
    ("add", Quantity, Quantity): lambda left, right: Quantity(left.amount + right.amount),
    ("add", Quantity, int): lambda left, right: Quantity(left.amount + right),
    ("sub", Quantity, Quantity): lambda left, right: Quantity(left.amount - right.amount),
    ("sub", Quantity, int): lambda left, right: Quantity(left.amount - right),
}
