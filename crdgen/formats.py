"""String formats with the checks of the API server (k8s.io/kube-openapi, pkg/validation/strfmt).

The checks repeat oddities that users may meet, because they must accept what the API server accepts.
docs/reference/crdgen-fidelity.md lists the differences. Like the API server, they ignore formats that are not in the
table.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from ipaddress import IPv6Address, ip_address
from types import MappingProxyType
from typing import Any, Final

from crdgen.dns import is_any_label, is_subdomain
from crdgen.durations import MOST, nanoseconds

# The patterns are texts: `re` compiles them when they are first used.
_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
_HEX: Final = "[0-9A-Fa-f]"
_MAC: Final = "|".join(
    rf"{_HEX}{{{width}}}({separator}{_HEX}{{{width}}}){{{2 * octets // width - 1}}}"
    for octets in (6, 8, 20)
    for separator, width in ((":", 2), ("-", 2), (r"\.", 4), ("", 2))
)
_PADDING: Final = r"(?<![0-9])0+(?=[0-9])"
_LENGTH: Final = r"0*([0-9]{1,3})"
_LABEL: Final = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_HOSTNAME: Final = rf"[0-9A-Za-z](?:[0-9A-Za-z]{{0,62}}|-[0-9A-Za-z]{{0,61}})|(?:{_LABEL}\.)+[A-Za-z]{{2,63}}"
_WORD: Final = r"[^\x00-\x20\x7f()<>\[\]:;@\\,\".]+"
_ADDRESS: Final = rf"(?:\"(?:[^\x00-\x08\x0a-\x1f\x7f\\\"]|\\.)*\"|{_WORD}(?:\.{_WORD})*)@{_WORD}(?:\.{_WORD})*"
_NAME: Final = r"\"[^\x00-\x1f\x7f\\\"]*\"[ \t]*|[^\x00-\x1f\x7f()<>\[\]:;@\\,\"]*"
_EMAIL: Final = rf"{_ADDRESS}|(?:{_NAME})<{_ADDRESS}>"


_ESCAPE: Final = "%[0-9A-Fa-f]{2}"
_SCHEME: Final = "[A-Za-z][A-Za-z0-9+.-]*:"
_USER: Final = rf"(?:(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|{_ESCAPE})*@)?"
#: An address in brackets, or a name, for databases with several ports; then a port.
_HOST: Final = (
    r"(?:\[(?P<address>[0-9A-Fa-f:.]+)(?:%25[A-Za-z0-9._~-]+)?\]"
    r"|(?:[^\x00-\x20#/?@\\^`{|}%\x7f\[:]|%[89A-Fa-f][0-9A-Fa-f]|:[0-9]+,)*)(?::[0-9]*)?"
)
_PATH: Final = rf"(?:[^?%]|{_ESCAPE})*"
_URL: Final = (
    rf"(?s)\*|{_SCHEME}(?:[^/].*)?|(?:{_SCHEME})?/(?:(?!/){_PATH})?(?:\?.*)?|//{_PATH}(?:\?.*)?"
    rf"|{_SCHEME}//{_USER}{_HOST}(?:/{_PATH})?(?:\?.*)?"
)
_CONTROL: Final = r"[\x00-\x1f\x7f]"


def is_uri(text: str) -> bool:
    """Return whether the text is an absolute URL or an absolute path."""
    match = None if re.search(_CONTROL, text) else re.fullmatch(_URL, text)
    try:
        IPv6Address((match and match["address"]) or "::")
    except ValueError:
        return False
    return match is not None


def is_date(text: str) -> bool:
    """Return whether the text is a full date of RFC 3339."""
    if not re.fullmatch(_DATE, text):
        return False
    try:
        # Go's calendar has a year 0, a leap year; Python's starts with 1.
        date.fromisoformat(f"2000{text[4:]}" if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Return whether the text is a date-time of RFC 3339. Like the API server, ignore everything after a second T."""
    day, _, rest = text.lower().partition("t")
    match = re.fullmatch(_TIME, rest.partition("t")[0])
    return match is not None and is_date(day) and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def is_ipv4(text: str) -> bool:
    """Return whether the text is an IPv4 address, or ends with one; leading zeros are ignored, as in old objects."""
    return "." in text and _is_padded_ip(text)


def is_ipv6(text: str) -> bool:
    """Return whether the text is an IPv6 address without a zone."""
    return ":" in text and _is_ip(text)


def is_cidr(text: str) -> bool:
    """Return whether the text is an address, a slash and a prefix length; leading zeros are ignored here, too."""
    address, _, length = text.partition("/")
    match = re.fullmatch(_LENGTH, length)
    return match is not None and int(match[1]) <= (128 if ":" in address else 32) and _is_padded_ip(address)


def _is_padded_ip(text: str) -> bool:
    head, colon, tail = text.rpartition(":")
    return _is_ip(head + colon + (re.sub(_PADDING, "", tail) if "." in tail else tail))


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


_UNITS: Final[tuple[tuple[int, tuple[str, ...]], ...]] = (
    (1, ("ns", "nano")),
    (1000, ("us", "µs", "micro")),
    (10**6, ("ms", "milli")),
    (10**9, ("s", "sec")),
    (60 * 10**9, ("m", "min")),
    (3600 * 10**9, ("h", "hr", "hour")),
    (24 * 3600 * 10**9, ("d", "day")),
    (7 * 24 * 3600 * 10**9, ("w", "wk", "week")),
)
_COUNTS: Final = r"(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)"


def duration(text: str) -> int | None:
    """Return the nanoseconds of a duration of this format: Go's syntax, or numbers with names of units (`2 hours`).

    Only words after a number count; other text is ignored. The sum has 64 bits, as in Go.
    """
    exact = nanoseconds(text)
    if exact is not None:
        return exact
    total: int | None = None
    for number, word in re.findall(_COUNTS, text):
        count = int(number.lstrip("0")[:20] or "0")
        if count > MOST:
            return None
        name = word.lower()
        for unit, variants in _UNITS:
            if name in variants or name.startswith(variants[-1]):
                total = ((total or 0) + count * unit + 2**63) % 2**64 - 2**63
    return total


def is_hostname(text: str) -> bool:
    """Return whether the text is an ASCII host name. A name of a single label may also end with a dash."""
    return len(text) <= 255 and re.fullmatch(_HOSTNAME, text) is not None


def _matching(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _uuid(version: str = _HEX, variant: str = _HEX) -> Callable[[str], bool]:
    return _matching(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}-?{_HEX}{{12}}")


is_uuid: Final = _uuid()
#: Base64 with padding; empty text is not.
is_byte: Final = _matching(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")


#: Formats that accept any text here. The API server checks them, but CRDs do not use them; it accepts any `password`,
#: too.
_UNCHECKED: Final = ("creditcard", "isbn", "isbn10", "isbn13", "password", "rgbcolor")

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        **dict.fromkeys(_UNCHECKED, lambda _: True),
        "bsonobjectid": _matching(rf"{_HEX}{{24}}"),
        "byte": is_byte,
        "cidr": is_cidr,
        "date": is_date,
        "date-time": is_date_time,
        "duration": lambda text: duration(text) is not None,
        "email": lambda text: re.fullmatch(_EMAIL, text.strip(" \t")) is not None,
        "hexcolor": _matching(rf"#?(?:{_HEX}{{3}}|{_HEX}{{6}})"),
        "hostname": is_hostname,
        "ipv4": is_ipv4,
        "ipv6": is_ipv6,
        "k8s-long-name": is_subdomain,
        "k8s-short-name": is_any_label,
        "mac": lambda text: re.fullmatch(_MAC, text) is not None,
        "ssn": _matching("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
        "uri": is_uri,
        "uuid": is_uuid,
        "uuid3": _uuid("3"),
        "uuid4": _uuid("4", "[89abAB]"),
        "uuid5": _uuid("5", "[89abAB]"),
    }
)
_BY_NAME: Final = {name.replace("-", ""): check for name, check in FORMATS.items()}


def text_format(name: Any) -> Callable[[str], bool] | None:
    """Return the check of a string format by its name, ignoring dashes; None if there is no check."""
    return _BY_NAME.get(name.replace("-", "")) if isinstance(name, str) else None
