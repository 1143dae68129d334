"""What can be shown of an expression without running it: that it is true, or false, and raises no error.

CEL's logic is followed (https://github.com/google/cel-spec): `true || error` is true, and a field that is not there is
an error. All answers err on one side: what cannot be shown is not so.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crdgen.cel.tree import (
    CelCall,
    CelList,
    CelMap,
    Comprehension,
    Constant,
    Identifier,
    Node,
    Select,
    walk,
)
from crdgen.diff.pair import required
from crdgen.escaping import unescape
from crdgen.schema.look import mapping


def rewritten(node: Node, rule: Callable[[Node], Node]) -> Node:
    """Return the tree with each node replaced by what the rule makes of it, the innermost first."""

    def below(child: Node) -> Node:
        return rewritten(child, rule)

    match node:
        case Select():
            node = replace(node, operand=below(node.operand))
        case CelCall():
            target = None if node.target is None else below(node.target)
            node = replace(node, target=target, arguments=tuple(map(below, node.arguments)))
        case CelList():
            node = replace(node, elements=tuple(map(below, node.elements)))
        case CelMap():
            node = replace(node, entries=tuple((below(key), below(value), maybe) for key, value, maybe in node.entries))
        case Comprehension():
            node = replace(
                node,
                range=below(node.range),
                initial=below(node.initial),
                condition=below(node.condition),
                step=below(node.step),
                result=below(node.result),
            )
        case _:
            pass
    return rule(node)


def spelled(node: Node) -> str:
    """Return text that is the same for the same expressions only; in Python, 1 and true are equal."""
    return f"{node} {[type(part.value).__name__ for part in walk(node) if isinstance(part, Constant)]}"


#: Functions of two values that are true of two that are the same: of any, and of what has an order or is a text.
_REFLEXIVE: Final = frozenset({"_==_", "sets.contains", "sets.equivalent"})
_REFLEXIVE_IN_ORDER: Final = frozenset({"_<=_", "_>=_", "startsWith", "endsWith", "contains"})
_OF_TEXTS: Final = frozenset({"startsWith", "endsWith", "contains"})
_COMPARISONS: Final = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_TRUTHS: Final = frozenset({"!_", "_&&_", "_||_", "_==_", "_!=_", "@in"}) | _COMPARISONS | _OF_TEXTS


@dataclass(frozen=True)
class KnownBounds:
    """What is known where an expression stands: the schemas of names, and expressions that are true or false there."""

    schemas: Mapping[str, Mapping[str, Any]]
    true: tuple[Node, ...] = ()
    false: tuple[Node, ...] = ()

    def given(self, node: Node, outcome: bool) -> "KnownBounds":
        """Return what is known if the expression has this outcome."""
        match node:
            case CelCall(None, "!_", (inner,)):
                return self.given(inner, not outcome)
            case CelCall(None, "_&&_", (one, other)) if outcome:
                return self.given(one, outcome).given(other, outcome)
            case CelCall(None, "_||_", (one, other)) if not outcome:
                return self.given(one, outcome).given(other, outcome)
            case _:
                return replace(self, true=(*self.true, node)) if outcome else replace(self, false=(*self.false, node))

    def within(self, loop: Comprehension, element: Mapping[str, Any]) -> "KnownBounds":
        """Return what is known in the body of a loop: its variable is one of those that it goes through."""
        name = loop.variable

        def kept(facts: tuple[Node, ...]) -> tuple[Node, ...]:
            hidden = {name, loop.accumulator}
            return tuple(
                fact
                for fact in facts
                if not any(isinstance(one, Identifier) and one.name in hidden for one in walk(fact))
            )

        member = CelCall(None, "@in", (Identifier(name), loop.range))
        return KnownBounds({**self.schemas, name: element}, (*kept(self.true), member), kept(self.false))

    def is_true(self, node: Node) -> bool:
        """Return whether the very expression is known to be true."""
        return _among(node, self.true)

    def is_false(self, node: Node) -> bool:
        """Return whether the very expression is known to be false."""
        return _among(node, self.false)


def holds(node: Node, known: KnownBounds) -> bool:  # noqa: PLR0911 - one for each form
    """Return whether the expression is sure to be true."""
    if known.is_true(node):
        return True
    match node:
        case Constant(True):
            return True
        case CelCall(None, "!_", (inner,)):
            return fails(inner, known)
        case CelCall(None, "_&&_", (one, other)):
            return holds(one, known) and holds(other, known.given(one, True))
        case CelCall(None, "_||_", (one, other)):
            return _otherwise(one, other, known) or _otherwise(other, one, known)
        case CelCall(None, "_?_:_", (condition, one, other)):
            first = fails(condition, known) or holds(one, known.given(condition, True))
            second = holds(condition, known) or holds(other, known.given(condition, False))
            return first and second and _is_safe(condition, known)
        case Select(operand, name, True):
            return _is_safe(operand, known) and _is_there(operand, name, known)
        case CelCall(_, function, _) if function in _REFLEXIVE | _REFLEXIVE_IN_ORDER:
            return _is_reflexive(node, known)
        case Comprehension():
            return _all(node, known) or _exists(node, known)
        case _:
            return False


def fails(node: Node, known: KnownBounds) -> bool:  # noqa: PLR0911 - one for each form
    """Return whether the expression is sure to be false."""
    if known.is_false(node):
        return True
    match node:
        case Constant(False):
            return True
        case CelCall(None, "!_", (inner,)):
            return holds(inner, known)
        case CelCall(None, "_&&_", (one, other)):
            return fails(one, known) or fails(other, known)
        case CelCall(None, "_||_", (one, other)):
            return fails(one, known) and fails(other, known)
        case CelCall(None, "_!=_" | "_<_" | "_>_", (one, other)):
            ordered = node.function == "_!=_" or _has_order(one, known)
            return spelled(one) == spelled(other) and _is_safe(one, known) and ordered
        case _:
            return False


def _otherwise(one: Node, other: Node, known: KnownBounds) -> bool:
    """Return whether the other one is true where this one is not; that this one is false counts where it is no error.

    What is true of all is true of these, too: one look at each side is enough, whatever is nested in it.
    """
    return holds(other, known.given(one, False) if _is_safe(one, known) else known)


def _is_reflexive(node: CelCall, known: KnownBounds) -> bool:
    values = [*([] if node.target is None else [node.target]), *node.arguments]
    if len(values) != 2 or spelled(values[0]) != spelled(values[1]) or not _is_safe(values[0], known):
        return False
    if node.function in _OF_TEXTS:
        return _is_text(values[0], known)
    return node.function in _REFLEXIVE or _has_order(values[0], known)


def _all(loop: Comprehension, known: KnownBounds) -> bool:
    """Return whether `range.all(x, …)` is true: the body is, of any x of the range."""
    body = _body(loop, "_&&_")
    element = _element(_schema(loop.range, known))
    if body is None or element is None or not _is_safe(loop.range, known):
        return False
    return holds(body, known.within(loop, element))


def _exists(loop: Comprehension, known: KnownBounds) -> bool:
    """Return whether `range.exists(x, …)` is true: the body is, of something that is known to be in the range."""
    body = _body(loop, "_||_")
    if body is None or any(isinstance(part, Comprehension) for part in walk(body)):
        return False
    return any(holds(_named(body, loop.variable, member), known) for member in _members(loop.range, known))


def _members(there: Node, known: KnownBounds) -> Iterator[Node]:
    """Yield what is known to be in a list or map."""
    for fact in known.true:
        match fact:
            case CelCall(None, "@in", (member, where)) if spelled(where) == spelled(there):
                yield member
            case _:
                continue


def _named(body: Node, name: str, value: Node) -> Node:
    """Return the body with a value in the place of a name."""
    return rewritten(body, lambda part: value if part == Identifier(name) else part)


def _body(loop: Comprehension, operator: str) -> Node | None:
    """Return what `all` (&&) or `exists` (||) says of one element."""
    result = Identifier(loop.accumulator)
    first = Constant(operator == "_&&_")
    match loop.step:
        case CelCall(None, function, (before, body)) if function == operator and before == result == loop.result:
            return body if not loop.second and spelled(loop.initial) == spelled(first) else None
        case _:
            return None


def _is_safe(node: Node, known: KnownBounds) -> bool:  # noqa: C901, PLR0911, PLR0912 - one for each form
    """Return whether the expression is sure to have a value."""
    if known.is_true(node) or known.is_false(node):
        return True
    match node:
        case Constant():
            return True
        case Identifier(name):
            return name in known.schemas
        case Select(operand, _, True):
            return _is_safe(operand, known) and _is_object(operand, known)
        case Select(operand, name, False):
            known_there = known.is_true(Select(operand, name, True)) and not _is_nullable(node, known)
            return _is_safe(operand, known) and (known_there or _is_there(operand, name, known))
        case CelCall(None, "_[_]", (operand, key)):
            present = known.is_true(CelCall(None, "@in", (key, operand))) and not _is_nullable(node, known)
            return present and "additionalProperties" in (_schema(operand, known) or {})
        case CelCall(_, "size", _):
            (value,) = (node.target,) if node.target is not None else node.arguments
            kind = (_schema(value, known) or {}).get("type")
            return _is_safe(value, known) and kind in {"array", "object", "string"}
        case CelCall(None, "!_" | "_&&_" | "_||_", arguments):
            return all(_is_truth(argument, known) for argument in arguments)
        case CelCall(None, "_==_" | "_!=_", arguments):
            return all(_is_safe(argument, known) for argument in arguments)
        case CelCall(None, function, arguments) if function in _COMPARISONS:
            return all(_has_order(argument, known) for argument in arguments)
        case CelCall(target, function, arguments) if target is not None and function in _OF_TEXTS:
            return all(_is_text(argument, known) for argument in (target, *arguments))
        case CelCall(None, "@in", (member, there)):
            return _is_safe(member, known) and _is_safe(there, known) and _element(_schema(there, known)) is not None
        case _:
            return False


def _is_there(operand: Node, name: str, known: KnownBounds) -> bool:
    """Return whether the field is in every such object: it must be, or is filled in; null is as good as nothing."""
    schema = _schema(operand, known) or {}
    plain = unescape(name) or name
    field = mapping(schema, "properties", plain)
    if schema.get("type") != "object" or not field or field.get("nullable"):
        return False
    return plain in required(schema) or field.get("default") is not None


def _is_truth(node: Node, known: KnownBounds) -> bool:
    """Return whether the value is sure to be true or false."""
    match node:
        case Constant(True | False) | Select(_, _, True):
            boolean = True
        case CelCall(_, function, _):
            boolean = function in _TRUTHS
        case _:
            boolean = (_schema(node, known) or {}).get("type") == "boolean"
    return boolean and _is_safe(node, known)


def _has_order(node: Node, known: KnownBounds) -> bool:
    """Return whether the value is sure to be one that can be compared with another of its type."""
    match node:
        case Constant(value):
            return isinstance(value, int | float | str) and not isinstance(value, bool)
        case CelCall(_, "size", _):
            ordered = True
        case _:
            ordered = (_schema(node, known) or {}).get("type") in ("integer", "number", "string")
    return ordered and _is_safe(node, known)


def _is_text(node: Node, known: KnownBounds) -> bool:
    if isinstance(node, Constant):
        return isinstance(node.value, str)
    schema = _schema(node, known) or {}
    return schema.get("type") == "string" and "format" not in schema and _is_safe(node, known)


def _is_object(node: Node, known: KnownBounds) -> bool:
    return (_schema(node, known) or {}).get("type") == "object"


def _is_nullable(node: Node, known: KnownBounds) -> bool:
    """Return whether the value may be null: where its schema is not known, it may."""
    schema = _schema(node, known)
    return schema is None or bool(schema.get("nullable")) or not schema.get("type")


def _element(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the schema of what is gone through: items of a list, which are no null, or keys of a map."""
    schema = schema or {}
    items = mapping(schema, "items")
    if schema.get("type") == "array" and items.get("type") and not items.get("nullable"):
        return items
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return {"type": "string"}
    return None


def _schema(node: Node, known: KnownBounds) -> Mapping[str, Any] | None:
    """Return the schema of a value that is a part of one whose schema is known."""
    match node:
        case Identifier(name):
            return known.schemas.get(name)
        case Select(operand, name, False):
            around = _schema(operand, known) or {}
            found = mapping(around, "properties").get(unescape(name) or name, around.get("additionalProperties"))
        case CelCall(None, "_[_]", (operand, _)):
            around = _schema(operand, known) or {}
            found = around.get("items") if around.get("type") == "array" else around.get("additionalProperties")
        case _:
            return None
    return found if isinstance(found, Mapping) else None


def _among(node: Node, facts: tuple[Node, ...]) -> bool:
    return any(spelled(node) == spelled(fact) for fact in facts)
