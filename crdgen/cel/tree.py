"""The syntax tree of a compiled expression. It needs no CEL library; `reading` creates it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class CelExpression:
    """An expression with its parts. Equal expressions have the same `str`.

    | kind | value | parts |
    |---|---|---|
    | `literal`, `unsigned` | the value | |
    | `name` | the name | |
    | `select`, `has` | the field | its operand |
    | `call`, `method` | the function, or operator | the arguments; of a method, the target before them |
    | `message` | its type, the fields, which fields are optional | their values |
    | `list`, `map` | which entries are optional | the items; the keys and values in turn |
    | `loop`: `all`, `map`, … | both variables, the accumulator | range, start, condition, step, result |
    """

    kind: str
    value: Any = None
    parts: "tuple[CelExpression, ...]" = ()
    #: Key of its type; 0 if it was not compiled.
    id: int = field(default=0, compare=False, repr=False)


def walk(node: CelExpression) -> Iterator[CelExpression]:
    """Yield a node and all its descendants."""
    yield node
    for part in node.parts:
        yield from walk(part)


def rewrite(node: CelExpression, rule: Callable[[CelExpression], CelExpression]) -> CelExpression:
    """Return the tree with the rule applied to each node, the innermost first."""
    return rule(replace(node, parts=tuple(rewrite(part, rule) for part in node.parts)))
