"""Whether a rule on changes passes an object that does not change.

A stored object is next written by whoever adds a label or removes a finalizer. The API server applies rules with
`oldSelf` to such a write, too (it ratchets only those without: k8s.io/apiextensions-apiserver, pkg/apiserver/
schema/cel/validation.go), so that `self.replicas > oldSelf.replicas` keeps an object from being deleted.

The tree of the rule is rewritten for an old value that is the new one, and then followed as far as simple logic goes:
what cannot be shown to be true is taken for false, such as anything that `all` or `exists` say. CEL's logic is followed
(https://github.com/google/cel-spec): `true || error` is true, and a field that is not there is an error. Left out of
account are texts of the formats date, date-time and duration that the API server takes, and CEL cannot read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crdgen import cel
from crdgen.cel.tree import CelCall, Comprehension, Constant, Expression, Identifier, Select, rewritten, walk
from crdgen.diff.change import required
from crdgen.escaping import escape
from crdgen.schema import EMBEDDED
from crdgen.schema.look import mapping

_SELF: Final = Identifier("self")
_EQUAL: Final = frozenset({"_==_", "_<=_", "_>=_"})
_UNEQUAL: Final = frozenset({"_!=_", "_<_", "_>_"})
_LOGIC: Final = frozenset({"!_", "_&&_", "_||_"})
_ORDERED: Final = frozenset({"integer", "number", "string"})


def tree_of(rule: str, schema: Mapping[str, Any], *, root: bool, optional: bool) -> Expression | None:
    """Return the tree of a rule; None for one that does not compile, and without the extra `cel`."""
    whole = root or bool(schema.get(EMBEDDED))
    try:
        return cel.compiled(rule, dict(schema), root=whole, optional_old_self=optional).tree
    except (cel.CompilationError, cel.NotEvaluated, AttributeError, KeyError, TypeError, ValueError):
        return None  # a rule, or a schema, that the API server rejects, or no library


def spelled(node: Expression) -> str:
    """Return text that is the same for the same expressions only; in Python, 1 and true are equal."""
    return f"{node} {[type(part.value).__name__ for part in walk(node) if isinstance(part, Constant)]}"


def passes_unchanged(tree: Expression, schema: Mapping[str, Any], *, optional: bool) -> bool:
    """Return whether a rule is sure to be true of a value that is as it was; `schema` is that of `self`."""
    loops = [node for node in walk(tree) if isinstance(node, Comprehension)]
    if any({"self", "oldSelf"} & {loop.variable, loop.second, loop.accumulator} for loop in loops):
        return False

    def unchanged(node: Expression) -> Expression:
        match node:
            case Identifier("oldSelf") if not optional:
                return _SELF
            case CelCall(Identifier("oldSelf"), "hasValue", ()):
                return Constant(True)
            case CelCall(Identifier("oldSelf"), "value" | "orValue", _):
                return _SELF
            case _:
                return node

    return _is(rewritten(tree, unchanged), True, _Facts(schema))


@dataclass(frozen=True)
class _Facts:
    """What is known where an expression stands: the schema of `self`, and outcomes of expressions, by their text."""

    schema: Mapping[str, Any]
    outcomes: frozenset[tuple[str, bool]] = frozenset()

    def given(self, node: Expression, outcome: bool) -> "_Facts":
        """Return what is known if the expression has this outcome."""
        match node:
            case CelCall(None, "!_", (inner,)):
                return self.given(inner, not outcome)
            case CelCall(None, "_&&_" | "_||_", (one, other)) if outcome == (node.function == "_&&_"):
                return self.given(one, outcome).given(other, outcome)
        return replace(self, outcomes=self.outcomes | {(spelled(node), outcome)})

    def has(self, node: Expression, outcome: bool) -> bool:
        """Return whether the expression is known to have this outcome."""
        return (spelled(node), outcome) in self.outcomes


def _is(node: Expression, outcome: bool, known: _Facts) -> bool:  # noqa: PLR0911 - one for each form
    """Return whether the expression is sure to have this outcome."""
    match node:
        case CelCall(None, "!_", (inner,)):
            return _is(inner, not outcome, known)
        case CelCall(None, "_&&_" | "_||_", (one, other)) if outcome == (node.function == "_&&_"):
            return _is(one, outcome, known) and _is(other, outcome, known.given(one, outcome))
        case CelCall(None, "_&&_" | "_||_", (one, other)):
            return _otherwise(one, other, outcome, known) or _otherwise(other, one, outcome, known)
        case CelCall(None, "_?_:_", (condition, one, other)):
            first = _is(condition, False, known) or _is(one, outcome, known.given(condition, True))
            second = _is(condition, True, known) or _is(other, outcome, known.given(condition, False))
            return first and second and _is_safe(condition, known)
        case Select(operand, name, True) if outcome and _is_safe(operand, known) and _is_there(operand, name, known):
            return True
        case CelCall(None, function, (one, other)) if function in (_EQUAL if outcome else _UNEQUAL):
            is_ordered = function in {"_==_", "_!=_"} or _type(one, known) in _ORDERED
            if spelled(one) == spelled(other) and is_ordered and _is_safe(one, known):
                return True
    return node == Constant(outcome) or known.has(node, outcome)


def _otherwise(one: Expression, other: Expression, outcome: bool, known: _Facts) -> bool:
    """Return whether the other one has the outcome where this one has not, which counts where this one is no error.

    What holds in all cases holds in these, too: one look at each side is enough, whatever is nested in it.
    """
    return _is(other, outcome, known.given(one, not outcome) if _is_safe(one, known) else known)


def _is_safe(node: Expression, known: _Facts) -> bool:  # noqa: PLR0911 - one for each form
    """Return whether the expression is sure to have a value."""
    if known.has(node, True) or known.has(node, False):
        return True
    match node:
        case Constant() | Identifier("self"):
            return True
        case Select(operand, _, True):
            return _is_safe(operand, known) and _type(operand, known) == "object"
        case Select(operand, name, False):
            # Where the schema is not known, the value may be null.
            may_be_null = _schema(node, known).get("nullable") or not _schema(node, known).get("type")
            tested = known.has(Select(operand, name, True), True) and not may_be_null
            return _is_safe(operand, known) and (tested or _is_there(operand, name, known))
        case CelCall(None, "size", (value,)) | CelCall(value, "size", ()) if value is not None:
            return _is_safe(value, known) and _type(value, known) in {"array", "object", "string"}
        case CelCall(None, function, arguments) if function in _EQUAL | _UNEQUAL | _LOGIC:
            kinds = {_type(argument, known) for argument in arguments}
            right = kinds == {"boolean"} if function in _LOGIC else kinds <= _ORDERED or function in {"_==_", "_!=_"}
            return right and all(_is_safe(argument, known) for argument in arguments)
        case _:
            return False


def _is_there(operand: Expression, name: str, known: _Facts) -> bool:
    """Return whether the field is in every such object: it must be, or is filled in; null is as good as nothing."""
    schema = _schema(operand, known)
    plain = _unescaped(schema, name)
    field = mapping(schema, "properties", plain)
    if schema.get("type") != "object" or not field or field.get("nullable"):
        return False
    return plain in required(schema) or field.get("default") is not None


def _unescaped(schema: Mapping[str, Any], name: str) -> str:
    """Return the property that has a name in CEL."""
    return next((plain for plain in mapping(schema, "properties") if escape(plain) == name), name)


def _type(node: Expression, known: _Facts) -> Any:
    """Return the JSON type of the expression's value; None where it is not known."""
    match node:
        case Constant(value):
            return {bool: "boolean", int: "integer", float: "number", str: "string"}.get(type(value))
        case Select(_, _, True):
            return "boolean"
        case CelCall(_, "size", _):
            return "integer"
        case CelCall(None, function, _) if function in _EQUAL | _UNEQUAL | _LOGIC:
            return "boolean"
        case _:
            return _schema(node, known).get("type")


def _schema(node: Expression, known: _Facts) -> Mapping[str, Any]:
    """Return the schema of a value that is a part of `self`; an empty one of any other."""
    match node:
        case Identifier("self"):
            return known.schema
        case Select(operand, name, False):
            around = _schema(operand, known)
            values = around.get("additionalProperties")
            found = mapping(around, "properties").get(_unescaped(around, name), values)
            return mapping(found)
        case _:
            return {}
