"""What calls cost beside their arguments, and how large what they give can be.

Sources: k8s.io/apiserver, pkg/cel/library/cost.go; cel-go, checker/cost.go, ext/lists.go and ext/sets.go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crdgen.cel.checked import Type
from crdgen.cel.costs.size import REGEX, TRAVERSAL, UNKNOWN, Size, fixed, share
from crdgen.cel.tree import Constant, Node

# What making a list costs, and calling a function.
LIST: Final = 10
_CALL: Final = 1
# The longest pattern of a named format, and the most that comparing two formats walks.
_FORMAT_PATTERN, _FORMAT = 128, 64
# The bytes of an address.
_ADDRESS: Final = 16


@dataclass(frozen=True)
class Argument:
    """An argument, or what a function is called on.

    Attributes:
        node: the expression.
        type: its type.
        size: its size.
        element: the size of one of its elements, where it is a list.
        element_type: their type; None where it is no list.
    """

    node: Node
    type: Type
    size: Size
    element: Size
    element_type: Type | None

    @property
    def literal(self) -> int | None:
        """Its value where it is written as an integer."""
        value = self.node.value if isinstance(self.node, Constant) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Called:
    """A call: the function, one of its overloads, and its arguments; those of methods begin with the target."""

    function: str
    overload: str
    target: Argument | None
    arguments: tuple[Argument, ...]

    @property
    def every(self) -> tuple[Argument, ...]:
        """Target and arguments."""
        return (self.target, *self.arguments) if self.target else self.arguments


@dataclass(frozen=True)
class Price:
    """What a call costs, and the size of its result where that is known."""

    cost: int
    size: Size | None = None


def price(call: Called) -> Price:
    """Return what the call costs; its arguments are paid already."""
    found = _PRICES[call.function](call) if call.function in _PRICES else None
    return found or Price(_CALL)


_Pricing = Callable[[Called], Price | None]


def _walk(times: int = 1, *, sized: bool = False) -> _Pricing:
    """Return the price of walking the first argument so many times; the result may be as large."""

    def walk(call: Called) -> Price:
        size = call.every[0].size
        return Price(share(size.most, times * TRAVERSAL), size if sized else None)

    return walk


def _elements(call: Called) -> Price | None:
    """Comparing each element of a list, or each character of a text."""
    if call.target is None:
        return None
    size = call.target.size.most
    kind = call.target.element_type
    if kind is None:
        return Price(share(size, TRAVERSAL))
    each = share(call.target.element.most, TRAVERSAL) if kind.name in {"string", "bytes"} else 0
    return Price(size * (1 + each))


def _compared(call: Called) -> Price | None:
    """Equality walks the shorter of the two; Kubernetes' own types have a price of their own, but for `!=`."""
    kinds = {argument.type.name for argument in call.arguments}
    if call.function == "_==_" and len(kinds) == 1:
        match kinds.pop():
            case "kubernetes.Quantity" | "kubernetes.Semver" | "net.IP" | "net.CIDR":
                return Price(1)
            case "kubernetes.NamedFormat":
                return Price(share(_FORMAT, TRAVERSAL))
            case "kubernetes.URL":
                size = call.arguments[1].size
                return Price(share(1 if size == UNKNOWN else size.most, TRAVERSAL))
    return Price(share(min(argument.size.most for argument in call.arguments), TRAVERSAL))


def _ordered(call: Called) -> Price | None:
    return _compared(call) if call.overload.startswith(("string ", "bytes ")) else None


def _added(call: Called) -> Price | None:
    match call.overload:
        case "add_list":
            return Price(1, call.arguments[0].size + call.arguments[1].size)
        case "add_string" | "add_bytes":
            size = call.arguments[0].size + call.arguments[1].size
            return Price(share(size.most, TRAVERSAL), size)
    return None


def _contained(call: Called) -> Price | None:
    """A list is walked, a map looked up."""
    return Price(call.arguments[1].size.most) if call.overload == "in_list" else None


def _part_of(call: Called) -> Price | None:
    assert call.target
    part = share(call.arguments[0].size.most, TRAVERSAL)
    return Price(share(call.target.size.most, TRAVERSAL) * part)


def _started(call: Called) -> Price | None:
    return Price(share(call.arguments[0].size.most, TRAVERSAL))


def _matched(call: Called) -> Price | None:
    """The method pays for text times pattern; for the function of the same name nothing is computed."""
    return _searched(call) if call.target else None


def _searched(call: Called) -> Price | None:
    assert call.target
    size = call.target.size
    cost = share(size.most + 1, TRAVERSAL) * share(call.arguments[0].size.most, REGEX)
    return Price(cost, None if call.function == "matches" else Size(0, size.most))


def _replaced(call: Called) -> Price | None:
    assert call.target
    size, old, new = call.target.size, call.arguments[0].size, call.arguments[1].size
    if old.least == 0:
        most = (size.most + 1) * new.most + size.most
    elif new.most <= old.least:
        most = size.most
    else:
        most = -(-size.most // old.least) * new.most
    if old.most == 0:
        least = (size.least + 1) * new.least + size.least
    elif old.most <= new.least:
        least = size.least
    else:
        least = -(-size.least // old.most) * new.least
    return Price(share(size.most, 2 * TRAVERSAL), Size(least, most))


def _split(call: Called) -> Price | None:
    assert call.target
    size = call.target.size.most
    parts = call.arguments[1].literal if len(call.arguments) > 1 else None
    return Price(share(size, 2 * TRAVERSAL), Size(0, size if parts is None else parts % 2**64))


def _joined(call: Called) -> Price | None:
    assert call.target
    count = call.target.size
    size = count * call.target.element
    if call.arguments:
        size += call.arguments[0].size * Size(max(0, count.least - 1), max(0, count.most - 1))
    return Price(share(size.most, TRAVERSAL), size)


def _within(call: Called) -> Price | None:
    """Addresses are compared; one that is a text is read before."""
    cost = share(2 * _ADDRESS, TRAVERSAL)
    if call.function == "containsCIDR":
        cost += share(_ADDRESS, TRAVERSAL) + 1
    if "(string)" in call.overload:
        cost += share(call.arguments[0].size.most, TRAVERSAL)
    return Price(cost)


def _address(call: Called) -> Price | None:
    return None if call.target else _walk()(call)


def _validated(call: Called) -> Price | None:
    walked = share(call.arguments[0].size.most, TRAVERSAL)
    return Price(share(walked, _FORMAT_PATTERN * REGEX))


def _formatted(call: Called) -> Price | None:
    assert call.target
    return Price(share(call.target.size.most, TRAVERSAL))


def _quoted(call: Called) -> Price | None:
    size = call.arguments[0].size
    return Price(share(size.most, TRAVERSAL), Size(size.least + 2, size.most * 2 + 2))


def _to_bytes(call: Called) -> Price | None:
    if call.overload != "string_to_bytes":
        return None
    size = call.arguments[0].size
    return Price(share(size.most, TRAVERSAL), Size(size.least, size.most * 4))


def _to_text(call: Called) -> Price | None:
    if not call.overload.startswith("string(bytes)"):
        return None
    size = call.arguments[0].size
    return Price(share(size.most, TRAVERSAL), Size(size.least // 4, size.most))


def _made(size: Size, factor: float = 1) -> Price:
    """Return the price of making a list."""
    return Price(share(size.most, factor) + _CALL + LIST, size)


def _sliced(call: Called) -> Price | None:
    assert call.target
    first, last = (argument.literal for argument in call.arguments)
    begin = 0 if first is None else max(0, first)
    end = call.target.size.most if last is None else max(0, last)
    return _made(fixed((end - begin) % 2**64))


def _ranged(call: Called) -> Price | None:
    count = call.arguments[0].literal
    return _made(fixed(UNKNOWN.most if count is None else max(0, count)))


def _flattened(call: Called) -> Price | None:
    assert call.target
    depth = 1 if not call.arguments else call.arguments[0].literal
    return _made(call.target.size, UNKNOWN.most if depth is None else max(0, depth))


def _reversed(call: Called) -> Price | None:
    assert call.target
    return _made(call.target.size)


def _distinct(call: Called) -> Price | None:
    assert call.target
    return _made(call.target.size * call.target.size, 2)


def _sorted(call: Called) -> Price | None:
    by = call.arguments[0] if call.arguments else call.target
    assert by
    texts = by.element_type is not None and by.element_type.name in {"string", "bytes"}
    return _made(by.size * by.size, 2 + TRAVERSAL if texts else 2)


def _of_sets(factor: int = 1) -> _Pricing:
    def sets(call: Called) -> Price:
        first, second = call.arguments
        return Price(share((first.size * second.size).most, factor) + _CALL)

    return sets


_PRICES: Final[dict[str, _Pricing]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _walk(sized=True)),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver", "cidr", "isIP", "isCIDR"), _walk()),
    **dict.fromkeys(("_==_", "_!=_"), _compared),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(("startsWith", "endsWith"), _started),
    **dict.fromkeys(("find", "findAll"), _searched),
    **dict.fromkeys(("containsIP", "containsCIDR"), _within),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sorted),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _of_sets()),
    "sets.equivalent": _of_sets(2),
    "ip": _address,
    "ip.isCanonical": _walk(2),
    "_+_": _added,
    "@in": _contained,
    "contains": _part_of,
    "matches": _matched,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "validate": _validated,
    "format": _formatted,
    "strings.quote": _quoted,
    "bytes": _to_bytes,
    "string": _to_text,
    "slice": _sliced,
    "lists.range": _ranged,
    "flatten": _flattened,
    "reverse": _reversed,
    "distinct": _distinct,
}
