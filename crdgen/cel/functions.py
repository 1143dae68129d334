"""Kubernetes' own functions of CEL (k8s.io/apiserver, pkg/cel/library), which the CEL library does not have.

Each line of `FUNCTIONS` is an overload: `target.name(arguments) -> result`, or `name(arguments) -> result` without a
target, and what it does. Types are CEL's, or of Kubernetes (`OPAQUE`). A ValueError is the error of the call.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from ipaddress import ip_address
from itertools import pairwise
from math import ceil
from operator import add
from typing import Any, Final

from crdgen import re2
from crdgen.formats import is_uri

_QUANTITY: Final = re.compile(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?0*[0-9]{1,3}|)", re.ASCII
)
_SCALES: Final = {
    "": Fraction(1),
    **{name: Fraction(1000) ** power for power, name in enumerate("numkMGTPE", start=-3) if power < 0},
    **{name: Fraction(1000) ** power for power, name in enumerate("kMGTPE", start=1)},
    **{f"{name}i": Fraction(1024) ** power for power, name in enumerate("KMGTPE", start=1)},
}
_NANO: Final = 10**9
_PREFIX_LENGTH: Final = re.compile("0|[1-9][0-9]{0,2}")


def _quantity(text: str) -> Fraction:
    found = _QUANTITY.fullmatch(text)
    if not found or not (found[2] or found[3]) or not text:
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    amount, suffix = Fraction(f"{found[2] or 0}.{found[3] or 0}"), found[4]
    amount *= _SCALES[suffix] if suffix in _SCALES else Fraction(10) ** int(suffix[1:])
    # What is finer than nano is rounded up, away from zero.
    return Fraction(ceil(amount * _NANO), _NANO) * (-1 if found[1] == "-" else 1)


def _is_integer(amount: Fraction) -> bool:
    return amount.denominator == 1 and -(2**63) <= amount < 2**63


def _integer(amount: Fraction) -> int:
    if not _is_integer(amount):
        raise ValueError("cannot convert value to integer")
    return int(amount)


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _is_ip(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None


def _is_cidr(text: str) -> bool:
    address, _, length = text.partition("/")
    return (
        _is_ip(address) and _PREFIX_LENGTH.fullmatch(length) is not None and int(length) <= (128 if ":" in text else 32)
    )


def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except ValueError:
        return False
    return True


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in re2.compiled(pattern).finditer(text)] if limit else []
    return found if limit < 0 else found[:limit]


def _find(text: str, pattern: str) -> str:
    found = re2.compiled(pattern).search(text)
    return str(found[0]) if found else ""


def _most(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def most(values: list[Any]) -> Any:
        if not values:
            raise ValueError(f"{choose.__name__} called on empty list")
        return choose(values)

    return most


def _last_index_of(values: list[Any], wanted: Any) -> int:
    return len(values) - 1 - values[::-1].index(wanted) if wanted in values else -1


#: Kubernetes' own types, and what the API server calls them.
OPAQUE: Final = {
    "Quantity": "kubernetes.Quantity",
    "Semver": "kubernetes.Semver",
    "URL": "kubernetes.URL",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "Format": "kubernetes.NamedFormat",
}

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "quantity(string) -> Quantity": _quantity,
    "isQuantity(string) -> bool": _is_quantity,
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
    "isURL(string) -> bool": is_uri,
    "isIP(string) -> bool": _is_ip,
    "isCIDR(string) -> bool": _is_cidr,
    "string.find(string) -> string": _find,
    "string.findAll(string) -> list<string>": _find_all,
    "string.findAll(string, int) -> list<string>": _find_all,
    "list<dyn>.indexOf(dyn) -> int": lambda values, wanted: values.index(wanted) if wanted in values else -1,
    "list<dyn>.lastIndexOf(dyn) -> int": _last_index_of,
    **{
        f"list<{kind}>.{name}": function
        for kind in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
        for name, function in (
            ("isSorted() -> bool", lambda values: all(left <= right for left, right in pairwise(values))),
            (f"min() -> {kind}", _most(min)),
            (f"max() -> {kind}", _most(max)),
        )
    },
    **{
        f"list<{kind}>.sum() -> {kind}": lambda values: reduce(add, values) if values else 0
        for kind in ("int", "uint", "double", "duration")
    },
}

#: The names of formats of texts.
FORMATS: Final = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "labelValue", "uri"),
    *("dns1123SubdomainPrefix", "dns1035LabelPrefix", "uuid", "byte", "date", "datetime"),
)
#: What is typed, and not evaluated: URLs, addresses, versions and formats.
ONLY_TYPED: Final = (
    *(f"format.{name}() -> Format" for name in FORMATS),
    *("format.named(string) -> optional_type<Format>", "Format.validate(string) -> optional_type<list<string>>"),
    *("semver(string) -> Semver", "semver(string, bool) -> Semver", "isSemver(string) -> bool"),
    *("isSemver(string, bool) -> bool", "Semver.isGreaterThan(Semver) -> bool", "Semver.isLessThan(Semver) -> bool"),
    *("Semver.compareTo(Semver) -> int", "Semver.major() -> int", "Semver.minor() -> int", "Semver.patch() -> int"),
    *("url(string) -> URL", "URL.getQuery() -> map<string,list<string>>"),
    *(f"URL.get{part}() -> string" for part in ("Scheme", "Host", "Hostname", "Port", "EscapedPath")),
    *("ip(string) -> IP", "ip.isCanonical(string) -> bool", "IP.family() -> int", "string(IP) -> string"),
    *("IP.isUnspecified() -> bool", "IP.isLoopback() -> bool", "IP.isGlobalUnicast() -> bool"),
    *("IP.isLinkLocalMulticast() -> bool", "IP.isLinkLocalUnicast() -> bool"),
    *("cidr(string) -> CIDR", "CIDR.containsIP(string) -> bool", "CIDR.containsIP(IP) -> bool", "CIDR.ip() -> IP"),
    *("CIDR.containsCIDR(string) -> bool", "CIDR.containsCIDR(CIDR) -> bool", "CIDR.prefixLength() -> int"),
    *("CIDR.masked() -> CIDR", "string(CIDR) -> string"),
)

#: What the library's own comprehensions over maps leave out.
STOPGAPS: Final[dict[str, Callable[..., Any]]] = {
    "cel.@mapInsert(map<dyn,dyn>, dyn, dyn) -> map<dyn,dyn>": lambda made, key, value: {**made, key: value},
    "cel.@mapInsert(map<dyn,dyn>, map<dyn,dyn>) -> map<dyn,dyn>": lambda made, more: {**made, **more},
}
