"""Changes of CEL rules."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from crdgen.cel import available, uses_old_self
from crdgen.cel.tree import CelExpression
from crdgen.diff.change import REJECTS, Break, Change, SchemaPair
from crdgen.diff.unchanged import passes_unchanged, tree_of
from crdgen.schema import VALIDATIONS
from crdgen.schema.look import canonical, children, members, shown

#: A rule's text, and its optionalOldSelf: whether it also applies to new objects.
_Key: TypeAlias = tuple[str, bool]

_NEW_VERSION = "put it into a new version, whose clients know it"
_USE_PARENT = (
    "put it on the list around it, where rules know oldSelf: `oldSelf.hasValue() || self.all(item, …)`, with "
    "optionalOldSelf, breaks clients only"
)


def rules(pair: SchemaPair) -> Iterator[Change]:
    """Yield rules that are new, removed or rewritten with the same meaning."""
    was, now = _rules(pair.old), _rules(pair.new)
    removed = {key: _tree(pair, key) for key in was if key not in now}
    for key, rule in now.items():
        text, optional = key
        if key in was:
            if canonical(was[key]) != canonical(rule):
                yield pair.change(f"rule {shown(text)} has another message, reason or fieldPath")
            continue
        tree = _tree(pair, key)
        equal_keys = (
            old_key
            for old_key, old_tree in removed.items()
            if old_key[1] == optional and old_tree and str(old_tree) == str(tree)
        )
        equal_key = next(equal_keys, None)
        if equal_key is not None:
            del removed[equal_key]
            yield pair.change(f"rule {shown(equal_key[0])} is now written {shown(text)}, which means the same")
            continue
        toggled = text, not optional
        verb = "now holds also for new objects" if optional else "now holds for changes only"
        yield _new(pair, key, tree, verb if toggled in removed else "is new")
        removed.pop(toggled, None)
    for text, _ in removed:
        yield pair.change(f"rule {shown(text)} is removed")


def _rules(schema: Mapping[str, Any]) -> dict[_Key, Mapping[str, Any]]:
    """Return the rules by text and optionalOldSelf, without their messages."""
    rules = (rule for rule in members(schema.get(VALIDATIONS)) if isinstance(rule, Mapping))
    return {
        (rule["rule"], bool(rule.get("optionalOldSelf"))): rule for rule in rules if isinstance(rule.get("rule"), str)
    }


def _tree(pair: SchemaPair, key: _Key) -> CelExpression | None:
    """Return the tree of a rule, compiled against the new schema."""
    return tree_of(key[0], pair.new, root=pair.root, optional=key[1])


def _new(pair: SchemaPair, key: _Key, tree: CelExpression | None, verb: str) -> Change:
    """Return the change by a new rule.

    A rule that accepts all unchanged values accepts stored objects and only breaks clients: `self == oldSelf`, and
    `oldSelf.hasValue() || …` with optionalOldSelf.
    """
    text, optional = key
    what = f"rule {shown(text)} {verb}"
    if not uses_old_self(text):
        what = f"{what}: previously valid objects may be rejected"
        fix = "accept stored objects: `oldSelf.hasValue() || (…)`, with optionalOldSelf, breaks clients only"
        return pair.change(what, *REJECTS, fix=fix if pair.has_old_self else _USE_PARENT)
    if tree is None or not pair.has_old_self or not passes_unchanged(tree, pair.new, optional=optional):
        no_library = "" if available() else " (the extra `cel` looks into the rule)"
        why = "for example if the rule is strict, or reads an absent field"
        what = f"{what}: previously valid updates may be rejected, even if the value does not change, {why}{no_library}"
        before = "oldSelf.hasValue() && self == oldSelf.value()" if optional else "self == oldSelf"
        fix = f"accept unchanged values: `{before} || (…)` breaks clients only"
        return pair.change(what, *REJECTS, fix=fix if pair.has_old_self else _USE_PARENT)
    rejected = "new objects and changes" if optional else "changes"
    what = f"{what}: {rejected} that were allowed may be rejected; stored objects stay valid"
    return pair.change(what, Break.CLIENTS, fix=_NEW_VERSION)


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether a transition rule of a value, or of a value inside, may reject a value that does not change."""
    for text, optional in _rules(schema):
        tree = tree_of(text, schema, root=False, optional=optional)
        if uses_old_self(text) and (tree is None or not passes_unchanged(tree, schema, optional=optional)):
            return True
    return any(is_strict(child) for _, child in children(schema))
