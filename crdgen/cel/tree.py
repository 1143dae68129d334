"""The syntax tree of a compiled expression. It needs no CEL library; `reading` creates it."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class CelExpression(Struct, frozen=True):
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
    id: int = 0

    def __repr__(self) -> str:
        return f"{self.kind}({self.value!r}, {self.parts!r})"

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def walk(node: CelExpression) -> Iterator[CelExpression]:
    """Yield a node and all its descendants."""
    yield node
    for part in node.parts:
        yield from walk(part)


def rewrite(node: CelExpression, rule: Callable[[CelExpression], CelExpression]) -> CelExpression:
    """Return the tree with the rule applied to each node, the innermost first."""
    return rule(replace(node, parts=tuple(rewrite(part, rule) for part in node.parts)))
