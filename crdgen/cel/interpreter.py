"""Evaluating a compiled expression: https://github.com/google/cel-spec, with cel-go's texts for what goes wrong.

What it costs is counted roughly as the API server counts it, and stops an expression that costs too much.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crdgen.cel.equality import find
from crdgen.cel.functions import FUNCTIONS
from crdgen.cel.times import Fault
from crdgen.cel.tree import Call, Comprehension, Constant, Identifier, ListOf, MapOf, Node, Select
from crdgen.cel.values import MISSING, Fields, Items, NoOverload, Optional, TypeName, kind

#: What one expression may cost at run time (k8s.io/apiserver, pkg/apis/cel/config.go).
PER_EXPRESSION: Final = 1_000_000

_TYPES: Final = {
    name: TypeName(name)
    for name in ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
} | {name: TypeName(name) for name in ("google.protobuf.Timestamp", "google.protobuf.Duration")}


class TooExpensive(Exception):
    """The expression costs more than it may."""


class Run:
    """One evaluation; `cost` is what it has cost so far."""

    def __init__(self, variables: Mapping[str, Any], budget: int = PER_EXPRESSION) -> None:
        self._variables = dict(variables)
        self._budget = budget
        self.cost = 0

    def value(self, node: Node) -> Any:
        """Return the value of the node; Fault for an error, TooExpensive where the budget is spent."""
        result = _NODES[type(node)](self, node)
        if isinstance(result, Fault):
            raise result
        return result

    def spend(self, cost: int) -> None:
        """Count what something costs."""
        self.cost += cost
        if self.cost > self._budget:
            raise TooExpensive

    def identifier(self, node: Identifier) -> Any:
        """Return a variable's value, or a type."""
        self.spend(1)
        if node.name in self._variables:
            return self._variables[node.name]
        if node.name in _TYPES:
            return _TYPES[node.name]
        raise Fault(f"no such attribute(s): {node.name}")

    def select(self, node: Select) -> Any:
        """Return a field, or whether it is there."""
        operand = self.value(node.operand)
        self.spend(0 if node.test else 1)
        if isinstance(operand, Optional):
            inner = Optional() if operand.value is MISSING else _optional(operand.value, node.field)
            return inner.value is not MISSING if node.test else inner
        if not isinstance(operand, dict | Fields):
            raise NoOverload
        found = find(operand, node.field)
        if node.test:
            return found is not MISSING
        if found is MISSING:
            raise Fault(f"no such key: {node.field}")
        return found

    def call(self, node: Call) -> Any:
        """Call a function; operators that do not need all of their arguments come first."""
        special = _SPECIAL.get(node.function)
        if special is not None:
            return special(self, node.arguments)
        arguments = [] if node.target is None else [self.value(node.target)]
        if node.function in {"or", "orValue"} and arguments and isinstance(arguments[0], Optional):
            (optional,) = arguments
            if optional.value is MISSING:
                return self.value(node.arguments[0])
            return optional.value if node.function == "orValue" else optional
        arguments += [self.value(argument) for argument in node.arguments]
        self.spend(1 + _traversed(node.function, arguments))
        function = FUNCTIONS.get(node.function)
        if function is None:
            raise NoOverload
        return function(*arguments)

    def list_of(self, node: ListOf) -> Any:
        """Make a list."""
        self.spend(10)
        made: list[Any] = []
        for index, element in enumerate(node.elements):
            value = self.value(element)
            if index not in node.optional:
                made.append(value)
            elif value.value is not MISSING:
                made.append(value.value)
        return made

    def map_of(self, node: MapOf) -> Any:
        """Make a map."""
        self.spend(30)
        made: dict[Any, Any] = {}
        for key, entry, optional in node.entries:
            value = self.value(entry)
            if optional and value.value is MISSING:
                continue
            made[self.value(key)] = value.value if optional else value
        return made

    def comprehension(self, node: Comprehension) -> Any:
        """Fold; an error in the accumulator is kept, because what follows may not need it."""
        over = self.value(node.range)
        if not isinstance(over, list | dict | Items | Fields):
            raise NoOverload
        outer = self._variables
        self._variables = {**outer, node.accumulator: self._kept(node.initial)}
        try:
            for first, second in _pairs(over, two=bool(node.second)):
                self._variables[node.variable] = first
                if node.second:
                    self._variables[node.second] = second
                if self._kept(node.condition) is False:
                    break
                self._variables[node.accumulator] = self._kept(node.step)
            return self.value(node.result)
        finally:
            self._variables = outer

    def _kept(self, node: Node) -> Any:
        try:
            return self.value(node)
        except Fault as fault:
            return fault


def _pairs(over: Any, *, two: bool) -> Iterable[tuple[Any, Any]]:
    """Yield what a comprehension's variables are, in turn; an element that cannot be read is its Fault."""
    if isinstance(over, Items):
        elements: Iterable[Any] = (_element(over, index) for index in range(len(over)))
        return enumerate(elements) if two else ((element, None) for element in elements)
    if isinstance(over, list):
        return enumerate(over) if two else ((element, None) for element in over)
    return [(key, find(over, key) if two else None) for key in over]


def _element(items: Items, index: int) -> Any:
    try:
        return items.at(index)
    except Fault as fault:
        return fault


def _not_false(run: Run, arguments: tuple[Node, ...]) -> bool:
    try:
        return run.value(arguments[0]) is not False
    except Fault:
        return True


def _either(run: Run, arguments: tuple[Node, ...], decides: bool) -> bool:
    """`||` and `&&`: an error counts only where the other side does not decide."""
    first: Fault | None = None
    for argument in arguments:
        try:
            value = run.value(argument)
        except Fault as fault:
            first = first or fault
            continue
        if isinstance(value, bool) and value == decides:
            return decides
        if not isinstance(value, bool):
            first = first or NoOverload()
    if first is not None:
        raise first
    return not decides


def _conditional(run: Run, arguments: tuple[Node, ...]) -> Any:
    condition = run.value(arguments[0])
    if not isinstance(condition, bool):
        raise NoOverload
    return run.value(arguments[1 if condition else 2])


def _optional(value: Any, key: Any) -> Optional:
    """Return what a value holds for a key, if it holds it."""
    if isinstance(value, Optional):
        return value if value.value is MISSING else _optional(value.value, key)
    if isinstance(value, list | Items):
        if kind(key) != "int":
            raise NoOverload
        inside = 0 <= key < len(value)
        return Optional((value.at(key) if isinstance(value, Items) else value[key]) if inside else MISSING)
    if not isinstance(value, dict | Fields):
        raise NoOverload
    return Optional(find(value, key))


def _optional_select(run: Run, arguments: tuple[Node, ...]) -> Optional:
    run.spend(1)
    return _optional(run.value(arguments[0]), run.value(arguments[1]))


def _traversed(function: str, arguments: list[Any]) -> int:
    """Return what walking texts and lists costs beside the call."""
    if function not in _WALKING:
        return 0
    sizes = [len(argument) for argument in arguments if isinstance(argument, str | bytes | list | Items)]
    if function in {"_==_", "_!=_"}:
        return math.ceil(min(sizes) / 10) if len(sizes) == 2 else 0
    return math.ceil(max(sizes, default=0) / 10)


_WALKING: Final = frozenset(
    {"_==_", "_!=_", "_+_", "contains", "startsWith", "endsWith", "matches", "find", "findAll", "replace", "split"}
    | {"lowerAscii", "upperAscii", "substring", "trim", "join", "indexOf", "lastIndexOf", "@in"}
)

_SPECIAL: Final[dict[str, Callable[[Run, tuple[Node, ...]], Any]]] = {
    "_&&_": lambda run, arguments: _either(run, arguments, decides=False),
    "_||_": lambda run, arguments: _either(run, arguments, decides=True),
    "_?_:_": _conditional,
    "_?._": _optional_select,
    "_[?_]": _optional_select,
    "@not_strictly_false": _not_false,
}

_NODES: Final[dict[type, Callable[[Run, Any], Any]]] = {
    Constant: lambda _run, node: node.value,
    Identifier: Run.identifier,
    Select: Run.select,
    Call: Run.call,
    ListOf: Run.list_of,
    MapOf: Run.map_of,
    Comprehension: Run.comprehension,
}
