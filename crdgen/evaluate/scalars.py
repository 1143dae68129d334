"""Checks of strings, numbers and booleans."""

import operator
from collections.abc import Callable
from decimal import Decimal
from math import inf, isclose, isfinite
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import Check, ErrorType, Violation, identity, quoted, wrong_type
from crdgen.formats import text_format
from crdgen.quantities import QUANTITY_EXAMPLE, QUANTITY_PATTERN
from crdgen.re2 import matcher
from crdgen.schema import INT_OR_STRING, Schema
from crdgen.schema.limits import RANGES

Test: TypeAlias = Callable[[Any], Violation | None]

_EXAMPLES: Final = {
    "byte": "base64 text",
    "date": "a date such as 2006-01-02",
    "date-time": "a date and time such as 2006-01-02T15:04:05Z",
}


#: The largest integer that a float holds without a gap.
_MOST_EXACT: Final = 2**53 - 1
#: The most that is rounded to a float of 32 bits: its shortest decimal is just below the middle to the next one.
_MOST_FLOAT: Final = 2**128 - 2**103


def scalar_checker(schema: Schema) -> Check:
    """Return the check of a scalar; the schema's type may be left out, and then any scalar has a right type."""
    wanted = "integer or string" if schema.get(INT_OR_STRING) else schema.get("type") or None
    text = [*_length(schema), *_pattern(schema), *_format(schema)]
    number = [*_size(schema), *_bounds(schema)]
    enum = _enum(schema)
    match wanted:
        case "string":
            return _of_type(lambda value: isinstance(value, str), wanted, [*enum, *text])
        case "boolean":
            return _of_type(lambda value: isinstance(value, bool), wanted, enum)
        case "integer":
            return _of_type(is_whole, wanted, [*enum, *number])
        case "number":
            return _of_type(is_number, wanted, [*enum, *number])
        case _:
            return _either(text, number, enum, wanted)


def is_number(value: Any) -> bool:
    """Return whether JSON writes the value as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether the API server takes the value as an integer: 3.0 is one."""
    if isinstance(value, float):
        return -_MOST_EXACT <= value <= _MOST_EXACT and value == int(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _of_type(is_type: Callable[[Any], bool], wanted: str, tests: list[Test]) -> Check:
    if not tests:
        return lambda value: None if is_type(value) else wrong_type(value, wanted)

    def check(value: Any) -> list[Violation] | None:
        return _all(tests, value) if is_type(value) else wrong_type(value, wanted)

    return check


def _either(text: list[Test], number: list[Test], enum: list[Test], wanted: str | None) -> Check:
    def check(value: Any) -> list[Violation] | None:
        if isinstance(value, str):
            return _all([*enum, *text], value)
        if is_whole(value) or (wanted is None and is_number(value)):
            return _all([*enum, *number], value)
        return _all(enum, value) if wanted is None else wrong_type(value, wanted)

    return check


def _all(tests: list[Test], value: Any) -> list[Violation] | None:
    return [violation for test in tests if (violation := test(value))] or None


def _invalid(holds: Callable[[Any], bool], message: str, reason: ErrorType = ErrorType.INVALID) -> Test:
    return lambda value: None if holds(value) else Violation((), reason, value, message)


def _enum(schema: Schema) -> list[Test]:
    if "enum" not in schema:
        return []
    members = schema["enum"]
    allowed = {_plain(member) for member in members}
    message = supported_values(members)

    return [_invalid(lambda value: _plain(value) in allowed, message, ErrorType.NOT_SUPPORTED)]


def supported_values(enum: list[Any]) -> str:
    """Return what a message says of an enum."""
    return f"supported values: {', '.join(quoted(value) for value in enum)}"


def _plain(value: Any) -> tuple[str, Any]:
    """An enum's 1 is met by 1.0."""
    return identity(int(value)) if isinstance(value, float) and value.is_integer() else identity(value)


def _length(schema: Schema) -> list[Test]:
    tests = []
    if "minLength" in schema:
        least: int = schema["minLength"]
        message = "must not be empty" if least == 1 else f"must have at least {least} characters"
        tests.append(_invalid(lambda value: len(value) >= least, message))
    if "maxLength" in schema:
        most: int = schema["maxLength"]
        message = f"may not be longer than {most} characters"
        tests.append(_invalid(lambda value: len(value) <= most, message, ErrorType.TOO_LONG))
    return tests


def _pattern(schema: Schema) -> list[Test]:
    if "pattern" not in schema:
        return []
    pattern: str = schema["pattern"]
    wanted = QUANTITY_EXAMPLE if pattern == QUANTITY_PATTERN else None
    try:
        matches = matcher(pattern)
    except ValueError:
        # No API server has taken such a schema, or the pattern is too large: the text is not checked.
        return []
    return [_invalid(matches, f"must be {wanted}" if wanted else f"must match {pattern}")]


def _format(schema: Schema) -> list[Test]:
    name = schema.get("format")
    holds = text_format(name)
    if holds is None:
        return []
    return [_invalid(holds, f"must be {_EXAMPLES.get(str(name), f'of format {name}')}")]


def _size(schema: Schema) -> list[Test]:
    kind, name = schema.get("type"), schema.get("format")
    if kind == "number" and name == "float":
        return [_invalid(lambda value: -_MOST_FLOAT <= value <= _MOST_FLOAT, "must fit into a float of 32 bits")]
    if kind != "integer" and not schema.get(INT_OR_STRING):
        return []
    # Of two types, as int-or-string has them, the format of one does not count.
    low, high = RANGES["int32" if kind == "integer" and name == "int32" else "int64"]
    return [_invalid(lambda value: low <= value <= high, f"must fit into {(high + 1).bit_length()} bits")]


#: By the keyword: that of exclusiveness, how a value is compared in both cases, and what a message says.
_BOUNDS: Final[
    dict[str, tuple[str, tuple[Callable[[Any, Any], bool], str], tuple[Callable[[Any, Any], bool], str]]]
] = {
    "minimum": ("exclusiveMinimum", (operator.ge, "at least"), (operator.gt, "greater than")),
    "maximum": ("exclusiveMaximum", (operator.le, "at most"), (operator.lt, "less than")),
}


def _bound(schema: Schema, keyword: str) -> Test:
    exclusive, inclusive_test, exclusive_test = _BOUNDS[keyword]
    holds, words = exclusive_test if schema.get(exclusive) else inclusive_test
    bound = schema[keyword]
    # The API server compares an integer with the whole part of a bound.
    whole = int(bound)
    return _invalid(lambda value: holds(value, whole if type(value) is int else bound), f"must be {words} {bound}")


def _bounds(schema: Schema) -> list[Test]:
    tests = [_invalid(lambda _value: False, text) for text in unfit_bounds(schema).values()]
    tests += [_bound(schema, keyword) for keyword in _BOUNDS if keyword in schema]
    if "multipleOf" in schema:
        factor = schema["multipleOf"]
        tests.append(_invalid(lambda value: _is_multiple(value, factor), f"must be a multiple of {factor}"))
    return tests


def unfit_bounds(schema: Schema) -> dict[str, str]:
    """Return what is said of bounds that their type cannot hold; such a one rejects all values: 9.5 of an integer."""
    kind, form = schema.get("type"), schema.get("format")
    if kind == "integer":
        low, high = RANGES["int32" if form == "int32" else "int64"]
    elif kind == "number" and form == "float":
        low, high = -_MOST_FLOAT, _MOST_FLOAT
    else:
        return {}
    name = f"{kind} of format {form}" if form in {"float", *RANGES} else kind
    bounds = {keyword: schema[keyword] for keyword in ("minimum", "maximum", "multipleOf") if keyword in schema}
    return {
        keyword: f"cannot be met: {keyword} is {bound}, which is no {name}"
        for keyword, bound in bounds.items()
        if not low <= _as_float(bound) <= high or (kind == "integer" and bound != int(bound))
    }


def _as_float(bound: float) -> float | Decimal:
    """Return a bound as the API server reads it: a float, written with no more digits than tell it from the next one.

    So the largest integer of 64 bits is one too many, and the least one is beyond the least.
    """
    try:
        read = float(bound)
    except OverflowError:
        return inf
    return Decimal(repr(read)) if isfinite(read) else read


def _is_multiple(value: float, factor: float) -> bool:
    """Return whether the API server takes the value for a multiple; of a factor below 1 no integer is one."""
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(factor) > 0 and value % int(factor) == 0
    try:
        quotient = 1 / factor * value if factor < 1 else value / factor
        return is_whole(quotient) or (0 < quotient < _MOST_EXACT and isclose(quotient, int(quotient), rel_tol=2e-9))
    except (OverflowError, ZeroDivisionError):
        return False
