"""String formats, as the API server checks them.

The functions follow k8s.io/kube-openapi (pkg/validation/strfmt), oddities included, because what it takes we must take.
A format that is not in the table is not checked, by the API server neither.
"""

import re
from collections.abc import Callable
from datetime import date
from ipaddress import AddressValueError, IPv6Address
from types import MappingProxyType
from typing import Final

from crdgen.dns import is_any_label, is_subdomain

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.DOTALL)
_BYTE = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_HEXCOLOR = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_SSN = re.compile(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}")


def is_date(text: str) -> bool:
    """Tell whether the text is a full date of RFC 3339."""
    if not _DATE.fullmatch(text):
        return False
    try:
        # Go's calendar has a year 0, a leap year; Python's begins with 1.
        date.fromisoformat(f"2000{text[4:]}" if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Tell whether the text is a date-time of RFC 3339; as in the API server, a second T ends what is looked at."""
    day, _, rest = text.lower().partition("t")
    found = _TIME.fullmatch(rest.partition("t")[0])
    return found is not None and is_date(day) and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def is_byte(text: str) -> bool:
    """Tell whether the text is base64 with padding; empty text is not."""
    return _BYTE.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    """Tell whether the text is a UUID, dashes optional."""
    return _UUID.fullmatch(text) is not None


def is_ipv4(text: str) -> bool:
    """Tell whether the text is an IPv4 address; leading zeros are decimal, as objects stored long ago have them."""
    if ":" in text:
        return is_ipv6(text) and "." in text
    parts = text.split(".")
    return len(parts) == 4 and all(_is_octet(part) for part in parts)


def _is_octet(part: str) -> bool:
    return part.isascii() and part.isdigit() and int(part[-4:]) <= 255 and not part[:-4].strip("0")


def is_ipv6(text: str) -> bool:
    """Tell whether the text is an IPv6 address without a zone."""
    if ":" not in text or "%" in text:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def is_cidr(text: str) -> bool:
    """Tell whether the text is an address, a slash and a prefix length."""
    address, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or len(length) > 3:
        return False
    if ":" in address:
        return is_ipv6(address) and int(length) <= 128
    return is_ipv4(address) and int(length) <= 32


FORMATS: Final = MappingProxyType[str, Callable[[str], bool]](
    {
        "byte": is_byte,
        "cidr": is_cidr,
        "date": is_date,
        "date-time": is_date_time,
        "datetime": is_date_time,
        "hexcolor": lambda text: _HEXCOLOR.fullmatch(text) is not None,
        "ipv4": is_ipv4,
        "ipv6": is_ipv6,
        "k8s-long-name": is_subdomain,
        "k8s-short-name": is_any_label,
        "ssn": lambda text: _SSN.fullmatch(text) is not None,
        "uuid": is_uuid,
    }
)
