"""The syntax tree of a compiled expression. It needs no CEL library; `reading` makes it of what that serializes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class CelExpression:
    """An expression, with what is below it; two that are the same have the same `str`.

    | kind | value | parts |
    |---|---|---|
    | `literal`, `unsigned` | the value | |
    | `name` | the name | |
    | `select`, `has` | the field | its operand |
    | `call`, `method` | the function, or operator | the arguments; of a method, the target before them |
    | `message` | its type, the fields, which are optional | their values |
    | `list`, `map` | which entries are optional | the items; the keys and values in turn |
    | `loop`: `all`, `map`, … | the variable, the second one, the accumulator | range, start, condition, step, result |
    """

    kind: str
    value: Any = None
    parts: "tuple[CelExpression, ...]" = ()
    #: Its number, by which its type is known; 0 for one that nobody compiled.
    id: int = field(default=0, compare=False, repr=False)


def walk(node: CelExpression) -> Iterator[CelExpression]:
    """Yield the node and all below it."""
    yield node
    for part in node.parts:
        yield from walk(part)


def rewritten(node: CelExpression, rule: Callable[[CelExpression], CelExpression]) -> CelExpression:
    """Return the tree with each node replaced by what the rule makes of it, the innermost first."""
    return rule(replace(node, parts=tuple(rewritten(part, rule) for part in node.parts)))
