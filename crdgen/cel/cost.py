"""A rough estimate of an expression's cost, in the unit of the API server's limits.

It walks the expression with the bounds of the schema, or with the largest values that fit into a request. It follows
the API server (cel-go, checker/cost.go; k8s.io/apiserver, pkg/cel/library/cost.go) closely enough to warn before a rule
is rejected, and to bound evaluations here. The caller multiplies it by the number of evaluations.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from crdgen.cel.tree import CelExpression
from crdgen.cel.types import REQUEST, Type
from crdgen.escaping import RESERVED

#: Limits for the cost of an expression times the number of its evaluations, and for all expressions of a schema.
#: (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go)
LIMIT, TOTAL_LIMIT = 10_000_000, 100_000_000

#: The size that the API server assumes if it knows nothing about a value.
UNKNOWN: Final = 2**64 - 1
# Costs of creating a list, a map or an object.
_LIST, _MAP, _OBJECT = 10, 30, 40
# Length of the longest pattern of a named format.
_FORMAT_PATTERN: Final = 128
# A field is reported if a small value would lower the estimate by at least a twentieth.
_REPORTED_PART: Final = 20

# Types whose values have the size 1: types of CEL, and prefixes of Kubernetes' types.
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_KUBERNETES: Final = ("kubernetes.", "net.")
_STRINGS: Final = frozenset({"string", "bytes"})


class Estimate(Struct, frozen=True):
    """The highest cost of evaluating an expression once, and the parts of the schema that make it expensive."""

    cost: int
    places: tuple[Type, ...]


class _Value(NamedTuple):
    """A value's largest size in characters, bytes or entries; its place in the schema; the values of a list or map."""

    size: int
    place: Type | None = None
    inner: "_Value | None" = None
    kind: str = "dyn"


def estimate(tree: CelExpression, types: Mapping[int, str], self_type: Type) -> Estimate:
    """Return the approximate highest cost of a compiled expression."""
    estimator = _Estimator(types, self_type)
    cost, _ = estimator.estimate(tree)
    places = (
        place
        for place in estimator.places.values()
        if (cost - _Estimator(types, self_type, small=place.path).estimate(tree)[0]) * _REPORTED_PART >= cost
    )
    return Estimate(cost, tuple(places))


def cost_for_size(tree: CelExpression, types: Mapping[int, str], self_type: Type, max_size: int) -> int:
    """Return the highest cost if no input value is larger than `max_size`."""
    return _Estimator(types, self_type, unknown=max_size, key=max_size).estimate(tree)[0]


def count_in_request(kind: Type) -> int:
    """Return the number of values of a type that fit into a request."""
    return REQUEST // (kind.min_bytes + 1)


class _Estimator:
    """A walk over an expression.

    The value at the path `small` counts as one entry. `unknown` is the size of unknown values. `key` is the size of a
    map's keys, which is 0 for the API server.
    """

    def __init__(
        self, types: Mapping[int, str], self_type: Type, *, small: str = "", unknown: int = UNKNOWN, key: int = 0
    ) -> None:
        #: The parts of the schema whose sizes were used, by path.
        self.places: dict[str, Type] = {}
        self._types = types
        self._self = self_type
        self._small = small
        self._unknown = unknown
        self._key = key
        self._locals: dict[str, _Value] = {}

    def estimate(self, node: CelExpression) -> tuple[int, _Value]:
        """Return the cost of an expression, and the size and type of its value."""
        cost, value = self._estimate_node(node)
        kind = self._types.get(node.id, "dyn")
        if kind == "dyn" and value.place is not None:
            # The library does not type lists in lists.
            kind = value.place.name
        is_small = kind in _SCALARS or kind.startswith(_KUBERNETES)
        return cost, value._replace(kind=kind, size=1 if is_small else value.size)

    def _estimate_node(self, node: CelExpression) -> tuple[int, _Value]:  # noqa: PLR0911 - one for each kind of expression
        match node:
            case CelExpression("literal" | "unsigned", value):
                return 0, _Value(len(value) if isinstance(value, str | bytes) else 1)
            case CelExpression("name", name):
                return 1, self._locals.get(name) or self._at(self._self)
            case CelExpression("select" | "has", name, (operand,)):
                cost, parent = self.estimate(operand)
                return cost + 1, _Value(1) if node.kind == "has" else self._field(parent, name)
            case CelExpression("list", _, items):
                return self._collection(_LIST, items, ())
            case CelExpression("map", _, entries):
                return self._collection(_MAP, entries[1::2], entries[::2])
            case CelExpression("call" | "method"):
                return self._call(node)
            case CelExpression("loop"):
                return self._loop(node)
            case _:
                return _OBJECT + sum(self.estimate(part)[0] for part in node.parts), _Value(self._unknown)

    def _at(self, place: Type | None) -> _Value:
        if place is None:
            return _Value(self._unknown)
        return _Value(1 if place.path == self._small else min(place.max_size, self._unknown), place, kind=place.name)

    def _field(self, parent: _Value, name: str) -> _Value:
        """Return a field. The API server knows no size for fields that rules call by an unescaped reserved word."""
        return self._at(parent.place.fields.get(name) if parent.place and name not in RESERVED else None)

    def _inner(self, collection: _Value) -> _Value:
        """Return the largest item of a list, or value of a map."""
        return collection.inner or self._at(collection.place.inner if collection.place else None)

    def _size(self, value: _Value) -> int:
        """Return the size of a value, and record that it was used."""
        if value.place is not None and value.place.keyword:
            self.places[value.place.path] = value.place
        return value.size

    def _collection(
        self, cost: int, values: Iterable[CelExpression], keys: Iterable[CelExpression]
    ) -> tuple[int, _Value]:
        """Return the cost of a list or map literal, with its largest value."""
        parts = [self.estimate(value) for value in values]
        cost += sum(part_cost for part_cost, _ in parts) + sum(self.estimate(key)[0] for key in keys)
        return cost, _Value(len(parts), inner=max((value for _, value in parts), key=self._size, default=_Value(0)))

    def _loop(self, node: CelExpression) -> tuple[int, _Value]:
        variable, second, accumulator = node.value
        cost, collection = self.estimate(node.parts[0])
        count = self._size(collection)
        initial_cost, initial = self.estimate(node.parts[1])
        outer = self._locals
        key = _Value(1 if collection.kind.startswith("list") else self._key, kind="int")
        value = self._inner(collection)
        single = value if collection.kind.startswith("list") else key
        names = {variable: key, second: value} if second else {variable: single}
        self._locals = outer | names | {accumulator: initial}
        condition, _ = self.estimate(node.parts[2])
        step, produced = self.estimate(node.parts[3])
        # The list of `map` and `filter` grows with each step; the variable of `optMap` does not.
        grows = node.parts[1].kind in {"list", "map"} and node.parts[0] != CelExpression("list", ())
        self._locals = outer | {accumulator: _Value(count, inner=produced.inner) if grows else initial}
        result_cost, result = self.estimate(node.parts[4])
        self._locals = outer
        return cost + initial_cost + result_cost + count * (condition + step), result

    def _call(self, node: CelExpression) -> tuple[int, _Value]:  # noqa: PLR0911 - one for each kind of call
        parts = [self.estimate(part) for part in node.parts]
        costs, values = [cost for cost, _ in parts], [value for _, value in parts]
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
            case "_!=_" if values[0].kind.startswith(_KUBERNETES):
                # The API server knows the cost of `==` for its own types, but not of `!=`.
                return total + self._unknown, _Value(1)
            case "lists.range":
                # Only a literal has a bound.
                number = node.parts[0]
                count = max(0, number.value) if number.kind == "literal" else UNKNOWN
                return total + count + _LIST, _Value(count, inner=_Value(1))
        sizes = [self._size(value) for value in values] or [1]
        inner = self._inner(values[0]) if values and values[0].kind.startswith("list") else _Value(1)
        cost_of = _CALL_COSTS.get(node.value)
        item = inner.size if inner.place or inner.kind in _STRINGS else 1
        cost, size = cost_of(_Sizes(sizes[0], sizes[-1], item, sum(sizes))) if cost_of else (1, None)
        if node.value == "string" and values[0].kind not in {"bytes", "dyn"}:
            size = None
        items = inner if node.value in _RETURNS_ITEMS else None
        if node.value == "_+_":
            inners = [value.inner or self._inner(value) for value in values if value.kind.startswith("list")]
            items = max(inners, key=self._size, default=None)
        return total + cost, _Value(max(self._unknown, sum(sizes)) if size is None else size, inner=items)


class _Sizes(NamedTuple):
    """Sizes of a call's arguments: the first, the last, an item of the first, and their sum."""

    first: int
    last: int
    item: int
    total: int


def _tenth(size: int) -> int:
    """Return the cost of reading a string of this size."""
    return -(-size // 10)


#: The cost of a call without its arguments, and the size of its result, or None if the API server does not know it.
#: Calls that are not listed cost 1.
_CALL_COSTS: Final[dict[str, Callable[[_Sizes], tuple[int, int | None]]]] = {
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
#: Functions that return a list of items of the first argument.
_RETURNS_ITEMS: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys", "slice", "reverse"})
