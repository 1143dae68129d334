"""Changes of CEL rules."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from crdgen.cel import available, uses_old_self
from crdgen.cel.tree import CelExpression
from crdgen.diff.change import REJECTS, Break, Change, SchemaPair
from crdgen.diff.unchanged import passes_unchanged, tree_of
from crdgen.schema import VALIDATIONS
from crdgen.schema.look import canonical, children, members, shown

#: A rule's text, and whether it holds for new objects, too (optionalOldSelf).
_Key: TypeAlias = tuple[str, bool]

_NEW_VERSION = "put it into a new version, whose clients know it"
_AROUND = (
    "put it on the list around it, where rules know oldSelf: `oldSelf.hasValue() || self.all(item, …)`, with "
    "optionalOldSelf, breaks clients only"
)


def rules(pair: SchemaPair) -> Iterator[Change]:
    """Yield rules that are new or gone; one that is only written otherwise is neither."""
    was, now = _rules(pair.old), _rules(pair.new)
    gone = {key: _tree(pair, key) for key in was if key not in now}
    for key, rule in now.items():
        text, optional = key
        if key in was:
            if canonical(was[key]) != canonical(rule):
                yield pair.change(f"rule {shown(text)} has another message, reason or fieldPath")
            continue
        tree = _tree(pair, key)
        equal = (one for one, other in gone.items() if one[1] == optional and other and str(other) == str(tree))
        same = next(equal, None)
        if same is not None:
            del gone[same]
            yield pair.change(f"rule {shown(same[0])} is now written {shown(text)}, which means the same")
            continue
        twin = text, not optional
        verb = "now holds also for new objects" if optional else "now holds for changes only"
        yield _new(pair, key, tree, verb if twin in gone else "is new")
        gone.pop(twin, None)
    for text, _ in gone:
        yield pair.change(f"rule {shown(text)} is removed")


def _rules(schema: Mapping[str, Any]) -> dict[_Key, Mapping[str, Any]]:
    """Return the rules by what they judge; what they say to the user is no part of that."""
    found = (rule for rule in members(schema.get(VALIDATIONS)) if isinstance(rule, Mapping))
    return {
        (rule["rule"], bool(rule.get("optionalOldSelf"))): rule for rule in found if isinstance(rule.get("rule"), str)
    }


def _tree(pair: SchemaPair, key: _Key) -> CelExpression | None:
    """Return what the rule says of the field as it is now."""
    return tree_of(key[0], pair.new, root=not pair.path, optional=key[1])


def _new(pair: SchemaPair, key: _Key, tree: CelExpression | None, verb: str) -> Change:
    """Return what a new rule breaks.

    One that passes whatever does not change passes what is stored: `self == oldSelf`, and `oldSelf.hasValue() || …`
    with optionalOldSelf. It breaks clients only.
    """
    text, optional = key
    what = f"rule {shown(text)} {verb}"
    if not uses_old_self(text):
        what = f"{what}: previously valid objects may be rejected"
        fix = "accept stored objects: `oldSelf.hasValue() || (…)`, with optionalOldSelf, breaks clients only"
        return pair.change(what, *REJECTS, fix=fix if pair.traced else _AROUND)
    if tree is None or not pair.traced or not passes_unchanged(tree, pair.new, optional=optional):
        unread = "" if available() else " (the extra `cel` looks into the rule)"
        why = "as where it is strict, or reads a field that is not there"
        what = f"{what}: previously valid updates may be rejected, even if the value does not change, {why}{unread}"
        before = "oldSelf.hasValue() && self == oldSelf.value()" if optional else "self == oldSelf"
        fix = f"accept unchanged values: `{before} || (…)` breaks clients only"
        return pair.change(what, *REJECTS, fix=fix if pair.traced else _AROUND)
    rejected = "new objects and changes" if optional else "changes"
    what = f"{what}: {rejected} that were allowed may be rejected; stored objects stay valid"
    return pair.change(what, Break.CLIENTS, fix=_NEW_VERSION)


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether a rule on changes, of the value or of what is in it, may reject a value that does not change."""
    for text, optional in _rules(schema):
        tree = tree_of(text, schema, root=False, optional=optional)
        if uses_old_self(text) and (tree is None or not passes_unchanged(tree, schema, optional=optional)):
            return True
    return any(is_strict(child) for _, child in children(schema))
