"""Whether a rule on changes passes an object that does not change.

A stored object is next written by whoever adds a label or removes a finalizer. The API server applies rules with
`oldSelf` to such a write, too (it ratchets only those without: k8s.io/apiextensions-apiserver, pkg/apiserver/
schema/cel/validation.go), so that `self.replicas > oldSelf.replicas` keeps an object from being deleted.

In the rule, the old value is replaced by the new one. Each of its conditions, as `has(self.a)` or `self.a == self.a`,
is then true, false or an error; the rule passes if it is true in all cases that may be. CEL's logic is followed
(https://github.com/google/cel-spec): `true || error` is true, and a field that is not there is an error. Left out of
account are texts of the formats date, date-time and duration that the API server takes, and CEL cannot read.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, Final, TypeAlias

from crdgen import cel
from crdgen.cel.tree import CelExpression, rewritten, walk
from crdgen.diff.change import required
from crdgen.escaping import escape
from crdgen.schema import EMBEDDED
from crdgen.schema.look import mapping

#: What conditions come to, by their texts: true, false, or None for an error.
_Outcomes: TypeAlias = Mapping[str, bool | None]

#: A rule of more conditions is not looked into.
_MOST_CONDITIONS: Final = 6
_SELF: Final = CelExpression("name", "self")
_EQUAL: Final = frozenset({"_==_", "_<=_", "_>=_"})
_COMPARISONS: Final = frozenset({*_EQUAL, "_!=_", "_<_", "_>_"})
_ORDERED: Final = frozenset({"integer", "number", "string"})
_LOGIC: Final = frozenset({"!_", "_&&_", "_||_", "_?_:_"})


def tree_of(rule: str, schema: Mapping[str, Any], *, root: bool, optional: bool) -> CelExpression | None:
    """Return the tree of a rule; None for one that does not compile, and without the extra `cel`."""
    whole = root or bool(schema.get(EMBEDDED))
    try:
        return cel.compiled(rule, dict(schema), root=whole, optional_old_self=optional).tree
    except (cel.CompilationError, cel.NotEvaluated, AttributeError, KeyError, TypeError, ValueError):
        return None  # a rule, or a schema, that the API server rejects, or no library


def passes_unchanged(tree: CelExpression, schema: Mapping[str, Any], *, optional: bool) -> bool:
    """Return whether a rule is sure to be true of a value that is as it was; `schema` is that of `self`."""
    if any({"self", "oldSelf"} & {*node.value} for node in walk(tree) if node.kind == "loop"):
        return False

    def unchanged(node: CelExpression) -> CelExpression:
        match node:
            case CelExpression("name", "oldSelf") if not optional:
                return _SELF
            case CelExpression("method", "hasValue", (CelExpression("name", "oldSelf"),)):
                return CelExpression("literal", True)
            case CelExpression("method", "value" | "orValue", (CelExpression("name", "oldSelf"), *_)):
                return _SELF
        return node

    conditions: dict[str, CelExpression] = {}
    rule = _logic(rewritten(tree, unchanged), conditions)
    if len(conditions) > _MOST_CONDITIONS:
        return False
    cases = (dict(zip(conditions, case, strict=True)) for case in product((True, False, None), repeat=len(conditions)))
    return all(
        _outcome(rule, case) is True
        for case in cases
        if all(_may_be(node, case[text], case, schema) for text, node in conditions.items())
    )


def _logic(node: CelExpression, conditions: dict[str, CelExpression]) -> CelExpression:
    """Return the rule with each condition as the name of an entry that it adds to `conditions`."""
    if node.kind == "call" and node.value in _LOGIC:
        return replace(node, parts=tuple(_logic(part, conditions) for part in node.parts))
    text = str(node)
    conditions[text] = node
    return CelExpression("name", text)


def _outcome(node: CelExpression, case: _Outcomes) -> bool | None:
    """Return what the rule, or a part of it, comes to in one case."""
    if node.kind == "name":
        return case[node.value]
    first, *others = [_outcome(part, case) for part in node.parts]
    if node.value == "!_":
        return None if first is None else not first
    if node.value == "_?_:_":
        return None if first is None else others[not first]
    decided: bool = node.value == "_||_"
    if decided in (first, *others):
        return decided
    return None if None in (first, *others) else not decided


def _may_be(node: CelExpression, outcome: bool | None, case: _Outcomes, schema: Mapping[str, Any]) -> bool:
    """Return whether a condition may have this outcome, given those of the others."""
    if outcome is None:
        return _type(node, schema) != "boolean" or not _is_safe(node, case, schema)
    match node:
        case CelExpression("literal", value):
            return outcome is value
        case CelExpression("has", name, (operand,)) if _is_safe(node, case, schema):
            return outcome or not _is_always(_schema(operand, schema), name)
        case CelExpression("call", function, (one, other)) if function in _COMPARISONS and one == other:
            is_ordered = function in {"_==_", "_!=_"} or _type(one, schema) in _ORDERED
            return not is_ordered or outcome is (function in _EQUAL)
    return True


def _is_safe(node: CelExpression, case: _Outcomes, schema: Mapping[str, Any]) -> bool:
    """Return whether the expression is sure to have a value."""
    match node:
        case CelExpression("literal") | CelExpression("name", "self"):
            return True
        case CelExpression("has", _, (operand,)):
            return _is_safe(operand, case, schema) and _type(operand, schema) == "object"
        case CelExpression("select", name, (operand,)):
            field = _schema(node, schema)
            # Where the schema is not known, the value may be null.
            tested = case.get(str(CelExpression("has", name, (operand,)))) is True and not field.get("nullable")
            is_there = _is_always(_schema(operand, schema), name) or (tested and bool(field.get("type")))
            return is_there and _is_safe(operand, case, schema)
        case CelExpression("call" | "method", "size", (value,)):
            return _type(value, schema) in {"array", "object", "string"} and _is_safe(value, case, schema)
        case CelExpression("call", function, parts) if function in _COMPARISONS:
            is_ordered = function in {"_==_", "_!=_"} or {_type(part, schema) for part in parts} <= _ORDERED
            return is_ordered and all(_is_safe(part, case, schema) for part in parts)
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
    properties = mapping(around, "properties")
    if name in properties and escape(name) == name:
        return name
    return next((plain for plain in properties if escape(plain) == name), name)


def _type(node: CelExpression, schema: Mapping[str, Any]) -> Any:
    """Return the JSON type of the expression's value; None where it is not known."""
    match node:
        case CelExpression("literal", value):
            return {bool: "boolean", int: "integer", float: "number", str: "string"}.get(type(value))
        case CelExpression("has") | CelExpression("call", "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_"):
            return "boolean"
        case CelExpression("call" | "method", "size"):
            return "integer"
    return _schema(node, schema).get("type")


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
