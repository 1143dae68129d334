"""The formats that an object's texts are checked for: those of `plain`, and the rarer ones.

They follow k8s.io/kube-openapi (pkg/validation/strfmt and its govalidator), which reads mail, URLs and durations with
Go's own libraries. Any text is of the format `password`.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final
from unicodedata import category

from crdgen.durations import MOST, nanoseconds
from crdgen.formats.mail import is_email
from crdgen.formats.plain import FORMATS
from crdgen.urls import is_uri
from crdgen.utf8 import utf8

_MAC: Final = re.compile(
    "|".join(
        rf"(?:[0-9A-Fa-f]{{{width}}}{separator}){{{count - 1}}}[0-9A-Fa-f]{{{width}}}"
        for octets in (6, 8, 20)
        for separator, width, count in ((":", 2, octets), ("-", 2, octets), (r"\.", 4, octets // 2), ("", 2, octets))
    )
)
_CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    r"|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)
_SHADE: Final = r"[\t\n\f\r ]*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*"
_RGB: Final = re.compile(rf"rgb\({_SHADE},{_SHADE},{_SHADE}\)")
_BSON: Final = re.compile(r"[0-9A-Fa-f]{24}")

_NANO: Final = 1
_UNITS: Final[tuple[tuple[int, tuple[str, ...]], ...]] = (
    (_NANO, ("ns", "nano")),
    (1000, ("us", "µs", "micro")),
    (10**6, ("ms", "milli")),
    (10**9, ("s", "sec")),
    (60 * 10**9, ("m", "min")),
    (3600 * 10**9, ("h", "hr", "hour")),
    (24 * 3600 * 10**9, ("d", "day")),
    (7 * 24 * 3600 * 10**9, ("w", "wk", "week")),
)
_WORDS: Final = re.compile(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)")


def duration(text: str) -> int | None:
    """Return the nanoseconds of a duration of the format: Go's, or numbers with the names of units (`2 hours`).

    All words with a number before them are looked at, and what is between is passed over. Go keeps 64 bits of the sum.
    """
    exact = nanoseconds(text)
    if exact is not None:
        return exact
    total: int | None = None
    for number, word in _WORDS.findall(text):
        if len(number.lstrip("0")) > 19 or int(number) > MOST:
            return None
        name = word.lower()
        for unit, variants in _UNITS:
            if name in variants or name.startswith(variants[-1]):
                total = _wrapped((total or 0) + int(number) * unit)
    return total


def _wrapped(count: int) -> int:
    return (count + 2**63) % 2**64 - 2**63


def is_hostname(text: str) -> bool:
    """Tell whether the text is a host's name; letters and symbols of all scripts are taken.

    In a name of one label a dash may stand after the first character only, also as the last one.
    """
    if len(utf8(text)) > 255 or any(len(utf8(part)) > 63 for part in text.split(".")):
        return False
    *labels, last = text.split(".")
    if not labels:
        rest = last[1:].removeprefix("-")
        return bool(last) and all(map(_is_letter_or_symbol, last[0] + rest)) and len(rest) <= 62
    # A top-level domain has two letters at least.
    return all(map(_is_label, labels)) and 2 <= len(last) <= 63 and all(category(char)[0] == "L" for char in last)


def _is_letter_or_symbol(char: str) -> bool:
    return (char.isascii() and char.isalnum()) or category(char)[0] in "LS"


def _is_label(text: str) -> bool:
    ends = text[:1] + text[-1:]
    return bool(text) and all(_is_letter_or_symbol(char) or char == "-" for char in text) and "-" not in ends


def is_isbn10(text: str) -> bool:
    """Tell whether the text is an ISBN of ten digits, by its check digit."""
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    return sum(place * (10 if digit == "X" else int(digit)) for place, digit in enumerate(digits, 1)) % 11 == 0


def is_isbn13(text: str) -> bool:
    """Tell whether the text is an ISBN of thirteen digits, by its check digit."""
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


def is_credit_card(text: str) -> bool:
    """Tell whether the text's digits are a card's number, by its check digit."""
    digits = re.sub(r"[^0-9]+", "", text)
    if not _CARD.fullmatch(digits):
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value // 10 + value % 10 for value in doubled) % 10 == 0


def _uuid(version: str, variant: str) -> Callable[[str], bool]:
    hexadecimal = "[0-9a-fA-F]"
    form = re.compile(
        rf"{hexadecimal}{{8}}-?{hexadecimal}{{4}}-?{version}{hexadecimal}{{3}}-?{variant}{hexadecimal}{{3}}-?"
        rf"{hexadecimal}{{12}}"
    )
    return lambda text: form.fullmatch(text) is not None


CHECKED: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "bsonobjectid": lambda text: _BSON.fullmatch(text) is not None,
        "creditcard": is_credit_card,
        "duration": lambda text: duration(text) is not None,
        "email": is_email,
        "hostname": is_hostname,
        "isbn": lambda text: is_isbn10(text) or is_isbn13(text),
        "isbn10": is_isbn10,
        "isbn13": is_isbn13,
        "mac": lambda text: _MAC.fullmatch(text) is not None,
        "password": lambda _text: True,
        "rgbcolor": lambda text: _RGB.fullmatch(text) is not None,
        "uri": is_uri,
        "uuid3": _uuid("3", "[0-9a-fA-F]"),
        "uuid4": _uuid("4", "[89abAB]"),
        "uuid5": _uuid("5", "[89abAB]"),
        **FORMATS,
    }
)

_BY_NAME: Final = {name.replace("-", ""): check for name, check in CHECKED.items()}


def text_format(name: Any) -> Callable[[str], bool] | None:
    """Return the check of a format of texts by its name, whose dashes do not count, or None: nothing is checked."""
    return _BY_NAME.get(name.replace("-", "")) if isinstance(name, str) else None
