"""Whether a rule on changes passes an object that does not change.

A stored object is next written by whoever adds a label or removes a finalizer. The API server applies rules with
`oldSelf` to such a write, too (it ratchets only those without: k8s.io/apiextensions-apiserver, pkg/apiserver/
schema/cel/validation.go), so that `self.replicas > oldSelf.replicas` keeps an object from being deleted.

In the rule, the old value is replaced by the new one; then it must be true by its form, as `self.a == self.a` is. CEL's
logic is followed (https://github.com/google/cel-spec): `true || error` is true, and a field that is not there is an
error. Left out of account are texts of the formats date, date-time and duration that the API server takes, and CEL
cannot read.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from crdgen import cel
from crdgen.cel.tree import CelExpression, rewritten
from crdgen.diff.change import required
from crdgen.escaping import escape
from crdgen.schema import EMBEDDED
from crdgen.schema.look import mapping

#: Conditions by their texts, and what each comes to, if it is no error.
_Facts: TypeAlias = frozenset[tuple[str, bool]]

_SELF: Final = CelExpression("name", "self")
_EQUAL: Final = frozenset({"_==_", "_<=_", "_>=_"})
_COMPARISONS: Final = frozenset({*_EQUAL, "_!=_", "_<_", "_>_"})
_ORDERED: Final = frozenset({"integer", "number", "string"})


def tree_of(rule: str, schema: Mapping[str, Any], *, root: bool, optional: bool) -> CelExpression | None:
    """Return the tree of a rule; None for one that does not compile, and without the extra `cel`."""
    whole = root or bool(schema.get(EMBEDDED))
    try:
        return cel.compiled(rule, dict(schema), root=whole, optional_old_self=optional).tree
    except (cel.CompilationError, cel.NotEvaluated, AttributeError, KeyError, TypeError, ValueError):
        return None  # a rule, or a schema, that the API server rejects, or no library


def passes_unchanged(tree: CelExpression, schema: Mapping[str, Any], *, optional: bool) -> bool:
    """Return whether a rule is sure to be true of a value that is as it was; `schema` is that of `self`."""

    def unchanged(node: CelExpression) -> CelExpression:
        match node:
            case CelExpression("name", "oldSelf") if not optional:
                return _SELF
            case CelExpression("method", "hasValue", (CelExpression("name", "oldSelf"),)):
                return CelExpression("literal", True)
            case CelExpression("method", "value" | "orValue", (CelExpression("name", "oldSelf"), *_)):
                return _SELF
        return node

    return _is_sure(rewritten(tree, unchanged), True, frozenset(), schema)


def _is_sure(  # noqa: PLR0911 - one for each form
    node: CelExpression, wanted: bool, facts: _Facts, schema: Mapping[str, Any]
) -> bool:
    """Return whether a condition is sure to come to what is wanted, and is no error."""
    match node:
        case CelExpression("literal", value):
            return value is wanted
        case CelExpression("call", "!_", (inner,)):
            return _is_sure(inner, not wanted, facts, schema)
        case CelExpression("call", "_||_" | "_&&_", (one, other)):
            sides = ((one, other), (other, one))
            if wanted is (node.value == "_||_"):
                # One is enough; it matters only where the other does not decide.
                return any(_is_sure(side, wanted, facts | _facts(rest, not wanted), schema) for side, rest in sides)
            return all(_is_sure(side, wanted, facts, schema) for side, _ in sides)
        case CelExpression("call", function, (one, other)) if function in _COMPARISONS and one == other:
            is_ordered = function in {"_==_", "_!=_"} or _type(one, schema) in _ORDERED
            return wanted is (function in _EQUAL) and is_ordered and _has_value(one, facts, schema)
        case CelExpression("has", name, (operand,)) if wanted and _is_always(_schema(operand, schema), name):
            return _has_value(operand, facts, schema)
    return (str(node), wanted) in facts and _has_value(node, facts, schema)


def _facts(node: CelExpression, outcome: bool) -> _Facts:
    """Return what its parts come to wherever a condition does not come to the opposite; errors of parts aside."""
    match node:
        case CelExpression("call", "!_", (inner,)):
            return _facts(inner, not outcome)
        case CelExpression("call", "_||_" | "_&&_", parts) if outcome is (node.value == "_&&_"):
            return frozenset().union(*(_facts(part, outcome) for part in parts))
    return frozenset({(str(node), outcome)})


def _has_value(node: CelExpression, facts: _Facts, schema: Mapping[str, Any]) -> bool:
    """Return whether the expression is sure to be no error."""
    match node:
        case CelExpression("literal") | CelExpression("name", "self"):
            return True
        case CelExpression("has", _, (operand,)):
            return _has_value(operand, facts, schema) and _type(operand, schema) == "object"
        case CelExpression("select", name, (operand,)):
            field = _schema(node, schema)
            # Where the schema is not known, the value may be null.
            is_typed = bool(field.get("type")) and not field.get("nullable")
            tested = is_typed and (str(CelExpression("has", name, (operand,))), True) in facts
            return (tested or _is_always(_schema(operand, schema), name)) and _has_value(operand, facts, schema)
        case CelExpression("call" | "method", "size", (value,)):
            return _type(value, schema) in {"array", "object", "string"} and _has_value(value, facts, schema)
    return False


def _is_always(around: Mapping[str, Any], name: str) -> bool:
    """Return whether the field is in every such object: it must be, or is filled in; null is as good as nothing."""
    plain = _unescaped(around, name)
    field = mapping(around, "properties", plain)
    if around.get("type") != "object" or not field or field.get("nullable"):
        return False
    return plain in required(around) or field.get("default") is not None


def _unescaped(around: Mapping[str, Any], name: str) -> str:
    """Return the property that has a name in CEL, as `namespace` for `__namespace__`."""
    return next((plain for plain in mapping(around, "properties") if escape(plain) == name), name)


def _type(node: CelExpression, schema: Mapping[str, Any]) -> Any:
    """Return the JSON type of the expression's value; None where it is not known."""
    is_size = node.kind in {"call", "method"} and node.value == "size"
    return "integer" if is_size else _schema(node, schema).get("type")


def _schema(node: CelExpression, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a value that is a part of `self`; an empty one of any other."""
    match node:
        case CelExpression("name", "self"):
            return schema
        case CelExpression("select", name, (operand,)):
            around = _schema(operand, schema)
            found = mapping(around, "properties").get(_unescaped(around, name), around.get("additionalProperties"))
            return mapping(found)
    return {}
