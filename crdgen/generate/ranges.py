"""Bounds of integers as the API server can hold them.

It reads each bound as a float, written with no more digits than tell it from the next one, and a bound that is then no
integer of the value's size refuses every value. So `maximum: 9223372036854775807` takes nothing at all.
"""

from decimal import Decimal
from math import ceil, floor
from typing import Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.temporal import rule_of_bound
from crdgen.integers import RANGES
from crdgen.schema import VALIDATIONS, Schema

# By the word of JSON Schema: the one of exclusiveness, the one of rules, and which way it bounds.
_BOUNDS: Final = {"minimum": ("exclusiveMinimum", "ge", 1), "maximum": ("exclusiveMaximum", "le", -1)}


def ranges(schema: Schema, path: str) -> Schema:
    """Return the node with bounds of integers that mean there what they mean in the model.

    What the size of the integer says anyway is dropped; what a float does not hold exactly becomes a rule.
    """
    if schema.get("type") != "integer":
        return schema
    low, high = RANGES.get(schema.get("format", ""), RANGES["int64"])
    for word, (exclusive, name, direction) in _BOUNDS.items():
        if word not in schema:
            continue
        bound = schema[word]
        nearest = _nearest(bound, exclusive=bool(schema.get(exclusive)), direction=direction)
        near, far = (low, high) if direction > 0 else (high, low)
        if direction * nearest > direction * far:
            problem = f"no integer of {high.bit_length() + 1} bits is within its bound {bound}"
            raise SchemaError(path, problem, "correct the bound, or use a text with a pattern")
        without = {key: value for key, value in schema.items() if key not in {word, exclusive}}
        if direction * nearest <= direction * near:
            schema = without
        elif not _is_exact(bound):
            rule = rule_of_bound(name, str(nearest), str(nearest))
            schema = without | {VALIDATIONS: [*schema.get(VALIDATIONS, ()), rule]}
        elif bound != int(bound):
            schema = without | {word: nearest}
    return schema


def _nearest(bound: float, *, exclusive: bool, direction: int) -> int:
    """Return the integer next to the bound that is within it."""
    inside = ceil(bound) if direction > 0 else floor(bound)
    return inside + direction if exclusive and inside == bound else inside


def _is_exact(bound: float) -> bool:
    """Return whether the API server reads what is written."""
    return Decimal(repr(float(bound))) == bound
