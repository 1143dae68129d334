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

    return _holds(rewritten(tree, unchanged), _Facts(schema))


@dataclass(frozen=True)
class _Facts:
    """What is known where an expression stands: the schema of `self`, and expressions that are true or false there."""

    schema: Mapping[str, Any]
    true: frozenset[str] = frozenset()
    false: frozenset[str] = frozenset()

    def given(self, node: Expression, outcome: bool) -> "_Facts":
        """Return what is known if the expression has this outcome."""
        match node:
            case CelCall(None, "!_", (inner,)):
                return self.given(inner, not outcome)
            case CelCall(None, "_&&_" | "_||_", (one, other)) if outcome == (node.function == "_&&_"):
                return self.given(one, outcome).given(other, outcome)
        fact = {spelled(node)}
        return replace(self, true=self.true | fact) if outcome else replace(self, false=self.false | fact)


def _holds(node: Expression, known: _Facts) -> bool:
    """Return whether the expression is sure to be true."""
    match node:
        case CelCall(None, "!_", (inner,)):
            return _fails(inner, known)
        case CelCall(None, "_&&_", (one, other)):
            return _holds(one, known) and _holds(other, known.given(one, True))
        case CelCall(None, "_||_", (one, other)):
            return _otherwise(one, other, known) or _otherwise(other, one, known)
        case CelCall(None, "_?_:_", (condition, one, other)):
            first = _fails(condition, known) or _holds(one, known.given(condition, True))
            second = _holds(condition, known) or _holds(other, known.given(condition, False))
            return first and second and _is_safe(condition, known)
        case Select(operand, name, True) if _is_safe(operand, known) and _is_there(operand, name, known):
            return True
    return node == Constant(True) or spelled(node) in known.true or _compares_the_same(node, _EQUAL, known)


def _fails(node: Expression, known: _Facts) -> bool:
    """Return whether the expression is sure to be false."""
    match node:
        case CelCall(None, "!_", (inner,)):
            return _holds(inner, known)
        case CelCall(None, "_&&_", (one, other)):
            return _fails(one, known) or _fails(other, known)
        case CelCall(None, "_||_", (one, other)):
            return _fails(one, known) and _fails(other, known)
    return node == Constant(False) or spelled(node) in known.false or _compares_the_same(node, _UNEQUAL, known)


def _otherwise(one: Expression, other: Expression, known: _Facts) -> bool:
    """Return whether the other one is true where this one is not; that this one is false counts where it is no error.

    What is true of all is true of these, too: one look at each side is enough, whatever is nested in it.
    """
    return _holds(other, known.given(one, False) if _is_safe(one, known) else known)


def _compares_the_same(node: Expression, functions: frozenset[str], known: _Facts) -> bool:
    match node:
        case CelCall(None, function, (one, other)) if function in functions and spelled(one) == spelled(other):
            return _is_safe(one, known) and (function in {"_==_", "_!=_"} or _type(one, known) in _ORDERED)
        case _:
            return False


def _is_safe(node: Expression, known: _Facts) -> bool:  # noqa: PLR0911 - one for each form
    """Return whether the expression is sure to have a value."""
    if spelled(node) in known.true | known.false:
        return True
    match node:
        case Constant() | Identifier("self"):
            return True
        case Select(operand, _, True):
            return _is_safe(operand, known) and _type(operand, known) == "object"
        case Select(operand, name, False):
            tested = spelled(Select(operand, name, True)) in known.true and not _is_nullable(_schema(node, known))
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


def _is_nullable(schema: Mapping[str, Any]) -> bool:
    """Return whether the value may be null: where its schema is not known, it may."""
    return bool(schema.get("nullable")) or not schema.get("type")


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
