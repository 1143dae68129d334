"""A rough estimate of what an expression may cost, in the unit in which the API server limits the cost of rules.

It walks the expression with sizes from the schema, or with what fits into a request. It follows the API server (cel-go,
checker/cost.go; k8s.io/apiserver, pkg/cel/library/cost.go) closely enough to warn before a rule is rejected, and to
bound what is evaluated here. How often a rule is evaluated is for the caller to say.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from crdgen.cel.tree import CelExpression
from crdgen.cel.types import REQUEST, Type
from crdgen.escaping import RESERVED

#: What one expression may cost, times how often it may be evaluated, and all those of one schema together.
#: (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go)
LIMIT, LIMIT_OF_ALL = 10_000_000, 100_000_000

#: The size that the API server takes for a value of which it knows nothing.
UNKNOWN: Final = 2**64 - 1
# What making a list, a map or an object costs.
_LIST, _MAP, _OBJECT = 10, 30, 40
# The longest pattern of a named format.
_FORMAT_PATTERN: Final = 128
# A field is named if the estimate would be smaller by this part if the field were small.
_PART: Final = 20

# Types whose values have the size 1: those of CEL, and Kubernetes' own.
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_OWN: Final = ("kubernetes.", "net.")
_TEXTS: Final = frozenset({"string", "bytes"})


@dataclass(frozen=True)
class Estimate:
    """What evaluating an expression once may cost, and the parts of the schema that make it expensive."""

    cost: int
    places: tuple[Type, ...]


class _Value(NamedTuple):
    """The most characters, bytes or entries of a value; its place in the schema, or what is in a list or map."""

    size: int
    place: Type | None = None
    inner: "_Value | None" = None
    kind: str = "dyn"


def estimate(tree: CelExpression, types: Mapping[int, str], self_type: Type) -> Estimate:
    """Return about what a compiled expression costs at most."""
    estimator = _Estimator(types, self_type)
    cost, _ = estimator.of(tree)
    places = (
        place
        for place in estimator.places.values()
        if (cost - _Estimator(types, self_type, small=place.path).of(tree)[0]) * _PART >= cost
    )
    return Estimate(cost, tuple(places))


def bound(tree: CelExpression, types: Mapping[int, str], self_type: Type, most: int) -> int:
    """Return the same cost where no value that the expression is given is larger than `most`."""
    return _Estimator(types, self_type, most=most, key=most).of(tree)[0]


def most_in_a_request(kind: Type) -> int:
    """Return how many values of the type fit into a request."""
    return REQUEST // (kind.least + 1)


class _Estimator:
    """One walk over an expression; the place `small` counts as one entry.

    `most` is the size of what is not known, `key` that of a map's keys, which the API server takes for nothing.
    """

    def __init__(
        self, types: Mapping[int, str], self_type: Type, *, small: str = "", most: int = UNKNOWN, key: int = 0
    ) -> None:
        #: The places whose sizes were used, by path.
        self.places: dict[str, Type] = {}
        self._types = types
        self._self = self_type
        self._small = small
        self._most = most
        self._key = key
        self._locals: dict[str, _Value] = {}

    def of(self, node: CelExpression) -> tuple[int, _Value]:
        """Return the cost of an expression, and what is known of its value."""
        cost, value = self._of(node)
        kind = self._types.get(node.id, "dyn")
        if kind == "dyn" and value.place is not None:
            # The library does not type lists in lists.
            kind = value.place.name
        is_small = kind in _SCALARS or kind.startswith(_OWN)
        return cost, value._replace(kind=kind, size=1 if is_small else value.size)

    def _of(self, node: CelExpression) -> tuple[int, _Value]:  # noqa: PLR0911 - one for each kind of expression
        match node:
            case CelExpression("literal" | "unsigned", value):
                return 0, _Value(len(value) if isinstance(value, str | bytes) else 1)
            case CelExpression("name", name):
                return 1, self._locals.get(name) or self._at(self._self)
            case CelExpression("select" | "has", name, (operand,)):
                cost, around = self.of(operand)
                return cost + 1, _Value(1) if node.kind == "has" else self._field(around, name)
            case CelExpression("list", _, items):
                return self._written(_LIST, items, ())
            case CelExpression("map", _, entries):
                return self._written(_MAP, entries[1::2], entries[::2])
            case CelExpression("call" | "method"):
                return self._call(node)
            case CelExpression("loop"):
                return self._loop(node)
            case _:
                return _OBJECT + sum(self.of(part)[0] for part in node.parts), _Value(self._most)

    def _at(self, place: Type | None) -> _Value:
        if place is None:
            return _Value(self._most)
        return _Value(1 if place.path == self._small else min(place.most, self._most), place, kind=place.name)

    def _field(self, around: _Value, name: str) -> _Value:
        """Return a field; the API server does not know the size of one with a reserved word that is not escaped."""
        return self._at(around.place.fields.get(name) if around.place and name not in RESERVED else None)

    def _inner(self, around: _Value) -> _Value:
        """Return an item of a list, or a value of a map."""
        return around.inner or self._at(around.place.inner if around.place else None)

    def _size(self, value: _Value) -> int:
        """Return the size of a value, and remember that it was used."""
        if value.place is not None and value.place.keyword:
            self.places[value.place.path] = value.place
        return value.size

    def _written(self, cost: int, values: Iterable[CelExpression], keys: Iterable[CelExpression]) -> tuple[int, _Value]:
        """Return the cost of a list or map that is written out, with its largest value."""
        found = [self.of(value) for value in values]
        cost += sum(each for each, _ in found) + sum(self.of(key)[0] for key in keys)
        return cost, _Value(len(found), inner=max((value for _, value in found), key=self._size, default=_Value(0)))

    def _loop(self, node: CelExpression) -> tuple[int, _Value]:
        variable, second, accumulator = node.value
        cost, over = self.of(node.parts[0])
        count = self._size(over)
        began, initial = self.of(node.parts[1])
        outer = self._locals
        key = _Value(1 if over.kind.startswith("list") else self._key, kind="int")
        value = self._inner(over)
        single = value if over.kind.startswith("list") else key
        names = {variable: key, second: value} if second else {variable: single}
        self._locals = outer | names | {accumulator: initial}
        condition, _ = self.of(node.parts[2])
        step, made = self.of(node.parts[3])
        # What `map` and `filter` make grows with each step; what `optMap` names does not.
        grows = node.parts[1].kind in {"list", "map"} and node.parts[0] != CelExpression("list", ())
        self._locals = outer | {accumulator: _Value(count, inner=made.inner) if grows else initial}
        ended, result = self.of(node.parts[4])
        self._locals = outer
        return cost + began + ended + count * (condition + step), result

    def _call(self, node: CelExpression) -> tuple[int, _Value]:  # noqa: PLR0911 - one for each kind of call
        found = [self.of(part) for part in node.parts]
        costs, values = [cost for cost, _ in found], [value for _, value in found]
        total = sum(costs)
        match node.value:
            case "_?_:_":
                return costs[0] + max(costs[1:]), max(values[1:], key=self._size)
            case "_&&_" | "_||_" | "!_":
                return total + (node.value == "!_"), _Value(1)
            case "_[_]":
                return total + 1, self._inner(values[0])
            case "@in" if values[1].kind == "map":
                return total + 1, _Value(1)
            case "dyn":
                return total + 1, values[0]._replace(place=None, inner=self._inner(values[0]))
            case "_!=_" if values[0].kind.startswith(_OWN):
                # The API server knows what `==` of its own types costs, and not what `!=` does.
                return total + self._most, _Value(1)
            case "lists.range":
                # Nothing bounds a number that is not written out.
                number = node.parts[0]
                count = max(0, number.value) if number.kind == "literal" else UNKNOWN
                return total + count + _LIST, _Value(count, inner=_Value(1))
        sizes = [self._size(value) for value in values] or [1]
        inner = self._inner(values[0]) if values and values[0].kind.startswith("list") else _Value(1)
        price = _PRICES.get(node.value)
        item = inner.size if inner.place or inner.kind in _TEXTS else 1
        cost, size = price(_Sizes(sizes[0], sizes[-1], item, sum(sizes))) if price else (1, None)
        if node.value == "string" and values[0].kind not in {"bytes", "dyn"}:
            size = None
        made = inner if node.value in _OF_ITEMS else None
        if node.value == "_+_":
            inners = [value.inner or self._inner(value) for value in values if value.kind.startswith("list")]
            made = max(inners, key=self._size, default=None)
        return total + cost, _Value(max(self._most, sum(sizes)) if size is None else size, inner=made)


class _Sizes(NamedTuple):
    """The sizes that a call walks: of its first and last argument, of an item of the first, and of all together."""

    first: int
    last: int
    item: int
    total: int


def _tenth(size: int) -> int:
    """Return what walking over so many characters costs."""
    return -(-size // 10)


#: What a call costs beside its arguments, and the size of its result; None where the API server does not know it. Calls
#: that are not listed cost 1.
_PRICES: Final[dict[str, Callable[[_Sizes], tuple[int, int | None]]]] = {
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), lambda of: (_tenth(of.first), of.first)),
    **dict.fromkeys(
        ("quantity", "isQuantity", "semver", "isSemver", "ip", "isIP", "cidr", "isCIDR", "format", "ip.isCanonical"),
        lambda of: (2 * _tenth(of.first), None),
    ),
    **dict.fromkeys(("containsIP", "containsCIDR"), lambda of: (_tenth(of.last) + 7, None)),
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda of: (of.first * (1 + _tenth(of.item)), None)
    ),
    **dict.fromkeys(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"), lambda of: (_tenth(min(of.first, of.last)), 1)),
    **dict.fromkeys(("startsWith", "endsWith"), lambda of: (_tenth(of.last), 1)),
    **dict.fromkeys(("matches", "find", "findAll"), lambda of: (_tenth(of.first + 1) * -(-of.last // 4), of.first)),
    **dict.fromkeys(
        ("distinct", "sort", "@sortByAssociatedKeys"),
        lambda of: (2 * of.first**2 * (1 + _tenth(of.item)) + _LIST, of.first**2),
    ),
    **dict.fromkeys(
        ("sets.contains", "sets.intersects", "sets.equivalent"), lambda of: (2 * of.first * of.last + 1, 1)
    ),
    **dict.fromkeys(("slice", "reverse", "flatten"), lambda of: (of.first + _LIST, of.first)),
    "_+_": lambda of: (_tenth(of.total), of.total),
    "@in": lambda of: (of.last, 1),
    "bytes": lambda of: (_tenth(of.first), of.first * 4),
    "string": lambda of: (_tenth(of.first), of.first),
    "contains": lambda of: (_tenth(of.first) * _tenth(of.last), 1),
    "join": lambda of: (_tenth(of.first * (of.item + of.last)), of.first * (of.item + of.last)),
    "replace": lambda of: (2 * _tenth(of.first), (of.first + 1) * of.last + of.first),
    "split": lambda of: (2 * _tenth(of.first), of.first),
    "strings.quote": lambda of: (_tenth(of.first), of.first * 2 + 2),
    "validate": lambda of: (-(-_tenth(of.last) * _FORMAT_PATTERN // 4), None),
}
#: Functions whose result is a list of the items of the first argument.
_OF_ITEMS: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys", "slice", "reverse"})
