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
from itertools import product
from typing import Any, Final, TypeAlias

from crdgen import cel
from crdgen.cel.tree import CelExpression, rewritten, walk
from crdgen.diff.change import required
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

    rule = rewritten(tree, unchanged)
    conditions = {str(node): node for node in _conditions(rule)}
    if len(conditions) > _MOST_CONDITIONS:
        return False
    cases = (dict(zip(conditions, case, strict=True)) for case in product((True, False, None), repeat=len(conditions)))
    return all(
        _outcome(rule, case) is True
        for case in cases
        if all(_may_be(node, case[text], case, schema) for text, node in conditions.items())
    )


def _conditions(node: CelExpression) -> list[CelExpression]:
    if node.kind == "call" and node.value in _LOGIC:
        return [condition for part in node.parts for condition in _conditions(part)]
    return [node]


def _outcome(node: CelExpression, case: _Outcomes) -> bool | None:
    """Return what the rule comes to in one case."""
    if str(node) in case:
        return case[str(node)]
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
    match node:
        case CelExpression("literal", value):
            return outcome is value
        case CelExpression("has", name, (operand,)) if _is_safe(node, case, schema):
            return outcome is True or (outcome is False and not _is_always(_schema(operand, schema), name))
        case CelExpression("call", function, (one, other)) if function in _COMPARISONS and one == other:
            if function in {"_==_", "_!=_"} or _schema(one, schema).get("type") in _ORDERED:
                return outcome is (function in _EQUAL) or (outcome is None and not _is_safe(one, case, schema))
    return True


def _is_safe(node: CelExpression, case: _Outcomes, schema: Mapping[str, Any]) -> bool:
    """Return whether the expression is sure to have a value."""
    match node:
        case CelExpression("literal") | CelExpression("name", "self"):
            return True
        case CelExpression("has", _, (operand,)):
            return _is_safe(operand, case, schema) and _schema(operand, schema).get("type") == "object"
        case CelExpression("select", name, (operand,)):
            field = _schema(node, schema)
            # Where the schema is not known, the value may be null.
            tested = case.get(str(CelExpression("has", name, (operand,)))) is True and not field.get("nullable")
            is_there = _is_always(_schema(operand, schema), name) or (tested and bool(field.get("type")))
            return is_there and _is_safe(operand, case, schema)
    return False


def _is_always(around: Mapping[str, Any], name: str) -> bool:
    """Return whether the field is in every such object: it must be, or is filled in; null is as good as nothing."""
    field = mapping(around, "properties", name)
    if around.get("type") != "object" or not field or field.get("nullable"):
        return False
    return name in required(around) or field.get("default") is not None


def _schema(node: CelExpression, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a value that is a part of `self`; an empty one of any other."""
    match node:
        case CelExpression("name", "self"):
            return schema
        case CelExpression("select", name, (operand,)):
            around = _schema(operand, schema)
            return mapping(mapping(around, "properties").get(name, around.get("additionalProperties")))
    return {}
