"""The estimate: a walk over the tree of an expression that sizes values and adds up what walking them costs.

Sources: cel-go, checker/cost.go; k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/compilation.go.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from crdgen.cel.checked import DYN, Checked, Type
from crdgen.cel.costs.calls import LIST, Argument, Called, Price, price
from crdgen.cel.costs.extent import KEY, Extent
from crdgen.cel.costs.path import INDICES, INNER, KEYS, Path, nowhere, variable
from crdgen.cel.costs.size import UNKNOWN, Size, fixed
from crdgen.cel.tree import Call, Comprehension, Constant, Identifier, ListOf, MapOf, Message, Node, Select

# What making a map or an object costs, and reading a name or field.
_MAP, _OBJECT, _READ = 30, 40, 1
# Types whose values are of one size.
_SCALAR: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


@dataclass(frozen=True)
class Entries:
    """What is in a list or map that the expression itself makes."""

    keys: Size
    values: Size
    of_list: bool

    def __or__(self, other: "Entries") -> "Entries":
        """Return what is in either."""
        return Entries(self.keys | other.keys, self.values | other.values, self.of_list)


@dataclass(frozen=True)
class Local:
    """A variable of a comprehension."""

    path: Path
    size: Size | None
    entries: Entries | None = None


@dataclass(frozen=True)
class Source:
    """Something whose size an estimate rests on.

    Attributes:
        name: the place, as `self.tasks[].name`, or what the expression computes.
        keyword: the keyword that bounds it; empty where none does.
        bounded: whether it is bounded.
    """

    name: str
    keyword: str = ""
    bounded: bool = False


class Estimator:
    """One estimate, of one expression.

    Attributes:
        sources: what sizes were asked for, by name.
        ranges: of these, what a comprehension ranges over.
    """

    def __init__(self, self_extent: Extent, checked: Checked, small: frozenset[str] = frozenset()) -> None:
        """Take what is named in `small` for as small as one."""
        self.sources: dict[str, Source] = {}
        self.ranges: dict[str, Source] = {}
        self._self = self_extent
        self._checked = checked
        self._small = small
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, Entries] = {}
        self._locals: dict[str, list[Local]] = {}

    def cost(self, node: Node) -> int:  # noqa: PLR0911 - one for each kind of expression
        """Return the most that evaluating the expression may cost."""
        match node:
            case Constant():
                return 0
            case Identifier(name):
                self._paths[node.id] = self._variable(name)
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

    def _variable(self, name: str) -> Path:
        local = self._local(name)
        return local.path if local else variable(name)

    def _local(self, name: str) -> Local | None:
        found = self._locals.get(name)
        return found[-1] if found else None

    def _select(self, node: Select) -> int:
        below = self.cost(node.operand)
        if node.test:
            # That something is there costs nothing.
            return below
        at = self._path(node.operand)
        self._paths[node.id] = at.to(node.field)
        return below + (_READ if self._has_fields(node.operand, at) else 0)

    def _has_fields(self, node: Node, path: Path) -> bool:
        found = self._at(path.steps)
        kind = self._type(node).name
        return kind in {"map", "object"} or (kind == "dyn" and found is not None and found[1].kind in {"map", "object"})

    def _list(self, node: ListOf, elements: tuple[Node, ...]) -> int:
        cost, of = LIST, []
        for element in elements:
            cost += self.cost(element)
            of.append(self._known(element))
        self._entries[node.id] = Entries(fixed(1), _either(of), of_list=True)
        return cost

    def _map(self, node: MapOf, entries: tuple[tuple[Node, Node, bool], ...]) -> int:
        cost, keys, values = _MAP, [], []
        for key, value, _ in entries:
            cost += self.cost(key) + self.cost(value)
            keys.append(self._known(key))
            values.append(self._known(value))
        self._entries[node.id] = Entries(_either(keys), _either(values), of_list=False)
        return cost

    def _comprehension(self, node: Comprehension) -> int:
        cost = self.cost(node.range) + self.cost(node.initial)
        self._ranged_over(node.range)
        with self._variables(node):
            each = self.cost(node.condition) + self.cost(node.step)
        with self._bound(node.accumulator, self._result(node.initial)):
            cost += self.cost(node.result)
        # Only now: until here the path of the range may have been written over, as the API server has it.
        count = self._known(node.range)
        self._sizes_of_comprehension(node, count)
        return cost + count.most * each

    def _sizes_of_comprehension(self, node: Comprehension, count: Size) -> None:
        match node.initial:
            case Constant():
                size = self._size(node.initial)
                if size:
                    self._sizes[node.id] = size
            case ListOf() | MapOf():
                self._sizes[node.id] = count
                made = self._made(node.step)
                if made:
                    self._entries[node.id] = made

    @contextmanager
    def _variables(self, node: Comprehension) -> Iterator[None]:
        with self._bound(node.accumulator, self._result(node.initial)):
            if not node.second:
                with self._bound(node.variable, self._iterated(node.range, key=not self._is_list(node.range))):
                    yield
                return
            with (
                self._bound(node.variable, self._iterated(node.range, key=True)),
                self._bound(node.second, self._iterated(node.range, key=False)),
            ):
                yield

    @contextmanager
    def _bound(self, name: str, local: Local) -> Iterator[None]:
        self._locals.setdefault(name, []).append(local)
        yield
        self._locals[name].pop()

    def _result(self, node: Node) -> Local:
        return Local(self._path(node), self._size(node), self._made(node))

    def _iterated(self, node: Node, *, key: bool) -> Local:
        entries = self._made(node)
        mark = INNER if not key else INDICES if self._is_list(node) else KEYS
        size = None if entries is None else entries.keys if key else entries.values
        return Local(self._path(node).to(mark), size)

    def _is_list(self, node: Node) -> bool:
        entries = self._made(node)
        if entries is not None:
            return entries.of_list
        kind = self._type(node).name
        found = self._at(self._path(node).steps) if kind == "dyn" else None
        return found[1].kind == "array" if found else kind == "list"

    def _bind(self, node: Comprehension) -> int:
        cost = self.cost(node.range) + self.cost(node.initial)
        with self._bound(node.accumulator, self._result(node.initial)):
            cost += self.cost(node.result)
            self._same_size(node, node.result)
        return cost

    def _same_size(self, node: Node, other: Node) -> None:
        size, made = self._size(other), self._made(other)
        if size:
            self._sizes[node.id] = size
        if made:
            self._entries[node.id] = made

    def _call(self, node: Call) -> int:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0])
            self._same_size(node, node.arguments[0])
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
        overloads = self._checked.overloads.get(node.id, ("",))
        if "add_list" in overloads:
            self._appended(node)
        calls = [Called(node.function, overload, target, tuple(arguments)) for overload in overloads]
        return sum(costs) + self._dearest(node, [price(call) for call in calls])

    def _dearest(self, node: Call, prices: list[Price]) -> int:
        sizes = [each.size for each in prices if each.size]
        size = _either(sizes) if sizes else self._size(node)
        if size:
            self._sizes[node.id] = size
        return max(each.cost for each in prices)

    def _choice(self, node: Call, costs: list[int]) -> int:
        _, first, second = node.arguments
        self._sizes[node.id] = self._known(first) | self._known(second)
        made = self._made(first), self._made(second)
        if made[0] and made[1]:
            self._entries[node.id] = made[0] | made[1]
        return costs[0] + max(costs[1:])

    def _appended(self, node: Call) -> None:
        made = [self._made(argument) for argument in node.arguments]
        if made[0] and made[1]:
            self._entries[node.id] = made[0] | made[1]

    def _index(self, node: Call) -> None:
        made = self._made(node.arguments[0])
        self._paths[node.id] = self._path(node.arguments[0]).to(INNER)
        size = made.values if made else self._size(node)
        if size:
            self._sizes[node.id] = size

    def _argument(self, node: Node) -> Argument:
        kind = self._type(node)
        path = self._path(node)
        found = self._at(path.steps)
        element_type = kind.of[0] if kind.name == "list" else None
        element = UNKNOWN
        if kind.name == "dyn" and found and found[1].kind == "array" and found[1].inner:
            element_type = Type(found[1].inner.kind)
        if element_type is not None and path.steps:
            element = self._size_at([*path.steps, INNER]) or UNKNOWN
        size = self._size(node)
        if size is None:
            size = self._nameless(node)
        return Argument(node, kind, size, element, element_type)

    def _type(self, node: Node) -> Type:
        return self._checked.types.get(node.id, DYN)

    def _path(self, node: Node) -> Path:
        if isinstance(node, Identifier):
            local = self._local(node.name)
            if local:
                return local.path
        return self._paths.get(node.id) or nowhere()

    def _made(self, node: Node) -> Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.entries if local else None

    def _known(self, node: Node) -> Size:
        return self._size(node) or self._nameless(node)

    def _nameless(self, node: Node) -> Size:
        """Return the size of what nothing is known of, and remember that it was asked for."""
        name = _words(node)
        self.sources.setdefault(name, Source(name))
        return Size(0, 1) if name in self._small else UNKNOWN

    def _size(self, node: Node) -> Size | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        size = _written(node)
        if size:
            return size
        size = self._size_at(self._path(node).steps)
        if size:
            self._sizes[node.id] = size
            return size
        kind = self._type(node)
        if kind.name == "optional_type":
            kind = kind.of[0]
        if kind.name in _SCALAR:
            return fixed(1)
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.size if local else None

    def _size_at(self, steps: list[str]) -> Size | None:
        found = self._at(steps)
        if found is None:
            return None
        name, extent = found
        if extent.keyword and extent.most:
            self.sources.setdefault(name, Source(name, extent.keyword, bounded=not extent.unbounded))
            if name in self._small:
                return Size(0, 1)
        return Size(0, extent.most)

    def _at(self, steps: list[str]) -> tuple[str, Extent] | None:
        """Return what the schema has at a path, with its name.

        The first step is not looked at: it is taken for `self`, which it is not for what an expression computes. The
        API server has the same.
        """
        if not steps:
            return None
        name, extent = "self", self._self
        for step in steps[1:]:
            if step == INNER:
                if extent.inner is None:
                    return None
                name, extent = f"{name}{'[]' if extent.kind == 'array' else '.*'}", extent.inner
            elif step == KEYS and extent.kind == "map":
                extent = KEY
            elif step in extent.fields:
                field, extent = extent.fields[step]
                name = f"{name}.{field}"
            else:
                return None
        return name, extent

    def _ranged_over(self, node: Node) -> None:
        found = self._at(self._path(node).steps)
        if found and found[1].unbounded:
            self.ranges[found[0]] = Source(found[0], found[1].keyword)


def _either(sizes: list[Size]) -> Size:
    if not sizes:
        return fixed(0)
    result = sizes[0]
    for size in sizes[1:]:
        result |= size
    return result


def _written(node: Node) -> Size | None:
    """Return the size of what is written out."""
    match node:
        case Constant(str() | bytes() as value):
            return fixed(len(value))
        case Constant():
            return fixed(1)
        case ListOf(elements, _):
            return fixed(len(elements))
        case MapOf(entries):
            return fixed(len(entries))
        case _:
            return None


def _is_bind(node: Comprehension) -> bool:
    """Tell whether a comprehension only gives a value a name, as `optMap` does."""
    return (
        node.range == ListOf((), frozenset())
        and isinstance(node.condition, Constant)
        and node.condition.value is False
        and node.accumulator not in {"__result__", "@result"}
    )


def _words(node: Node) -> str:
    match node:
        case Call(_, function, _) if function.isidentifier():
            return f"the result of {function}()"
        case Select(_, field, _):
            return f"a value of .{field}"
        case Identifier(name):
            return f"the values of {name}"
        case _:
            return "a value that the rule computes"
