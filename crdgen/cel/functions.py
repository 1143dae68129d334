"""The CEL functions that Kubernetes adds (k8s.io/apiserver, pkg/cel/library), and the CEL library does not have.

Each line of `FUNCTIONS` is an overload, `target.name(arguments) -> result` or `name(arguments) -> result`, and its
implementation. Types are CEL's or Kubernetes' own (`OPAQUE`). A call fails with a ValueError.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, ip_address, ip_interface
from itertools import pairwise
from operator import add
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, quote, unquote, urlsplit

from crdgen import re2
from crdgen.amounts import amount_of
from crdgen.formats import is_uri

_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Interface | IPv6Interface

_NOT_A_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_IN_PATHS: Final = "%$&+,/:;=@!'()*[]~"
_PREFIX_LENGTH: Final = re.compile(r".*/(0|[1-9][0-9]{0,2})", re.ASCII)


def _quantity(text: str) -> Fraction:
    try:
        return Fraction(amount_of(text))
    except ValueError:
        raise ValueError(_NOT_A_QUANTITY) from None


def _is_integer(amount: Fraction) -> bool:
    return amount.denominator == 1 and -(2**63) <= amount < 2**63


def _integer(amount: Fraction) -> int:
    if not _is_integer(amount):
        raise ValueError("cannot convert value to integer")
    return int(amount)


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _ip(text: str) -> _Address:
    try:
        address = ip_address(text)
    except ValueError as error:
        raise ValueError(f'IP Address "{text}" parse error during conversion from string: {error}') from None
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _cidr(text: str) -> _Network:
    try:
        if _PREFIX_LENGTH.fullmatch(text):
            _ip(text.partition("/")[0])
            return ip_interface(text)
    except ValueError:
        pass
    raise ValueError(f'network address parse error during conversion from string: netip.ParsePrefix("{text}")')


def _is_global(ip: _Address) -> bool:
    special = ip.is_unspecified or ip.is_loopback or ip.is_multicast or ip.is_link_local
    return not special and ip != IPv4Address("255.255.255.255")


def _is_link_local_multicast(ip: _Address) -> bool:
    if isinstance(ip, IPv4Address):
        return ip in IPv4Network("224.0.0.0/24")
    return ip.packed[0] == 0xFF and ip.packed[1] & 0x0F == 0x02


def _contains(cidr: _Network, ip: _Address) -> bool:
    return ip in cidr.network


def _covers(outer: _Network, inner: _Network) -> bool:
    return inner.ip in outer.network and outer.network.prefixlen <= inner.network.prefixlen


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    matches = [match[0] for match in re2.compiled(pattern).finditer(text)] if limit else []
    return matches if limit < 0 else matches[:limit]


def _find(text: str, pattern: str) -> str:
    match = re2.compiled(pattern).search(text)
    return str(match[0]) if match else ""


def _of_nonempty(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def checked(values: list[Any]) -> Any:
        if not values:
            raise ValueError(f"{choose.__name__} called on empty list")
        return choose(values)

    return checked


def _last_index_of(values: list[Any], value: Any) -> int:
    return len(values) - 1 - values[::-1].index(value) if value in values else -1


def _url(text: str) -> str:
    if not is_uri(text):
        raise ValueError(f'URL parse error during conversion from string: parse "{text}"')
    return text


def _host(url: str) -> str:
    return unquote(urlsplit(url).netloc.rpartition("@")[2])


def _hostname(url: str) -> str:
    return _host(url)[1:].partition("]")[0] if _host(url).startswith("[") else _host(url).partition(":")[0]


def _accepts(read: Callable[..., Any]) -> Callable[..., bool]:
    """Return a function that says whether `read` accepts its arguments."""

    def accepts(*arguments: Any) -> bool:
        try:
            read(*arguments)
        except ValueError:
            return False
        return True

    return accepts


#: Kubernetes' own types: their names on the API server, and how to read a value from its text.
OPAQUE: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "Quantity": ("kubernetes.Quantity", Fraction),
    "Semver": ("kubernetes.Semver", str),
    "URL": ("kubernetes.URL", str),
    "IP": ("net.IP", ip_address),
    "CIDR": ("net.CIDR", ip_interface),
    "Format": ("kubernetes.NamedFormat", str),
}

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "quantity(string) -> Quantity": _quantity,
    "isQuantity(string) -> bool": _accepts(_quantity),
    "sign(Quantity) -> int": lambda amount: _order(amount, 0),
    "Quantity.isGreaterThan(Quantity) -> bool": lambda left, right: left > right,
    "Quantity.isLessThan(Quantity) -> bool": lambda left, right: left < right,
    "Quantity.compareTo(Quantity) -> int": _order,
    "Quantity.asApproximateFloat() -> double": float,
    "Quantity.asInteger() -> int": _integer,
    "Quantity.isInteger() -> bool": _is_integer,
    "Quantity.add(Quantity) -> Quantity": lambda left, right: left + right,
    "Quantity.add(int) -> Quantity": lambda left, right: left + right,
    "Quantity.sub(Quantity) -> Quantity": lambda left, right: left - right,
    "Quantity.sub(int) -> Quantity": lambda left, right: left - right,
    "url(string) -> URL": _url,
    "isURL(string) -> bool": is_uri,
    "URL.getScheme() -> string": lambda url: urlsplit(url).scheme,
    "URL.getHost() -> string": _host,
    "URL.getHostname() -> string": _hostname,
    "URL.getPort() -> string": lambda url: _host(url).rpartition("]")[2].partition(":")[2],
    "URL.getEscapedPath() -> string": lambda url: quote(urlsplit(url).path, safe=_IN_PATHS) if "/" in url else "",
    "URL.getQuery() -> map<string,list<string>>": lambda url: parse_qs(urlsplit(url).query, keep_blank_values=True),
    "ip(string) -> IP": _ip,
    "isIP(string) -> bool": _accepts(_ip),
    "ip.isCanonical(string) -> bool": lambda text: str(_ip(text)) == text,
    "IP.family() -> int": lambda ip: ip.version,
    "IP.isUnspecified() -> bool": lambda ip: ip.is_unspecified,
    "IP.isLoopback() -> bool": lambda ip: ip.is_loopback,
    "IP.isLinkLocalMulticast() -> bool": _is_link_local_multicast,
    "IP.isLinkLocalUnicast() -> bool": lambda ip: ip.is_link_local,
    "IP.isGlobalUnicast() -> bool": _is_global,
    "string(IP) -> string": str,
    "cidr(string) -> CIDR": _cidr,
    "isCIDR(string) -> bool": _accepts(_cidr),
    "CIDR.containsIP(string) -> bool": lambda cidr, text: _contains(cidr, _ip(text)),
    "CIDR.containsIP(IP) -> bool": _contains,
    "CIDR.containsCIDR(string) -> bool": lambda cidr, text: _covers(cidr, _cidr(text)),
    "CIDR.containsCIDR(CIDR) -> bool": _covers,
    "CIDR.ip() -> IP": lambda cidr: cidr.ip,
    "CIDR.prefixLength() -> int": lambda cidr: cidr.network.prefixlen,
    "CIDR.masked() -> CIDR": lambda cidr: ip_interface(str(cidr.network)),
    "string(CIDR) -> string": str,
    "string.find(string) -> string": _find,
    "string.findAll(string) -> list<string>": _find_all,
    "string.findAll(string, int) -> list<string>": _find_all,
    "list<dyn>.indexOf(dyn) -> int": lambda values, value: values.index(value) if value in values else -1,
    "list<dyn>.lastIndexOf(dyn) -> int": _last_index_of,
    **{
        f"list<{kind}>.{name}": function
        for kind in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
        for name, function in (
            ("isSorted() -> bool", lambda values: all(left <= right for left, right in pairwise(values))),
            (f"min() -> {kind}", _of_nonempty(min)),
            (f"max() -> {kind}", _of_nonempty(max)),
        )
    },
    **{
        f"list<{kind}>.sum() -> {kind}": lambda values: reduce(add, values) if values else 0
        for kind in ("int", "uint", "double", "duration")
    },
}

#: Names of string formats.
FORMATS: Final = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "labelValue", "uri"),
    *("dns1123SubdomainPrefix", "dns1035LabelPrefix", "uuid", "byte", "date", "datetime"),
)
#: Functions that are typed, but not evaluated: versions, and formats, since functions in Python return no optionals.
ONLY_TYPED: Final = (
    *(f"format.{name}() -> Format" for name in FORMATS),
    *("format.named(string) -> optional_type<Format>", "Format.validate(string) -> optional_type<list<string>>"),
    *("semver(string) -> Semver", "semver(string, bool) -> Semver", "isSemver(string) -> bool"),
    *("isSemver(string, bool) -> bool", "Semver.isGreaterThan(Semver) -> bool", "Semver.isLessThan(Semver) -> bool"),
    *("Semver.compareTo(Semver) -> int", "Semver.major() -> int", "Semver.minor() -> int", "Semver.patch() -> int"),
)

#: Functions that the library's own comprehensions over maps need and lack.
STOPGAPS: Final[dict[str, Callable[..., Any]]] = {
    "cel.@mapInsert(map<dyn,dyn>, dyn, dyn) -> map<dyn,dyn>": lambda entries, key, value: {**entries, key: value},
    "cel.@mapInsert(map<dyn,dyn>, map<dyn,dyn>) -> map<dyn,dyn>": lambda entries, more: {**entries, **more},
}
