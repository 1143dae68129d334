"""The estimate: a walk over the tree of an expression that sizes values and adds up what walking them costs.

Sources: cel-go, checker/cost.go; k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/compilation.go.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from crdgen.cel.checked import Checked, Type
from crdgen.cel.costs.calls import LIST, Argument, Called, Price, price
from crdgen.cel.costs.extent import Extent
from crdgen.cel.costs.path import INNER
from crdgen.cel.costs.size import UNKNOWN, fixed
from crdgen.cel.costs.sizing import Entries, Local, Sizes, either
from crdgen.cel.tree import Call, Comprehension, Constant, Identifier, ListOf, MapOf, Message, Node, Select

# What making a map or an object costs, and reading a name or field.
_MAP, _OBJECT, _READ = 30, 40, 1


class Estimator:
    """One estimate, of one expression.

    Attributes:
        sizes: what was learned of the sizes of its parts.
    """

    def __init__(self, self_extent: Extent, checked: Checked, small: frozenset[str] = frozenset()) -> None:
        """Take what is named in `small` for as small as one."""
        self.sizes = Sizes(self_extent, checked, small)

    def cost(self, node: Node) -> int:  # noqa: PLR0911 - one for each kind of expression
        """Return the most that evaluating the expression may cost."""
        match node:
            case Constant():
                return 0
            case Identifier():
                self.sizes.name(node)
                return _READ
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf(elements, _):
                return self._list(node, elements)
            case MapOf(entries):
                return self._map(node, entries)
            case Message():
                return _OBJECT
            case Comprehension():
                return self._bind(node) if _is_bind(node) else self._comprehension(node)

    def _select(self, node: Select) -> int:
        below = self.cost(node.operand)
        if node.test:
            # That something is there costs nothing.
            return below
        self.sizes.step(node, node.operand, node.field)
        return below + (_READ if self.sizes.has_fields(node.operand) else 0)

    def _list(self, node: ListOf, elements: tuple[Node, ...]) -> int:
        cost, of = LIST, []
        for element in elements:
            cost += self.cost(element)
            of.append(self.sizes.known(element))
        self.sizes.learn(node, entries=Entries(fixed(1), either(of), of_list=True))
        return cost

    def _map(self, node: MapOf, entries: tuple[tuple[Node, Node, bool], ...]) -> int:
        cost, keys, values = _MAP, [], []
        for key, value, _ in entries:
            cost += self.cost(key) + self.cost(value)
            keys.append(self.sizes.known(key))
            values.append(self.sizes.known(value))
        self.sizes.learn(node, entries=Entries(either(keys), either(values), of_list=False))
        return cost

    def _comprehension(self, node: Comprehension) -> int:
        cost = self.cost(node.range) + self.cost(node.initial)
        self.sizes.range_over(node.range)
        with self._variables(node):
            each = self.cost(node.condition) + self.cost(node.step)
        with self._accumulated(node):
            cost += self.cost(node.result)
        # Only now: until here the path of the range may have been written over, as the API server has it.
        count = self.sizes.known(node.range)
        if isinstance(node.initial, Constant):
            self.sizes.learn(node, self.sizes.size(node.initial))
        elif isinstance(node.initial, ListOf | MapOf):
            self.sizes.learn(node, count, self.sizes.entries(node.step))
        return cost + count.most * each

    @contextmanager
    def _variables(self, node: Comprehension) -> Iterator[None]:
        sizes = self.sizes
        with self._accumulated(node):
            if not node.second:
                with sizes.bound(node.variable, sizes.iterated(node.range, key=not sizes.is_list(node.range))):
                    yield
                return
            with (
                sizes.bound(node.variable, sizes.iterated(node.range, key=True)),
                sizes.bound(node.second, sizes.iterated(node.range, key=False)),
            ):
                yield

    @contextmanager
    def _accumulated(self, node: Comprehension) -> Iterator[None]:
        begin = node.initial
        local = Local(self.sizes.path(begin), self.sizes.size(begin), self.sizes.entries(begin))
        with self.sizes.bound(node.accumulator, local):
            yield

    def _bind(self, node: Comprehension) -> int:
        cost = self.cost(node.range) + self.cost(node.initial)
        with self._accumulated(node):
            cost += self.cost(node.result)
            self.sizes.learn(node, self.sizes.size(node.result), self.sizes.entries(node.result))
        return cost

    def _call(self, node: Call) -> int:
        if node.function == "dyn":
            (inner,) = node.arguments
            cost = self.cost(inner)
            self.sizes.learn(node, self.sizes.size(inner), self.sizes.entries(inner))
            return cost + 1
        costs, arguments = [], []
        for argument in node.arguments:
            costs.append(self.cost(argument))
            arguments.append(self._argument(argument))
        target = None
        if node.target is not None:
            costs.append(self.cost(node.target))
            target = self._argument(node.target)
        match node.function:
            case "_?_:_":
                return self._choice(node, costs)
            case "_&&_" | "_||_":
                return sum(costs)
            case "_[_]":
                self._index(node)
                return sum(costs) + 1
        overloads = self.sizes.overloads(node)
        if "add_list" in overloads:
            self._joined(node, *node.arguments)
        calls = [Called(node.function, overload, target, tuple(arguments)) for overload in overloads]
        return sum(costs) + self._dearest(node, [price(call) for call in calls])

    def _dearest(self, node: Call, prices: list[Price]) -> int:
        sizes = [each.size for each in prices if each.size]
        self.sizes.learn(node, either(sizes) if sizes else self.sizes.size(node))
        return max(each.cost for each in prices)

    def _choice(self, node: Call, costs: list[int]) -> int:
        _, first, second = node.arguments
        self.sizes.learn(node, self.sizes.known(first) | self.sizes.known(second))
        self._joined(node, first, second)
        return costs[0] + max(costs[1:])

    def _joined(self, node: Call, first: Node, second: Node) -> None:
        """Learn what is in a list that is one or the other, or both."""
        one, other = self.sizes.entries(first), self.sizes.entries(second)
        if one and other:
            self.sizes.learn(node, entries=one | other)

    def _index(self, node: Call) -> None:
        within = node.arguments[0]
        entries = self.sizes.entries(within)
        self.sizes.step(node, within, INNER)
        self.sizes.learn(node, entries.values if entries else self.sizes.size(node))

    def _argument(self, node: Node) -> Argument:
        kind = self.sizes.type(node)
        steps = self.sizes.path(node).steps
        found = self.sizes.at(steps)
        element_type = kind.of[0] if kind.name == "list" else None
        if kind.name == "dyn" and found and found[1].kind == "array" and found[1].inner:
            element_type = Type(found[1].inner.kind)
        element = UNKNOWN
        if element_type is not None and steps:
            element = self.sizes.size_at([*steps, INNER]) or UNKNOWN
        return Argument(node, kind, self.sizes.known(node), element, element_type)


def _is_bind(node: Comprehension) -> bool:
    """Tell whether a comprehension only gives a value a name, as `optMap` does."""
    return (
        node.range == ListOf((), frozenset())
        and isinstance(node.condition, Constant)
        and node.condition.value is False
        and node.accumulator not in {"__result__", "@result"}
    )
