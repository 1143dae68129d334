"""What a YAML scalar means to `kubectl`, which reads YAML with go-yaml v2 and writes JSON with encoding/json.

That is neither YAML 1.1 nor 1.2: `on` and `y` are booleans, `0o14` and `014` are twelve, `08` is eight, `1_000` is a
thousand, and `12:30`, `2026-01-01` and `=` are strings.
"""

import base64
import binascii
import math
import re
import struct
from datetime import date
from decimal import Decimal

Scalar = str | int | float | bool | None

TAG = "tag:yaml.org,2002:"
STR, BOOL, INT, FLOAT, NULL, TIMESTAMP = (TAG + word for word in ("str", "bool", "int", "float", "null", "timestamp"))
BINARY, MERGE = TAG + "binary", TAG + "merge"

_NAMES = {
    BOOL: "a boolean",
    INT: "an integer",
    FLOAT: "a float",
    NULL: "null",
    TIMESTAMP: "a timestamp",
    STR: "a string",
}


def _spellings(*words: str) -> tuple[str, ...]:
    return tuple(spelling for word in words for spelling in (word, word.capitalize(), word.upper()))


_WORDS: dict[str, tuple[str, Scalar]] = {
    **dict.fromkeys(_spellings("y", "yes", "true", "on"), (BOOL, True)),
    **dict.fromkeys(_spellings("n", "no", "false", "off"), (BOOL, False)),
    **dict.fromkeys(("", "~", *_spellings("null")), (NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, math.nan)),
    **dict.fromkeys((sign + word for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), (FLOAT, math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, -math.inf)),
}
# What go-yaml looks at first: only a text that begins so can be anything but a string.
_HINT = re.compile(r"[-+0-9.yYnNtTfFoO~]")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))", re.ASCII)
# go-yaml cuts the prefix off and lets the rest be signed.
_SIGN_IN_BINARY = re.compile(r"0b([-+][01]{1,63})", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
# Here underscores may stand between digits, as in Go and in Python; in numbers that begin otherwise, anywhere.
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)"
    r"| (\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?))?",
    re.ASCII,
)
# No 64-bit number needs more digits than a few hundred; Python refuses to read thousands of them.
_LONGEST_INTEGER = 400


class Untrue(ValueError):
    """A scalar is not what its tag says; the text says what would be right."""


def resolve(text: str, tag: str | None) -> tuple[str, Scalar]:
    """The tag and the value that go-yaml gives a scalar that is plain or tagged.

    Raises:
        Untrue: the tag promises another type than the text has.
    """
    if tag == BINARY:
        return BINARY, _binary(text)
    if tag is not None and tag not in _NAMES:
        return tag, text
    if tag == STR:
        return STR, text
    found, value = _guess(text)
    if tag in {None, found}:
        return found, value
    if tag == TIMESTAMP and found == STR and _is_timestamp(text):
        return STR, text
    if tag == FLOAT and found == INT and isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return FLOAT, float(value)
    raise Untrue(f"`{_short(text)}` is {_NAMES[found]}, but its tag says {_NAMES[tag or STR]}: remove the tag or quote")


def json_number(number: float) -> float:
    """The number as it is after Go has written it as JSON: 1.0 and 1e3 have no point, and become integers.

    Raises:
        Untrue: JSON has no infinities and no NaN.
    """
    if isinstance(number, int):
        if -(1 << 63) <= number < 1 << 63:
            return number
        number = float(number)
    if math.isinf(number) or math.isnan(number):
        raise Untrue(f"`{number}` cannot be written as JSON: use a finite number, or quote it to make it a string")
    if number.is_integer() and abs(number) < 1e21:
        # Go prints the shortest digits that give the same float and fills up with zeros.
        return int(Decimal(repr(number)))
    return number


def json_key(key: Scalar) -> str:
    """The string that a mapping's key becomes, for JSON has no others.

    Raises:
        Untrue: null and integers beyond 64 bits are no keys.
    """
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if key is None or (isinstance(key, int) and not -(1 << 63) <= key < 1 << 63):
        raise Untrue("a key must be a string: quote it")
    return str(key) if isinstance(key, int) else _float32(key)


def _guess(text: str) -> tuple[str, Scalar]:
    if word := _WORDS.get(text):
        return word
    if not _HINT.match(text):
        return STR, text
    if text[0] == ".":
        return (FLOAT, number) if _FRACTION.fullmatch(text) and math.isfinite(number := float(text)) else (STR, text)
    return _number(text) if text[0] in "+-0123456789" else (STR, text)


def _number(text: str) -> tuple[str, Scalar]:
    plain = text.replace("_", "")
    if len(plain) <= _LONGEST_INTEGER and (match := _INTEGER.fullmatch(plain)):
        sign, *digits = match.groups()
        whole = next(int(part, base) for base, part in zip((16, 2, 8, 10), digits, strict=True) if part)
        # Unsigned integers have a range of their own, which takes no sign.
        if whole < 1 << 63 or (sign == "-" and whole == 1 << 63) or (not sign and whole < 1 << 64):
            return INT, -whole if sign == "-" else whole
    if match := _SIGN_IN_BINARY.fullmatch(plain):
        return INT, int(match[1], 2)
    if _FLOAT.fullmatch(plain) and math.isfinite(number := float(plain)):
        return FLOAT, number
    return STR, text


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        return False
    year, month, day, *clock = (int(part) if part else 0 for part in match.groups())
    try:
        date(year or 4, month, day)  # Go has a year 0, a leap year as 4 is
    except ValueError:
        return False
    hours, minutes, seconds = max(clock[0], clock[3]), max(clock[1], clock[4]), max(clock[2], clock[5])
    return hours < 24 and minutes < 60 and seconds < 60


def _binary(text: str) -> str:
    try:
        decoded = base64.b64decode(text.replace("\n", "").replace("\r", "").encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise Untrue("the value of a !!binary tag is not base64") from error
    # JSON is UTF-8: encoding/json replaces each byte that is not.
    return re.sub("[\ud800-\udfff]", "\ufffd", decoded.decode("utf-8", "surrogateescape"))


def _float32(number: float) -> str:
    """Go's FormatFloat(number, 'g', -1, 32), and go-yaml's names for what is not finite."""
    try:
        single = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        single = math.copysign(math.inf, number)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    for digits in range(9):
        text = f"{single:.{digits}e}"
        if struct.pack("f", float(text)) == struct.pack("f", single):
            break
    mantissa, exponent = text.split("e")
    if -5 < int(exponent) < 6:
        return f"{Decimal(text):f}"
    return f"{mantissa}e{exponent}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
