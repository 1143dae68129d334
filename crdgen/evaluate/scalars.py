"""Check strings, numbers and booleans."""

import operator
from collections.abc import Callable
from decimal import Decimal
from math import inf, isclose, isfinite
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import Check, ErrorType, Violation, identity, quoted, wrong_type
from crdgen.formats import text_format
from crdgen.quantities import QUANTITY_EXAMPLE, QUANTITY_PATTERNS
from crdgen.re2 import matcher
from crdgen.schema import INT_OR_STRING, Schema
from crdgen.schema.limits import RANGES

Test: TypeAlias = Callable[[Any], Violation | None]

_EXAMPLES: Final = {
    "byte": "base64 text",
    "date": "a date such as 2006-01-02",
    "date-time": "a date and time such as 2006-01-02T15:04:05Z",
}


#: The largest integer up to which a float represents every integer.
_MOST_EXACT: Final = 2**53 - 1
#: The largest number that is rounded to a float of 32 bits.
_MOST_FLOAT: Final = 2**128 - 2**103


def scalar_checker(schema: Schema) -> Check:
    """Return the check of a scalar. A schema without a type accepts scalars of any type."""
    expected = "integer or string" if schema.get(INT_OR_STRING) else schema.get("type") or None
    text = [*_length(schema), *_pattern(schema), *_format(schema)]
    number = [*_size(schema), *_bounds(schema)]
    enum = _enum(schema)
    match expected:
        case "string":
            return _of_type(lambda value: isinstance(value, str), expected, [*enum, *text])
        case "boolean":
            return _of_type(lambda value: isinstance(value, bool), expected, enum)
        case "integer":
            return _of_type(is_whole, expected, [*enum, *number])
        case "number":
            return _of_type(is_number, expected, [*enum, *number])
        case _:
            return _either(text, number, enum, expected)


def is_number(value: Any) -> bool:
    """Return whether the value is a number in JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether the API server accepts the value as an integer, such as 3.0."""
    if isinstance(value, float):
        return -_MOST_EXACT <= value <= _MOST_EXACT and value == int(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _of_type(is_type: Callable[[Any], bool], expected: str, tests: list[Test]) -> Check:
    if not tests:
        return lambda value: None if is_type(value) else wrong_type(value, expected)

    def check(value: Any) -> list[Violation] | None:
        return _all(tests, value) if is_type(value) else wrong_type(value, expected)

    return check


def _either(text: list[Test], number: list[Test], enum: list[Test], expected: str | None) -> Check:
    def check(value: Any) -> list[Violation] | None:
        if isinstance(value, str):
            return _all([*enum, *text], value)
        if is_whole(value) or (expected is None and is_number(value)):
            return _all([*enum, *number], value)
        return _all(enum, value) if expected is None else wrong_type(value, expected)

    return check


def _all(tests: list[Test], value: Any) -> list[Violation] | None:
    return [violation for test in tests if (violation := test(value))] or None


def _invalid(holds: Callable[[Any], bool], message: str, reason: ErrorType = ErrorType.INVALID) -> Test:
    return lambda value: None if holds(value) else Violation((), reason, value, message)


def _enum(schema: Schema) -> list[Test]:
    if "enum" not in schema:
        return []
    members = schema["enum"]
    allowed = {_enum_identity(member) for member in members}
    message = supported_values(members)

    return [_invalid(lambda value: _enum_identity(value) in allowed, message, ErrorType.NOT_SUPPORTED)]


def supported_values(enum: list[Any]) -> str:
    """Return the message for an enum."""
    return f"supported values: {', '.join(quoted(value) for value in enum)}"


def _enum_identity(value: Any) -> tuple[str, Any]:
    """Return an identity for enums, in which 1 and 1.0 are equal."""
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
    expected = QUANTITY_EXAMPLE if pattern in QUANTITY_PATTERNS else None
    try:
        matches = matcher(pattern)
    except ValueError:
        # API servers reject such a schema, or the pattern is too large: the text is not checked.
        return []
    return [_invalid(matches, f"must be {expected}" if expected else f"must match {pattern}")]


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
    # For int-or-string, which has two types, the format does not count.
    low, high = RANGES["int32" if kind == "integer" and name == "int32" else "int64"]
    return [_invalid(lambda value: low <= value <= high, f"must fit into {(high + 1).bit_length()} bits")]


#: By keyword: the keyword that makes it exclusive, and the inclusive and exclusive comparison with their messages.
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
    """Return messages for bounds that are not of their type, such as 9.5 for an integer: they reject all values."""
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
    """Return a bound as the API server reads it: a float, by its shortest decimal text.

    So the largest and the smallest integer of 64 bits are out of range.
    """
    try:
        number = float(bound)
    except OverflowError:
        return inf
    return Decimal(repr(number)) if isfinite(number) else number


def _is_multiple(value: float, factor: float) -> bool:
    """Return whether the API server accepts the value as a multiple; no integer is a multiple of a factor below 1."""
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(factor) > 0 and value % int(factor) == 0
    try:
        quotient = 1 / factor * value if factor < 1 else value / factor
        return is_whole(quotient) or (0 < quotient < _MOST_EXACT and isclose(quotient, int(quotient), rel_tol=2e-9))
    except (OverflowError, ZeroDivisionError):
        return False
