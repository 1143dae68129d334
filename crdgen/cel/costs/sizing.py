"""What is known of the sizes of values while an expression is walked."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from crdgen.cel.checked import DYN, Checked, Type
from crdgen.cel.costs.extent import KEY, Extent
from crdgen.cel.costs.path import INDICES, INNER, KEYS, Path, nowhere, variable
from crdgen.cel.costs.size import UNKNOWN, Size, fixed
from crdgen.cel.tree import Call, Constant, Identifier, ListOf, MapOf, Node, Select

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


class Sizes:
    """The sizes of an expression's parts, as far as it has been walked.

    Attributes:
        sources: what sizes were asked for, by name.
        ranges: what has no bound and is ranged over, by name.
    """

    def __init__(self, self_extent: Extent, checked: Checked, small: frozenset[str]) -> None:
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

    def type(self, node: Node) -> Type:
        """Return the type of a part."""
        return self._checked.types.get(node.id, DYN)

    def overloads(self, node: Call) -> tuple[str, ...]:
        """Return which overloads a call may mean."""
        return self._checked.overloads.get(node.id, ("",))

    # What is learned.

    def name(self, node: Identifier) -> None:
        """Learn of a name where it is."""
        local = self._local(node.name)
        self._paths[node.id] = local.path if local else variable(node.name)

    def step(self, node: Node, around: Node, step: str) -> None:
        """Learn of a part that it is one step from another."""
        self._paths[node.id] = self.path(around).to(step)

    def learn(self, node: Node, size: Size | None = None, entries: Entries | None = None) -> None:
        """Learn the size of a part, and of what is in it, where they are known."""
        if size:
            self._sizes[node.id] = size
        if entries:
            self._entries[node.id] = entries

    def range_over(self, node: Node) -> None:
        """Learn that a comprehension goes through a part."""
        found = self.at(self.path(node).steps)
        if found and found[1].unbounded:
            self.ranges[found[0]] = Source(found[0], found[1].keyword)

    @contextmanager
    def bound(self, name: str, local: Local) -> Iterator[None]:
        """Know a variable for a while."""
        self._locals.setdefault(name, []).append(local)
        yield
        self._locals[name].pop()

    # What is asked.

    def path(self, node: Node) -> Path:
        """Return where a part is."""
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.path if local else self._paths.get(node.id) or nowhere()

    def entries(self, node: Node) -> Entries | None:
        """Return what is in a list or map that the expression makes."""
        if node.id in self._entries:
            return self._entries[node.id]
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.entries if local else None

    def known(self, node: Node) -> Size:
        """Return the size of a part, or that of what nothing is known of: then it is a source."""
        size = self.size(node)
        if size:
            return size
        name = _words(node)
        self.sources.setdefault(name, Source(name))
        return Size(0, 1) if name in self._small else UNKNOWN

    def size(self, node: Node) -> Size | None:
        """Return the size of a part, where something tells: the order is the API server's."""
        size = self._sizes.get(node.id) or _written(node)
        if size:
            return size
        size = self.size_at(self.path(node).steps)
        if size:
            self._sizes[node.id] = size
            return size
        kind = self.type(node)
        if kind.name == "optional_type":
            kind = kind.of[0]
        if kind.name in _SCALAR:
            return fixed(1)
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.size if local else None

    def size_at(self, steps: list[str]) -> Size | None:
        """Return the size that the schema gives a place."""
        found = self.at(steps)
        if found is None:
            return None
        name, extent = found
        if extent.keyword and extent.most:
            self.sources.setdefault(name, Source(name, extent.keyword, bounded=not extent.unbounded))
            if name in self._small:
                return Size(0, 1)
        return Size(0, extent.most)

    def at(self, steps: list[str]) -> tuple[str, Extent] | None:
        """Return what the schema has at a place, with its name.

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

    def has_fields(self, node: Node) -> bool:
        """Tell whether a part is an object or a map."""
        found = self.at(self.path(node).steps)
        kind = self.type(node).name
        return kind in {"map", "object"} or (kind == "dyn" and found is not None and found[1].kind in {"map", "object"})

    def iterated(self, node: Node, *, key: bool) -> Local:
        """Return the variable that goes through the keys or the values of a part."""
        entries = self.entries(node)
        mark = INNER if not key else INDICES if self.is_list(node) else KEYS
        size = None if entries is None else entries.keys if key else entries.values
        return Local(self.path(node).to(mark), size)

    def is_list(self, node: Node) -> bool:
        """Tell whether a part is a list rather than a map."""
        entries = self.entries(node)
        if entries is not None:
            return entries.of_list
        kind = self.type(node).name
        found = self.at(self.path(node).steps) if kind == "dyn" else None
        return found[1].kind == "array" if found else kind == "list"

    def _local(self, name: str) -> Local | None:
        found = self._locals.get(name)
        return found[-1] if found else None


def either(sizes: Iterable[Size]) -> Size:
    """Return the size of any of several; of none it is nothing."""
    result: Size | None = None
    for size in sizes:
        result = size if result is None else result | size
    return result or fixed(0)


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


def _words(node: Node) -> str:
    """Return what a part is called whose size nothing tells."""
    match node:
        case Call(_, function, _) if function.isidentifier():
            return f"the result of {function}()"
        case Select(_, field, _):
            return f"a value of .{field}"
        case Identifier(name):
            return f"the values of {name}"
        case _:
            return "a value that the rule computes"
