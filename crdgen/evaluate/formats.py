"""The formats that an object's texts are checked for: those of `crdgen.formats`, and the rarer ones.

They follow k8s.io/kube-openapi (pkg/validation/strfmt and its govalidator). Two are near enough, and not exact: `email`
(Go's net/mail) and `uri` (Go's net/url).
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final
from unicodedata import category

from crdgen.formats import FORMATS

_URI: Final = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:(?://(?:[^/?#@\s]*@)?(?:\[[0-9A-Fa-f:.%]+\]|[^/?#@:\[\]\s<>\"\\^`{|}]*)(?::[0-9]*)?)?|/)"
    r"(?:[^\x00-\x1f\x7f%]|%[0-9A-Fa-f]{2})*",
    re.DOTALL,
)
# All but control characters, blanks and what has a meaning in an address: said so, it compiles at once.
_ATOM: Final = r"[^\x00-\x20\x7f\"(),.:;<>@\[\]\\]+"
_ADDRESS: Final = rf"(?:{_ATOM}(?:\.{_ATOM})*|\"(?:[^\"\\\r\n]|\\[!-~ \t])*\")@(?:{_ATOM}(?:\.{_ATOM})*|\[[!-Z^-~]*\])"
_EMAIL: Final = re.compile(rf"\s*(?:(?:\"[^\"]*\"|{_ATOM}(?:[ .]+{_ATOM})*)?\s*<{_ADDRESS}>|{_ADDRESS})\s*")
_MAC: Final = re.compile(
    "|".join(
        rf"(?:[0-9A-Fa-f]{{{width}}}{separator}){{{count - 1}}}[0-9A-Fa-f]{{{width}}}"
        for octets in (6, 8, 20)
        for separator, width, count in ((":", 2, octets), ("-", 2, octets), (r"\.", 4, octets // 2))
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
_GO: Final = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_WORDS: Final = re.compile(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)")


def go_duration(text: str) -> int | None:
    """Return the nanoseconds of a duration such as `1h30m`, as Go's time.ParseDuration reads it, or None."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total = at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if not found or not (found[1] or found[2]):
            return None
        unit, fraction = _GO[found[3]], (found[2] or "0")[:18]
        total += int(found[1] or 0) * unit + int(fraction) * unit // 10 ** len(fraction)
        at = found.end()
    return sign * total if rest and total < 2**63 else None


def duration(text: str) -> int | None:
    """Return the nanoseconds of a duration of the format: Go's, or numbers with the names of units (`2 hours`)."""
    exact = go_duration(text)
    if exact is not None:
        return exact
    total: int | None = None
    for number, word in _WORDS.findall(text):
        name = word.lower()
        for unit, variants in _UNITS:
            if name in variants or name.startswith(variants[-1]):
                total = (total or 0) + int(number) * unit
    return total


def is_email(text: str) -> bool:
    """Tell whether the text is an address of mail, with or without a name beside."""
    return _EMAIL.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """Tell whether the text is an absolute URI, or an absolute path."""
    path, _, query = text.partition("?")
    control = any(ord(char) < 32 or ord(char) == 127 for char in query)
    return not control and _URI.fullmatch(path) is not None


def is_hostname(text: str) -> bool:
    """Tell whether the text is a host's name; letters and symbols of all scripts are taken."""
    if len(text.encode()) > 255 or any(len(part.encode()) > 63 for part in text.split(".")):
        return False
    # The letters of a top-level domain are at least two; a name of one label may end in a digit.
    *labels, last = text.split(".")
    if not labels:
        return _is_label(last)
    return all(map(_is_label, labels)) and 2 <= len(last) <= 63 and all(_is_letter(char) for char in last)


def _is_letter(char: str) -> bool:
    return category(char).startswith("L")


def _is_label(text: str) -> bool:
    def plain(char: str) -> bool:
        return (char.isascii() and char.isalnum()) or (category(char)[0] in "LS")

    return bool(text) and plain(text[0]) and plain(text[-1]) and all(plain(char) or char == "-" for char in text)


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
        "rgbcolor": lambda text: _RGB.fullmatch(text) is not None,
        "uri": is_uri,
        "uuid3": _uuid("3", "[0-9a-fA-F]"),
        "uuid4": _uuid("4", "[89abAB]"),
        "uuid5": _uuid("5", "[89abAB]"),
        **FORMATS,
    }
)
