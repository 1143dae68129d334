"""What an expression may cost: the API server's own estimate, by which it rejects rules.

It sizes everything that an expression walks, by the bounds in the schema or by what fits into a request, and adds up
what the walk costs. How often a rule is evaluated is not its matter.

Sources: cel-go, checker/cost.go, ext/lists.go and ext/sets.go; k8s.io/apiserver, pkg/cel/library/cost.go.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crdgen.cel.tree import (
    CelCall,
    CelList,
    CelMap,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    Message,
    Select,
)
from crdgen.cel.types import REQUEST, Type
from crdgen.escaping import RESERVED

#: What one expression may cost, times how often it may be evaluated, and all those of one schema together.
#: (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go)
LIMIT, LIMIT_OF_ALL = 10_000_000, 100_000_000

#: The size of a value of which nothing is known.
UNKNOWN: Final = 2**64 - 1
# What making a list, a map or an object costs.
_LIST, _MAP, _OBJECT = 10, 30, 40
# The longest pattern of a named format, the most that comparing two formats walks, and the bytes of an address.
_FORMAT_PATTERN, _FORMAT, _ADDRESS = 128, 64, 16
# What makes less of a difference than this part of an estimate is not worth naming.
_PART: Final = 20

# Types whose values are of one size.
_SCALAR: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_TEXTS: Final = frozenset({"string", "bytes"})
# Steps into maps and lists: their keys, indices and values. Of a map's keys it has no idea, and takes them for nothing.
_KEYS, _INDICES, _INNER = "@keys", "@indices", "@items"
_KEY: Final = Type("key")


@dataclass(frozen=True)
class CostSource:
    """Something whose size an estimate rests on: the place, or what computes it, and the keyword that bounds it."""

    name: str
    keyword: str = ""
    bounded: bool = False


@dataclass(frozen=True)
class Estimate:
    """What evaluating an expression once may cost at most.

    Attributes:
        cost: in the API server's unit, in which reading a field costs 1.
        ranges: what has no bound and is gone through by `all`, `exists`, `map` and the like.
        sources: what the estimate rests on: were one of them small, it would be notably less.
    """

    cost: int
    ranges: tuple[CostSource, ...]
    sources: tuple[CostSource, ...]


def estimate(tree: Expression, types: Mapping[int, str], self_type: Type) -> Estimate:
    """Return what a compiled expression may cost, as the API server estimates it."""
    estimator = _Estimator(types, self_type)
    cost, _ = estimator.of(tree)
    sources = tuple(
        source
        for source in estimator.sources.values()
        if (cost - _Estimator(types, self_type, source.name).of(tree)[0]) * _PART >= cost
    )
    return Estimate(cost, tuple(estimator.ranges.values()), sources)


def bound(tree: Expression, types: Mapping[int, str], self_type: Type, most: int) -> int:
    """Return the same estimate where no value that the expression is given is larger than `most`."""
    estimator = _Estimator(types, self_type, most=most, shared=False)
    return estimator.of(tree)[0] + estimator.grown // 10


def most_in_a_request(kind: Type) -> int:
    """Return how many values of the type fit into a request."""
    return REQUEST // (kind.least + 1)


class _Path:
    """The steps from `self` to a value, kept as cel-go keeps them: in a Go slice.

    Go's `append` writes into the array of the shorter path where that has room, over the step of another path. So in
    `self.rules.all(r, r.ports.all(p, p.name == r.name))` the API server takes `r.ports`, whose size it reads after the
    inner expression, for as long as `r.name` may be.
    """

    def __init__(self, array: list[str], length: int) -> None:
        self._array, self._length = array, length

    @property
    def steps(self) -> list[str]:
        """The steps; the first is the name of the variable."""
        return self._array[: self._length]

    def append(self, step: str, *, shared: bool) -> "_Path":
        """Return the path with one more step; `shared` says whether it may overwrite that of another path."""
        if shared and self._length < len(self._array):
            self._array[self._length] = step
            return _Path(self._array, self._length + 1)
        room = [""] * max(0, self._length - 1)
        return _Path([*self.steps, step, *room], self._length + 1)


@dataclass(frozen=True)
class _Value:
    """What is known of a value.

    Attributes:
        size: its characters, bytes or entries at most; None where nothing is known.
        path: where it is in `self` or `oldSelf`; None where it is computed.
        place: its place in the schema, if it has one.
        keys, values: the size of what is in a list or map that the expression makes; None of any other.
        of_list: whether it is a list that the expression makes.
        kind: its type, as `list(int)`.
        literal: what it is, where it is written out.
    """

    size: int | None = None
    path: _Path | None = None
    place: Type | None = None
    keys: int | None = None
    values: int | None = None
    of_list: bool = False
    kind: str = "dyn"
    literal: Any = None
    name: str = "a value that the rule computes"

    @property
    def is_list(self) -> bool:
        """Whether it is a list rather than a map."""
        return self.kind.startswith("list") if self.values is None else self.of_list

    @property
    def item(self) -> str | None:
        """The type of its elements; None where it is no list."""
        if self.kind.startswith("list("):
            return self.kind[5:-1]
        return self.place.inner.name if self.kind == "list" and self.place and self.place.inner else None


class _Estimator:
    """One walk over an expression.

    What is named `small` is taken for as small as one, and what nothing is known of for as large as `most`.
    `shared` says whether paths share arrays, as they do in the API server.
    """

    def __init__(
        self, types: Mapping[int, str], self_type: Type, small: str = "", most: int = UNKNOWN, *, shared: bool = True
    ) -> None:
        self.sources: dict[str, CostSource] = {}
        self.ranges: dict[str, CostSource] = {}
        self._types = types
        self._self = self_type
        self._small = small
        self._most = most
        self._shared = shared
        self._locals: dict[str, _Value] = {}
        # The longest text that `replace` may make, which costs the API server nothing.
        self.grown = 0

    def of(self, node: Expression) -> tuple[int, _Value]:
        """Return the most that evaluating the expression may cost, and what is known of its value."""
        cost, value = self._of(node)
        kind = self._types.get(node.id, "dyn")
        if kind == "dyn" and value.place is not None:
            # The library's types know no lists of lists.
            kind = value.place.name
        if value.size is None and kind in _SCALAR:
            value = replace(value, size=1)
        return cost, replace(value, kind=kind)

    def _of(self, node: Expression) -> tuple[int, _Value]:  # noqa: PLR0911 - one for each kind of expression
        match node:
            case Constant(value):
                return 0, _Value(len(value) if isinstance(value, str | bytes) else 1, literal=value)
            case Identifier(name):
                known = self._read(self._locals[name]) if name in self._locals else self._at(_Path([name], 1))
                return 1, replace(known, name=f"the values of {name}")
            case Select(operand, field, test):
                cost, around = self.of(operand)
                if test:
                    return cost, _Value(1)
                return cost + (around.kind in {"map", "object"}), replace(
                    self._step(around, field), name=f"a value of .{field}"
                )
            case CelList(elements, _):
                found = [self.of(element) for element in elements]
                most = max((self._known(value) for _, value in found), default=0)
                return _LIST + sum(cost for cost, _ in found), _Value(len(elements), keys=1, values=most, of_list=True)
            case CelMap(entries):
                parts = [(self.of(key), self.of(value)) for key, value, _ in entries]
                cost = _MAP + sum(key[0] + value[0] for key, value in parts)
                keys = max((self._known(key) for (_, key), _ in parts), default=0)
                values = max((self._known(value) for _, (_, value) in parts), default=0)
                return cost, _Value(len(entries), keys=keys, values=values)
            case Message():
                return _OBJECT, _Value()
            case CelCall():
                return self._call(node)
            case Comprehension():
                return self._comprehension(node)

    def _at(self, path: _Path) -> _Value:
        """Return what the schema has at a path: even what has no size, as an object, has one there, of 0."""
        place: Type | None = self._self
        for step in path.steps[1:]:
            if place is None:
                break
            if step == _INNER:
                place = place.inner
            elif step == _KEYS and place.name == "map":
                place = _KEY
            else:
                # Of a reserved word that is not escaped it does not know the size.
                place = place.fields.get(step) if step not in RESERVED else None
        return _Value(min(place.most, self._most) if place else None, path=path, place=place)

    def _read(self, value: _Value) -> _Value:
        """Return the value with the size at its path, which may have been overwritten; its own where that has none."""
        if value.path is None:
            return value
        now = self._at(value.path)
        return replace(value, place=now.place, size=value.size if now.size is None else now.size)

    def _step(self, around: _Value, step: str) -> _Value:
        """Return what is one step below a value; what an expression computes is taken for `self`, which it is not."""
        return self._at((around.path or _Path([], 0)).append(step, shared=self._shared))

    def _known(self, value: _Value) -> int:
        """Return the size of a value, or that of what nothing is known of, and keep what it rests on."""
        place = value.place
        if value.size is not None and value.path is not None and place is not None and place.keyword and place.most:
            self.sources.setdefault(place.path, CostSource(place.path, place.keyword, place.bounded))
            return 1 if place.path == self._small else value.size
        if value.size is None:
            self.sources.setdefault(value.name, CostSource(value.name))
            return 1 if value.name == self._small else self._most
        return value.size

    def _comprehension(self, node: Comprehension) -> tuple[int, _Value]:
        cost, over = self.of(node.range)
        began, initial = self.of(node.initial)
        outer = self._locals
        self._locals = outer | {node.accumulator: initial}
        try:
            if _is_bind(node):
                ended, result = self.of(node.result)
                return cost + began + ended, replace(result, path=None, place=None)
            place = over.place
            if place is not None and place.keyword and not place.bounded:
                self.ranges[place.path] = CostSource(place.path, place.keyword)
            if node.second:
                self._locals |= {node.variable: self._iterated(over, key=True)}
                self._locals |= {node.second: self._iterated(over, key=False)}
            else:
                self._locals |= {node.variable: self._iterated(over, key=not over.is_list)}
            each = self.of(node.condition)[0]
            stepped, step = self.of(node.step)
            self._locals = outer | {node.accumulator: initial}
            ended = self.of(node.result)[0]
        finally:
            self._locals = outer
        match node.range:
            case Identifier(name) if name in outer:
                over = self._read(outer[name])
            case Identifier() | Select():
                over = self._read(replace(over, size=None))
        count = self._known(over)
        made = _Value(initial.size if isinstance(node.initial, Constant) else None)
        if isinstance(node.initial, CelList | CelMap):
            made = _Value(count, keys=step.keys, values=step.values, of_list=step.of_list)
        return cost + began + ended + count * (each + stepped), made

    def _iterated(self, over: _Value, *, key: bool) -> _Value:
        """Return the variable that goes through the keys or the values of a list or map."""
        size = over.keys if key else over.values
        return replace(self._step(over, _INNER if not key else _INDICES if over.is_list else _KEYS), size=size)

    def _call(self, node: CelCall) -> tuple[int, _Value]:
        arguments = [self.of(argument) for argument in node.arguments]
        if node.function == "dyn":
            cost, value = arguments[0]
            return cost + 1, replace(value, path=None, place=None, literal=None)
        targets = [] if node.target is None else [self.of(node.target)]
        values = [value for _, value in [*targets, *arguments]]
        sizes = [self._known(value) for value in values]
        costs = [cost for cost, _ in [*arguments, *targets]]
        name = f"the result of {node.function}()" if node.function.isidentifier() else _Value.name
        match node.function:
            case "_?_:_":
                made = _joined(values[1], values[2])
                return costs[0] + max(costs[1:]), replace(made, size=max(sizes[1:]), name=name)
            case "_&&_" | "_||_":
                return sum(costs), _Value(1)
            case "_[_]":
                found = self._step(values[0], _INNER)
                return sum(costs) + 1, found if values[0].values is None else replace(found, size=values[0].values)
        called = _Call(node.target is not None, values, sizes, self._element(values))
        cost, size = _PRICES.get(node.function, _plain)(called)
        if node.function == "replace":
            self.grown = max(self.grown, size or 0)
        made = _joined(values[0], values[1]) if node.function == "_+_" else _Value()
        return sum(costs) + cost, replace(made, size=size, name=name)

    def _element(self, values: list[_Value]) -> int:
        """Return the size of an element of the first argument."""
        path = values[0].path if values and values[0].item is not None else None
        found = self._at(path.append(_INNER, shared=False)) if path else _Value()
        return self._most if found.size is None else self._known(found)


def _joined(one: _Value, other: _Value) -> _Value:
    """Return what is known of a list or map that is one or the other, or both."""
    if one.values is None or other.values is None:
        return _Value()
    return _Value(keys=max(one.keys or 0, other.keys or 0), values=max(one.values, other.values), of_list=one.of_list)


def _is_bind(node: Comprehension) -> bool:
    """Return whether a comprehension only gives a value a name, as `optMap` does."""
    return (
        node.range == CelList((), frozenset())
        and node.condition == Constant(False)
        and node.accumulator not in {"__result__", "@result"}
    )


@dataclass(frozen=True)
class _Call:
    """A call: its target, if it has one, and its arguments, with their sizes, and that of an element of the first."""

    method: bool
    values: list[_Value]
    sizes: list[int]
    element: int

    @property
    def kinds(self) -> set[str]:
        """The types of the arguments."""
        return {value.kind for value in self.values}


#: What a call costs beside its arguments, and the size of its result, where that is known.
_Price = Callable[[_Call], tuple[int, int | None]]


def _plain(_: _Call) -> tuple[int, int | None]:
    return 1, None


def _tenths(size: int, times: int = 1) -> int:
    """Return what walking over so many characters costs."""
    return -(-size * times // 10)


def _quarters(size: int) -> int:
    """Return what a pattern of so many characters costs, for each of the text."""
    return -(-size // 4)


def _walked(times: int = 1, *, sized: bool = False) -> _Price:
    return lambda call: (_tenths(call.sizes[0], times), call.sizes[0] if sized else None)


def _made(size: int, cost: int | None = None) -> tuple[int, int]:
    """Return the price of making a list."""
    return (size if cost is None else cost) + 1 + _LIST, size


def _elements(call: _Call) -> tuple[int, int | None]:
    if not call.method:
        return 1, None
    if call.values[0].item is None:
        return _tenths(call.sizes[0]), None
    each = _tenths(call.element) if call.values[0].item in _TEXTS else 0
    return call.sizes[0] * (1 + each), None


def _shorter(call: _Call) -> tuple[int, int | None]:
    return _tenths(min(call.sizes)), None


def _equal(call: _Call) -> tuple[int, int | None]:
    """Kubernetes' own types have a price of their own, but for `!=`."""
    if len(call.kinds) == 1:
        match next(iter(call.kinds)):
            case "kubernetes.Quantity" | "kubernetes.Semver" | "net.IP" | "net.CIDR":
                return 1, None
            case "kubernetes.NamedFormat":
                return _tenths(_FORMAT), None
            case "kubernetes.URL":
                return _tenths(1 if call.sizes[1] == UNKNOWN else call.sizes[1]), None
    return _shorter(call)


def _ordered(call: _Call) -> tuple[int, int | None]:
    return _shorter(call) if call.kinds <= _TEXTS | {"dyn"} else (1, None)


def _added(call: _Call) -> tuple[int, int | None]:
    if any(value.is_list for value in call.values):
        return 1, sum(call.sizes)
    return (_tenths(sum(call.sizes)), sum(call.sizes)) if call.kinds & _TEXTS or call.kinds == {"dyn"} else (1, None)


def _converted(kind: str, factor: int) -> _Price:
    """Return the price of making texts of bytes, or bytes of texts: of so many more characters."""

    def converted(call: _Call) -> tuple[int, int | None]:
        walked = call.values[0].kind in {kind, "dyn"}
        return (_tenths(call.sizes[0]), call.sizes[0] * factor) if walked else (1, None)

    return converted


def _searched(call: _Call) -> tuple[int, int | None]:
    return _tenths(call.sizes[0] + 1) * _quarters(call.sizes[1]), call.sizes[0]


def _replaced(call: _Call) -> tuple[int, int | None]:
    size, old, new = call.sizes[:3]
    least = old if isinstance(call.values[1].literal, str) else 0
    grown = -(-size // least) * new if least else (size + 1) * new + size
    return _tenths(size, 2), size if least and new <= least else grown


def _split(call: _Call) -> tuple[int, int | None]:
    parts = call.values[2].literal if len(call.values) > 2 else None
    return _tenths(call.sizes[0], 2), call.sizes[0] if parts is None else parts % 2**64


def _text_joined(call: _Call) -> tuple[int, int | None]:
    count = call.sizes[0]
    size = count * call.element + (call.sizes[1] * max(0, count - 1) if len(call.sizes) > 1 else 0)
    return _tenths(size), size


def _within(more: int = 0) -> _Price:
    """Return the price of looking whether a network holds an address, or another network, which may be read first."""

    def within(call: _Call) -> tuple[int, int | None]:
        read = _tenths(call.sizes[1]) if call.values[1].kind in {"string", "dyn"} else 0
        return _tenths(2 * _ADDRESS) + more + read, None

    return within


def _number(value: _Value) -> int | None:
    return value.literal if isinstance(value.literal, int) and not isinstance(value.literal, bool) else None


def _sliced(call: _Call) -> tuple[int, int | None]:
    first, last = _number(call.values[1]), _number(call.values[2])
    end = call.sizes[0] if last is None else max(0, last)
    return _made((end - max(0, first or 0)) % 2**64)


def _ranged(call: _Call) -> tuple[int, int | None]:
    count = _number(call.values[0])
    return _made(UNKNOWN if count is None else max(0, count))


def _flattened(call: _Call) -> tuple[int, int | None]:
    depth = 1 if len(call.values) < 2 else _number(call.values[1])
    return _made(call.sizes[0], call.sizes[0] * (UNKNOWN if depth is None else max(0, depth)))


def _distinct(call: _Call) -> tuple[int, int | None]:
    return _made(call.sizes[0] ** 2, 2 * call.sizes[0] ** 2)


def _sorted(call: _Call) -> tuple[int, int | None]:
    by = len(call.values) - 1
    size = call.sizes[by] ** 2
    return _made(size, 2 * size + (_tenths(size) if call.values[by].item in _TEXTS else 0))


def _sets(times: int = 1) -> _Price:
    return lambda call: (call.sizes[0] * call.sizes[1] * times + 1, None)


_PRICES: Final[dict[str, _Price]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _walked(sized=True)),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver", "cidr", "isIP", "isCIDR", "format"), _walked()),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(("startsWith", "endsWith"), lambda call: (_tenths(call.sizes[1]), None)),
    **dict.fromkeys(("find", "findAll"), _searched),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sorted),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets()),
    "sets.equivalent": _sets(2),
    "_==_": _equal,
    "_!=_": _shorter,
    "_+_": _added,
    "@in": lambda call: (call.sizes[1] if call.values[1].is_list else 1, None),
    "bytes": _converted("string", 4),
    "string": _converted("bytes", 1),
    "contains": lambda call: (_tenths(call.sizes[0]) * _tenths(call.sizes[1]), None),
    "containsCIDR": _within(_tenths(_ADDRESS) + 1),
    "containsIP": _within(),
    "distinct": _distinct,
    "flatten": _flattened,
    "ip": lambda call: (1, None) if call.method else (_tenths(call.sizes[0]), None),
    "ip.isCanonical": _walked(2),
    "join": _text_joined,
    "lists.range": _ranged,
    "matches": lambda call: (_searched(call)[0] if call.method else 1, None),
    "replace": _replaced,
    "reverse": lambda call: _made(call.sizes[0]),
    "slice": _sliced,
    "split": _split,
    "strings.quote": lambda call: (_tenths(call.sizes[0]), call.sizes[0] * 2 + 2),
    "validate": lambda call: (_quarters(_tenths(call.sizes[1]) * _FORMAT_PATTERN), None),
}
