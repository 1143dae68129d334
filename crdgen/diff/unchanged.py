"""Whether a transition rule accepts an object that does not change.

The next write to a stored object may only add a label or remove a finalizer. The API server applies rules with
`oldSelf` to such writes, too: `self.replicas > oldSelf.replicas` would prevent the deletion of an object. (It ratchets
only rules without oldSelf: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go.)

In the rule, the new value replaces the old value; then the rule must be true by its form, like `self.a == self.a`. This
follows CEL's logic (https://github.com/google/cel-spec): `true || error` is true, and reading an absent field is an
error. Not considered: strings of the formats date, date-time and duration that the API server accepts and CEL cannot
read.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from crdgen import cel
from crdgen.cel.tree import CelExpression, rewrite
from crdgen.diff.change import required
from crdgen.escaping import escape
from crdgen.schema import EMBEDDED
from crdgen.schema.look import mapping

#: Conditions as texts, with their values; a condition may still be an error.
_Facts: TypeAlias = frozenset[tuple[str, bool]]

_SELF: Final = CelExpression("name", "self")
_EQUAL: Final = frozenset({"_==_", "_<=_", "_>=_"})
_COMPARISONS: Final = frozenset({*_EQUAL, "_!=_", "_<_", "_>_"})
_ORDERED: Final = frozenset({"integer", "number", "string"})


def tree_of(rule: str, schema: Mapping[str, Any], *, root: bool, optional: bool) -> CelExpression | None:
    """Return the tree of a rule; None if it does not compile, or without the extra `cel`."""
    whole = root or bool(schema.get(EMBEDDED))
    try:
        return cel.compile_expression(rule, dict(schema), root=whole, optional_old_self=optional).tree
    except (cel.CompilationError, cel.NotEvaluated, AttributeError, KeyError, TypeError, ValueError):
        return None  # the API server rejects the rule or the schema, or there is no library


def passes_unchanged(tree: CelExpression, schema: Mapping[str, Any], *, optional: bool) -> bool:
    """Return whether a rule is certainly true for every unchanged value; `schema` is the schema of `self`."""

    def unchanged(node: CelExpression) -> CelExpression:
        match node:
            case CelExpression("name", "oldSelf") if not optional:
                return _SELF
            case CelExpression("method", "hasValue", (CelExpression("name", "oldSelf"),)):
                return CelExpression("literal", True)
            case CelExpression("method", "value" | "orValue", (CelExpression("name", "oldSelf"), *_)):
                return _SELF
        return node

    return _is_sure(rewrite(tree, unchanged), True, frozenset(), schema)


def _is_sure(  # noqa: PLR0911 - one for each form
    node: CelExpression, expected: bool, facts: _Facts, schema: Mapping[str, Any]
) -> bool:
    """Return whether a condition certainly has the expected value and is no error."""
    match node:
        case CelExpression("literal", value):
            return value is expected
        case CelExpression("call", "!_", (inner,)):
            return _is_sure(inner, not expected, facts, schema)
        case CelExpression("call", "_||_" | "_&&_", (left, right)):
            sides = ((left, right), (right, left))
            if expected is (node.value == "_||_"):
                # One side is enough, and only counts if the other side does not decide.
                return any(_is_sure(side, expected, facts | _facts(rest, not expected), schema) for side, rest in sides)
            return all(_is_sure(side, expected, facts, schema) for side, _ in sides)
        case CelExpression("call", function, (left, right)) if function in _COMPARISONS and left == right:
            is_ordered = function in {"_==_", "_!=_"} or _type(left, schema) in _ORDERED
            return expected is (function in _EQUAL) and is_ordered and _has_value(left, facts, schema)
        case CelExpression("has", name, (operand,)) if expected and _is_always_set(_schema(operand, schema), name):
            return _has_value(operand, facts, schema)
    return (str(node), expected) in facts and _has_value(node, facts, schema)


def _facts(node: CelExpression, outcome: bool) -> _Facts:
    """Return the values of a condition's parts if the condition does not have the opposite outcome, errors aside."""
    match node:
        case CelExpression("call", "!_", (inner,)):
            return _facts(inner, not outcome)
        case CelExpression("call", "_||_" | "_&&_", parts) if outcome is (node.value == "_&&_"):
            return frozenset().union(*(_facts(part, outcome) for part in parts))
    return frozenset({(str(node), outcome)})


def _has_value(node: CelExpression, facts: _Facts, schema: Mapping[str, Any]) -> bool:
    """Return whether the expression is certainly no error."""
    match node:
        case CelExpression("literal") | CelExpression("name", "self"):
            return True
        case CelExpression("has", _, (operand,)):
            return _has_value(operand, facts, schema) and _type(operand, schema) == "object"
        case CelExpression("select", name, (operand,)):
            field = _schema(node, schema)
            # If the schema is unknown, the value may be null.
            is_typed = bool(field.get("type")) and not field.get("nullable")
            is_checked = is_typed and (str(CelExpression("has", name, (operand,))), True) in facts
            return (is_checked or _is_always_set(_schema(operand, schema), name)) and _has_value(operand, facts, schema)
        case CelExpression("call" | "method", "size", (value,)):
            return _type(value, schema) in {"array", "object", "string"} and _has_value(value, facts, schema)
    return False


def _is_always_set(parent: Mapping[str, Any], name: str) -> bool:
    """Return whether every such object has the field: it is required or has a default, and is not null."""
    field_name = _unescaped(parent, name)
    field = mapping(parent, "properties", field_name)
    if parent.get("type") != "object" or not field or field.get("nullable"):
        return False
    return field_name in required(parent) or field.get("default") is not None


def _unescaped(parent: Mapping[str, Any], name: str) -> str:
    """Return the property for a name in CEL, as `namespace` for `__namespace__`."""
    return next((field_name for field_name in mapping(parent, "properties") if escape(field_name) == name), name)


def _type(node: CelExpression, schema: Mapping[str, Any]) -> Any:
    """Return the JSON type of the expression's value; None if it is unknown."""
    is_size = node.kind in {"call", "method"} and node.value == "size"
    return "integer" if is_size else _schema(node, schema).get("type")


def _schema(node: CelExpression, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a value that is a part of `self`; an empty schema for other values."""
    match node:
        case CelExpression("name", "self"):
            return schema
        case CelExpression("select", name, (operand,)):
            parent = _schema(operand, schema)
            child = mapping(parent, "properties").get(_unescaped(parent, name), parent.get("additionalProperties"))
            return mapping(child)
    return {}
