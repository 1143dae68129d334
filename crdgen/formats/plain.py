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
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_BYTE = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_HEXCOLOR = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_SSN = re.compile(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}")
_PADDING = re.compile(r"(?<![0-9A-Fa-f])0+(?=[0-9A-Fa-f])")


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
    """Tell whether the text is an IPv4 address, or ends in one; leading zeros do not count, as in old objects."""
    return "." in text and _is_padded_ip(text)


def is_ipv6(text: str) -> bool:
    """Tell whether the text is an IPv6 address without a zone."""
    if ":" not in text or "%" in text:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def is_any_ip(text: str) -> bool:
    """Tell whether the text is an IPv4 or IPv6 address without a zone, and without leading zeros in decimal numbers."""
    return is_ipv6(text) or (_is_four_octets(text) and _PADDING.sub("", text) == text)


def is_cidr(text: str) -> bool:
    """Tell whether the text is an address, a slash and a prefix length; leading zeros count as in `is_ipv4`."""
    address, _, length = text.partition("/")
    most = 128 if ":" in address else 32
    return (
        length.isascii()
        and length.isdigit()
        and int(length[-4:]) <= most
        and not length[:-4].strip("0")
        and (_is_padded_ip(address))
    )


def _is_padded_ip(text: str) -> bool:
    return is_ipv6(_PADDING.sub("", text)) if ":" in text else _is_four_octets(text)


def _is_four_octets(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 4 and all(_is_octet(part) for part in parts)


def _is_octet(part: str) -> bool:
    return part.isascii() and part.isdigit() and int(part[-4:]) <= 255 and not part[:-4].strip("0")


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
