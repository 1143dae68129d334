"""The syntax tree of a compiled expression (cel.expr.CheckedExpr); `crdgen.cel.reading` makes it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    #: The expression's own number, by which its type is known; 0 for one that nobody compiled.
    id: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant(_Base):
    """A literal: None, a bool, int, float, str or bytes, or an `Unsigned`."""

    value: Any


class Unsigned(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Identifier(_Base):
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(_Base):
    """`operand.field`, or whether it is there."""

    operand: "Expression"
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class CelCall(_Base):
    """A function; operators are functions too."""

    target: "Expression | None"
    function: str
    arguments: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class CelList(_Base):
    """`[a, ?b]`; `optional` are the places of the optional ones."""

    elements: "tuple[Expression, ...]"
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class CelMap(_Base):
    """`{key: value, ?key: value}`: key, value, whether it is optional."""

    entries: "tuple[tuple[Expression, Expression, bool], ...]"


@dataclass(frozen=True, slots=True)
class Message(_Base):
    """`Type{...}`; rules have no type to make."""

    name: str


@dataclass(frozen=True, slots=True)
class Comprehension(_Base):
    """What `all`, `exists`, `map` and the like become."""

    variable: str
    second: str
    range: "Expression"
    accumulator: str
    initial: "Expression"
    condition: "Expression"
    step: "Expression"
    result: "Expression"


Expression: TypeAlias = Constant | Identifier | Select | CelCall | CelList | CelMap | Message | Comprehension


def children(node: Expression) -> Iterator[Expression]:
    """Yield what is directly below the node."""
    pending: list[Any] = [getattr(node, each.name) for each in fields(node)]
    for value in pending:
        if isinstance(value, _Base):
            yield cast("Expression", value)
        elif isinstance(value, tuple):
            pending += value


def walk(node: Expression) -> Iterator[Expression]:
    """Yield the node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewritten(node: Expression, rule: Callable[[Expression], Expression]) -> Expression:
    """Return the tree with each node replaced by what the rule makes of it, the innermost first."""

    def below(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(below, value))
        return rewritten(cast("Expression", value), rule) if isinstance(value, _Base) else value

    return rule(replace(node, **{each.name: below(getattr(node, each.name)) for each in fields(node)}))
