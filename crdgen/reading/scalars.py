"""Read YAML scalars like `kubectl`, which reads YAML with go-yaml v2 and writes JSON with encoding/json.

This is neither YAML 1.1 nor 1.2: `on` and `y` are booleans, `0o14` and `014` are twelve, `08` is eight, `1_000` is a
thousand, and `12:30`, `2026-01-01` and `=` are strings.
"""

import math
import re
from decimal import Decimal
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

_TAG: Final = "tag:yaml.org,2002:"


def _spellings(*words: str) -> tuple[str, ...]:
    return tuple(spelling for word in words for spelling in (word, word.capitalize(), word.upper()))


_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(_spellings("y", "yes", "true", "on"), True),
    **dict.fromkeys(_spellings("n", "no", "false", "off"), False),
    **dict.fromkeys(("", "~", *_spellings("null")), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **{f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
#: Limit of digits: 64-bit numbers need fewer, and Python refuses to read thousands of digits.
_LONGEST: Final = 400


class ScalarError(ValueError):
    """A value that `kubectl` would read differently, or that JSON does not have; the text says what would be right."""


def resolve(text: str, tag: str | None) -> Scalar:
    """Return the value of a plain or tagged scalar.

    Raises:
        ScalarError: The tag is a tag of YAML other than `!!str`.
    """
    if tag is None:
        return _WORDS[text] if text in _WORDS else _number(text) if text[:1] in "+-.0123456789" else text
    if tag.startswith(_TAG) and tag != f"{_TAG}str":
        raise ScalarError(f"the tag !!{tag.removeprefix(_TAG)} is not supported: remove it, or quote the value")
    return text


def _number(text: str) -> Scalar:
    # Underscores are allowed anywhere except at the beginning.
    without_underscores = text.replace("_", "") if text[0] != "." else text
    match = _INTEGER.fullmatch(without_underscores) if len(without_underscores) <= _LONGEST else None
    if match:
        digits = next((part, base) for part, base in zip(match.groups()[1:], (16, 2, 8, 10), strict=True) if part)
        value = int(*digits) * (-1 if match[1] == "-" else 1)
        # Integers without a sign may also be unsigned, with a larger range.
        if -(2**63) <= value < (2**63 if match[1] else 2**64):
            return value
    if _FLOAT.fullmatch(without_underscores) and math.isfinite(number := float(without_underscores)):
        return number
    return text


def json_value(value: Scalar) -> Scalar:
    """Return the value after Go has written it as JSON: 1.0 and 1e3 are written without a point, and become integers.

    Raises:
        ScalarError: JSON has no infinities and no NaN.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    number = float(value)
    if not math.isfinite(number):
        raise ScalarError(f"`{number}` cannot be written as JSON: use a finite number, or quote it to make it a string")
    # Go prints the shortest digits of the float, and appends zeros.
    return int(Decimal(repr(number))) if number.is_integer() and abs(number) < 1e21 else number


def json_key(key: Scalar) -> str:
    """Return a mapping's key as a string, because JSON has only string keys.

    Raises:
        ScalarError: The key is null, a float, or exceeds 64 bits.
    """
    if key is None or isinstance(key, float) or (isinstance(key, int) and not -(2**63) <= key < 2**63):
        raise ScalarError("a key must be a string: quote it")
    return str(key).lower() if isinstance(key, bool) else str(key)
