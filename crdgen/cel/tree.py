"""The syntax tree of a compiled expression (cel.expr.CheckedExpr); `crdgen.cel.reading` makes it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expression:
    #: The expression's own number, by which its type is known; 0 for one that nobody compiled.
    id: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant(_Expression):
    """A literal: None, a bool, int, float, str or bytes, or an `Unsigned`."""

    value: Any


class Unsigned(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Identifier(_Expression):
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(_Expression):
    """`operand.field`, or whether it is there."""

    operand: "Node"
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class CelCall(_Expression):
    """A function; operators are functions too."""

    target: "Node | None"
    function: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class CelList(_Expression):
    """`[a, ?b]`; `optional` are the places of the optional ones."""

    elements: "tuple[Node, ...]"
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class CelMap(_Expression):
    """`{key: value, ?key: value}`: key, value, whether it is optional."""

    entries: "tuple[tuple[Node, Node, bool], ...]"


@dataclass(frozen=True, slots=True)
class Message(_Expression):
    """`Type{...}`; rules have no type to make."""

    name: str


@dataclass(frozen=True, slots=True)
class Comprehension(_Expression):
    """What `all`, `exists`, `map` and the like become."""

    variable: str
    second: str
    range: "Node"
    accumulator: str
    initial: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"


Node: TypeAlias = Constant | Identifier | Select | CelCall | CelList | CelMap | Message | Comprehension


def children(node: Node) -> Iterator[Node]:
    """Yield what is directly below the node."""
    pending: list[Any] = [getattr(node, each.name) for each in fields(node)]
    for value in pending:
        if isinstance(value, _Expression):
            yield cast("Node", value)
        elif isinstance(value, tuple):
            pending += value


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewritten(node: Node, rule: Callable[[Node], Node]) -> Node:
    """Return the tree with each node replaced by what the rule makes of it, the innermost first."""

    def below(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(below, value))
        return rewritten(cast("Node", value), rule) if isinstance(value, _Expression) else value

    return rule(replace(node, **{each.name: below(getattr(node, each.name)) for each in fields(node)}))
