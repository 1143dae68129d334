"""Changes of fields, required fields and defaults."""

from collections.abc import Iterator
from typing import Final

from crdgen.diff.change import REJECTS, Break, Change, SchemaPair, checks_whole_value, required
from crdgen.diff.rules import is_strict
from crdgen.schema import INT_OR_STRING, PRESERVE
from crdgen.schema.look import canonical, mapping, shown

_FIX: Final = "keep the default in this version, and change it in a new one"


def defaults(pair: SchemaPair) -> Iterator[Change]:
    """Yield the change of a default; null counts as no default.

    Stored objects keep their values. Manifests without the field get the new default, and so do objects that were
    stored without the field.
    """
    old, new = pair.old.get("default"), pair.new.get("default")
    if canonical(old) == canonical(new):
        return
    if old is None:
        yield _new_default(pair, shown(new))
    elif new is None:
        what = f"default {shown(old)} is removed: manifests without the field mean something else, or are rejected"
        yield pair.change(what, *REJECTS, fix="keep the default")
    else:
        what = f"default {shown(old)} is now {shown(new)}: manifests without the field mean something else"
        yield pair.change(what, Break.CLIENTS, fix=_FIX)


def _new_default(pair: SchemaPair, value: str) -> Change:
    if pair.in_checked_value or is_strict(pair.new):
        what = f"default {value} is new, and affects a rule, branch or bound of the field or of a parent"
        return pair.change(what, *REJECTS, fix="add no default")
    return pair.change(f"default {value} is new; stored objects without the field are read with the default")


_CONVERT: Final = "add a version with a conversion webhook that moves the data, and keep this one as it is"
_TAKES_ANYTHING: Final = frozenset({PRESERVE, "description", "title", "example", "externalDocs", "nullable"})


def fields(pair: SchemaPair) -> Iterator[Change]:
    """Yield fields that are removed, new, or change whether they are required."""
    yield from _removed(pair)
    yield from _added(pair)
    yield from _required(pair)


def _removed(pair: SchemaPair) -> Iterator[Change]:
    new = mapping(pair.new, "properties")
    removed = [name for name in mapping(pair.old, "properties") if name not in new]
    if removed and pair.new.get(PRESERVE):
        yield pair.change(f"{', '.join(removed)}: no longer described; values are kept unchecked")
        return
    for name in removed:
        what = "the field is removed: stored values are pruned at the next write, and strict clients are rejected"
        yield _field_change(pair, name, what, *REJECTS, fix=f"keep it and describe it as deprecated; or {_CONVERT}")


def _added(pair: SchemaPair) -> Iterator[Change]:
    old = mapping(pair.old, "properties")
    must = required(pair.new)
    was_open = pair.old.get(PRESERVE) or pair.old.get("additionalProperties")
    for name in mapping(pair.new, "properties"):
        if name in old:
            continue
        schema = mapping(pair.new, "properties", name)
        optional = ", and do not require it" if name in must else ""
        takes_anything = schema.get(PRESERVE) and not schema.get(INT_OR_STRING) and schema.keys() <= _TAKES_ANYTHING
        if was_open and not takes_anything:
            what = "the field is new; unknown fields were kept here, so that stored values may not fit it"
            yield _field_change(pair, name, what, *REJECTS, fix=f"leave it open, with {PRESERVE} and no type{optional}")
        elif "default" in schema and (_is_checked_whole(pair) or is_strict(schema)):
            what = "the field is new, and its default counts in a rule or bound of it or of the object around it"
            yield _field_change(pair, name, what, *REJECTS, fix=f"add it without a default{optional}")
        elif name in must and schema.get("default") is None:
            what = "the field is new and required: stored objects and clients do not have it"
            fix = "do not require it" if _is_checked_whole(pair) else "give it a default, or do not require it"
            yield _field_change(pair, name, what, *REJECTS, fix=fix)
        else:
            yield _field_change(pair, name, "the field is new")


def _required(pair: SchemaPair) -> Iterator[Change]:
    was, now = required(pair.old), required(pair.new)
    both = mapping(pair.old, "properties").keys() & mapping(pair.new, "properties").keys()
    for name in sorted(now - was):
        schema = mapping(pair.new, "properties", name)
        if name not in both and name in mapping(pair.new, "properties"):
            continue  # reported as a new field
        if schema.get("default") is not None:
            yield _field_change(pair, name, "is now required, and has a default")
        else:
            default = "give it a default; or " if name in both and not _is_checked_whole(pair) else ""
            yield _field_change(
                pair, name, "is now required", *REJECTS, fix=default + pair.for_new("do not require it")
            )
    for name in sorted((was - now) & both):
        yield _field_change(pair, name, "is no longer required; who reads it may not find it")


def _is_checked_whole(pair: SchemaPair) -> bool:
    """Return whether another field of an object may violate a check of the object as a whole."""
    return pair.in_checked_value or checks_whole_value(pair.new)


def _field_change(pair: SchemaPair, name: str, what: str, *breaks: Break, fix: str = "") -> Change:
    return pair.change(what, *breaks, fix=fix).below(f".{name}")
