"""The functions that rules may call in Kubernetes 1.36, beside those of CEL itself.

Each line is an overload: `target.name(arguments) -> result`, or `name(arguments) -> result` without a target. Types are
CEL's; a single capital letter is any type. From k8s.io/apiserver (pkg/cel/library), and cel-go's ext.Strings of
version 2. The libraries for lists (version 3), sets, optional values and comprehensions over two variables are the CEL
library's own.
"""

import re
from collections.abc import Iterator
from typing import Final

_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMABLE: Final = ("int", "uint", "double", "duration")

_OVERLOADS: Final = """
quantity(string) -> Quantity
isQuantity(string) -> bool
sign(Quantity) -> int
Quantity.isGreaterThan(Quantity) -> bool
Quantity.isLessThan(Quantity) -> bool
Quantity.compareTo(Quantity) -> int
Quantity.asApproximateFloat() -> double
Quantity.asInteger() -> int
Quantity.isInteger() -> bool
Quantity.add(Quantity) -> Quantity
Quantity.add(int) -> Quantity
Quantity.sub(Quantity) -> Quantity
Quantity.sub(int) -> Quantity
Semver.isGreaterThan(Semver) -> bool
Semver.isLessThan(Semver) -> bool
Semver.compareTo(Semver) -> int
semver(string) -> Semver
semver(string, bool) -> Semver
isSemver(string) -> bool
isSemver(string, bool) -> bool
Semver.major() -> int
Semver.minor() -> int
Semver.patch() -> int
url(string) -> URL
isURL(string) -> bool
URL.getScheme() -> string
URL.getHost() -> string
URL.getHostname() -> string
URL.getPort() -> string
URL.getEscapedPath() -> string
URL.getQuery() -> map(string, list(string))
ip(string) -> IP
isIP(string) -> bool
ip.isCanonical(string) -> bool
IP.family() -> int
IP.isUnspecified() -> bool
IP.isLoopback() -> bool
IP.isLinkLocalMulticast() -> bool
IP.isLinkLocalUnicast() -> bool
IP.isGlobalUnicast() -> bool
cidr(string) -> CIDR
isCIDR(string) -> bool
CIDR.containsIP(string) -> bool
CIDR.containsIP(IP) -> bool
CIDR.containsCIDR(string) -> bool
CIDR.containsCIDR(CIDR) -> bool
CIDR.ip() -> IP
CIDR.prefixLength() -> int
CIDR.masked() -> CIDR
format.named(string) -> optional_type(Format)
Format.validate(string) -> optional_type(list(string))
string.find(string) -> string
string.findAll(string) -> list(string)
string.findAll(string, int) -> list(string)
list(A).indexOf(A) -> int
list(A).lastIndexOf(A) -> int
string.charAt(int) -> string
string.indexOf(string) -> int
string.indexOf(string, int) -> int
string.lastIndexOf(string) -> int
string.lastIndexOf(string, int) -> int
list(string).join() -> string
list(string).join(string) -> string
string.lowerAscii() -> string
string.upperAscii() -> string
string.replace(string, string) -> string
string.replace(string, string, int) -> string
string.split(string) -> list(string)
string.split(string, int) -> list(string)
string.substring(int) -> string
string.substring(int, int) -> string
string.trim() -> string
string.format(list(dyn)) -> string
strings.quote(string) -> string
string(string) -> string
string(bool) -> string
string(int) -> string
string(uint) -> string
string(double) -> string
string(bytes) -> string
string(timestamp) -> string
string(duration) -> string
string(IP) -> string
string(CIDR) -> string
"""

#: The formats that have a function of their own beside `format.named`.
FORMATS: Final = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName"),
    *("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue"),
    *("uri", "uuid", "byte", "date", "datetime"),
)

#: What Kubernetes calls its own types.
OPAQUE: Final = {
    "Quantity": "kubernetes.Quantity",
    "Semver": "kubernetes.Semver",
    "URL": "kubernetes.URL",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "Format": "kubernetes.NamedFormat",
}

#: Names before a dot that belong to the function, and are no target.
_NAMESPACES: Final = frozenset({"ip", "format", "strings"})

#: CEL's own declarations that ours replace, because they add overloads.
REPLACED: Final = ("string", "_<_", "_<=_", "_>_", "_>=_")
_ORDERED: Final = ("bool", "bytes", "duration", "string", "timestamp")
_NUMBERS: Final = ("int", "uint", "double")

_LINE: Final = re.compile(r"(?:(?P<target>[\w()]+)\.)?(?P<name>\w+)\((?P<arguments>.*)\) -> (?P<result>.+)")


def functions() -> list[dict[str, object]]:
    """Return the declarations as a CEL environment's configuration wants them."""
    found: dict[str, list[dict[str, object]]] = {}
    for line in _lines():
        match = _LINE.fullmatch(line)
        assert match, line
        target, name = match["target"], match["name"]
        if target in _NAMESPACES and target is not None:
            target, name = None, f"{target}.{name}"
        overload: dict[str, object] = {
            "id": line,
            "args": [_type(text) for text in _arguments(match["arguments"])],
            "return": _type(match["result"]),
        }
        if target:
            overload["target"] = _type(target)
        found.setdefault(name, []).append(overload)
    for operator in REPLACED[1:]:
        found[operator] = [_comparison(operator, *pair) for pair in _comparable()]
    return [{"name": name, "overloads": overloads} for name, overloads in found.items()]


def _comparable() -> Iterator[tuple[str, str]]:
    """Yield the pairs of types that have an order; numbers have one across their types."""
    yield from ((kind, kind) for kind in _ORDERED)
    yield from ((left, right) for left in _NUMBERS for right in _NUMBERS)


def _comparison(operator: str, left: str, right: str) -> dict[str, object]:
    identity = f"{left} {operator} {right}"
    return {"id": identity, "args": [{"type_name": left}, {"type_name": right}], "return": {"type_name": "bool"}}


def _lines() -> Iterator[str]:
    yield from _OVERLOADS.strip().splitlines()
    yield from (f"format.{name}() -> Format" for name in FORMATS)
    for kind in _COMPARABLE:
        yield f"list({kind}).isSorted() -> bool"
        yield f"list({kind}).min() -> {kind}"
        yield f"list({kind}).max() -> {kind}"
    for kind in _SUMMABLE:
        yield f"list({kind}).sum() -> {kind}"


def _arguments(text: str) -> list[str]:
    return text.split(", ") if text else []


def _type(text: str) -> dict[str, object]:
    if len(text) == 1:
        return {"type_name": text, "is_type_param": True}
    name, _, inner = text.partition("(")
    if inner:
        return {"type_name": name, "params": [_type(part) for part in inner.removesuffix(")").split(", ", 1)]}
    return {"type_name": OPAQUE.get(name, name)}
