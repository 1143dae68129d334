"""Whether a rule on changes passes an object that does not change, or any change.

A stored object is next written by whoever adds a label or removes a finalizer. The API server holds rules with
`oldSelf` against such a write, too (it ratchets only those without: k8s.io/apiextensions-apiserver, pkg/apiserver/
schema/cel/validation.go), so that `self.replicas > oldSelf.replicas` keeps an object from being deleted.

The tree of the rule is rewritten for an old value that is the new one, and then followed as far as simple logic goes.
What cannot be shown to be true is taken for false. Left out of account are texts of the formats date, date-time and
duration that the API server takes, and CEL cannot read.
"""

from collections.abc import Mapping
from typing import Any

from crdgen import cel
from crdgen.cel.tree import CelCall, CelList, Comprehension, Constant, Identifier, Node, walk
from crdgen.diff.logic import KnownBounds, holds, rewritten
from crdgen.schema import EMBEDDED

_SELF = Identifier("self")
_OLD = Identifier("oldSelf")


def tree_of(rule: str, schema: Mapping[str, Any], *, root: bool, optional: bool) -> Node | None:
    """Return the tree of a rule; None for one that does not compile, and without the extra `cel`."""
    whole = root or bool(schema.get(EMBEDDED))
    try:
        return cel.compiled(rule, dict(schema), root=whole, optional_old_self=optional).tree
    except (cel.CompilationError, cel.NotEvaluated, AttributeError, KeyError, TypeError, ValueError):
        return None  # a rule, or a schema, that the API server refuses, or no library


def passes_unchanged(tree: Node, schema: Mapping[str, Any], *, optional: bool) -> bool:
    """Return whether a rule is sure to be true of a value that is as it was; `schema` is that of `self`."""
    within = [node for node in walk(tree) if isinstance(node, Comprehension)]
    if any({"self", "oldSelf"} & {*_bound(node)} for node in within):
        return False
    same = rewritten(tree, _of_optional if optional else _of_plain)
    return holds(same, KnownBounds({"self": schema}))


def passes_changed(tree: Node, schema: Mapping[str, Any]) -> bool:
    """Return whether a rule with optionalOldSelf is certainly true for all values with an old value."""
    has_value = CelCall(_OLD, "hasValue", ())
    there = rewritten(tree, lambda part: Constant(True) if part == has_value else part)
    return holds(there, KnownBounds({"self": schema}))


def _bound(loop: Comprehension) -> tuple[str, ...]:
    """Return the names that mean something else within a loop."""
    return loop.variable, loop.second, loop.accumulator


def _of_plain(node: Node) -> Node:
    return _SELF if node == _OLD else node


def _of_optional(node: Node) -> Node:  # noqa: PLR0911 - one for each form
    """Return a node that means the same where the old value is there, and is the new one."""
    match node:
        case CelCall(target, "hasValue", ()) if target == _OLD:
            return Constant(True)
        case CelCall(target, "value" | "orValue", _) if target == _OLD:
            return _SELF
        case CelCall(None, "_?._" | "_[?_]", (old, key)) if old == _OLD:
            return CelCall(None, node.function, (_SELF, key))
        case CelCall(CelCall(None, "optional.of", (inner,)), "value" | "orValue", _):
            return inner
        case CelCall(None, "_?_:_", (Constant(True), chosen, _)):
            return chosen
        case Comprehension(range=CelList(())) if node.initial == _SELF:
            # What optMap becomes: a name for the old value.
            name = Identifier(node.accumulator)
            hidden = {bound for part in walk(node.result) if isinstance(part, Comprehension) for bound in _bound(part)}
            return node if name.name in hidden else rewritten(node.result, lambda part: _SELF if part == name else part)
        case _:
            return node
