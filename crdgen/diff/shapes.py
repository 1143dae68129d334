"""Changes of types, of preserved fields, and of list and map types, by which server-side apply merges."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import EVERYTHING, REJECTS, Break, Change, SchemaPair
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE, TYPES
from crdgen.schema.look import mapping, words

_ALL: Final = frozenset(TYPES)
_NEW_FIELD: Final = "keep the field and add one of another name, or add a version with a conversion webhook"


def incompatible(pair: SchemaPair) -> Iterator[Change]:
    """Yield a change of type that rejects old values; schemas below it are then not compared."""
    if not _accepted_types(pair.old) <= _accepted_types(pair.new):
        what = f"{_name(pair.old)} is now {_name(pair.new)}"
        yield pair.change(what, *EVERYTHING, fix=_NEW_FIELD)
    elif _object_form(pair.old) != _object_form(pair.new) and not _keeps_fields(pair):
        old, new = _OBJECT_FORMS[_object_form(pair.old)], _OBJECT_FORMS[_object_form(pair.new)]
        what = f"{old} is now {new}: undeclared fields are pruned"
        yield pair.change(what, *EVERYTHING, fix=f"{_NEW_FIELD}, or set {PRESERVE}")


def shapes(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of type that accept all old values."""
    same = _name(pair.old) == _name(pair.new)
    if not same:
        what = f"{_name(pair.old)} is now {_name(pair.new)}; typed clients cannot read other values"
        yield pair.change(what, Break.CLIENTS, fix="add a field of the wider type, and keep this one")
    was, now = bool(pair.old.get(PRESERVE)), bool(pair.new.get(PRESERVE))
    if now and not was:
        if same:
            yield pair.change("unknown fields are now kept")
    elif was and not now:
        what = "unknown fields are now pruned: what stored objects have there is lost"
        yield pair.change(what, *REJECTS, fix=f"keep {PRESERVE}")
    elif _object_form(pair.old) != _object_form(pair.new):
        yield pair.change(f"{_OBJECT_FORMS[_object_form(pair.old)]} is now {_OBJECT_FORMS[_object_form(pair.new)]}")
    for keyword in ("items", EMBEDDED):
        has, had = bool(pair.new.get(keyword)), bool(pair.old.get(keyword))
        if has != had:
            what = f"{keyword} is {'new' if has else 'removed'}: stored values may be invalid, or lose fields"
            yield pair.change(what, *REJECTS, fix=f"leave {keyword} as it was")


def _accepted_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the accepted JSON types; integers are numbers."""
    kind = schema.get("type")
    if schema.get(INT_OR_STRING):
        return frozenset({"integer", "string"})
    if kind == "number":
        return frozenset({"integer", "number"})
    return frozenset({kind}) if isinstance(kind, str) and kind in _ALL else _ALL


def _name(schema: Mapping[str, Any]) -> str:
    if schema.get(INT_OR_STRING):
        return "integer or string"
    kind = schema.get("type")
    return kind if isinstance(kind, str) and kind in _ALL else "anything"


_OBJECT_FORMS: Final = {
    "named": "an object of named fields",
    "map": "a map",
    "open map": "a map of anything",
    "open": "an open object",
    "": "no object",
}


def _object_form(schema: Mapping[str, Any]) -> str:
    """Return which fields an object may have, as a key of `_OBJECT_FORMS`."""
    if "object" not in _accepted_types(schema):
        return ""
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        return "map"
    if schema.get(PRESERVE):
        return "open"
    return "open map" if extra else "named"


def _keeps_fields(pair: SchemaPair) -> bool:
    """Return whether the new form keeps all fields that the old form keeps."""
    forms = _object_form(pair.old), _object_form(pair.new)
    if forms in {("named", "open"), ("map", "open"), ("open map", "open"), ("open", "named")}:
        return True  # `shapes` reports objects that are no longer open
    if forms == ("map", "open map"):
        return _accepted_types(mapping(pair.old, "additionalProperties")).isdisjoint({"array", "object"})
    return "" in forms


_FIX: Final = "keep it, or add a field of another name: field ownership of stored objects cannot be migrated"


def topology(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of list types, map keys and map types; absent means atomic lists and granular maps.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/, "Compatibility across topology changes".
    """
    was, now = _type(pair.old, LIST_TYPE, "atomic"), _type(pair.new, LIST_TYPE, "atomic")
    if was != now:
        what = f"list type {was} is now {now}"
        if now == "atomic":
            yield pair.change(f"{what}: owners of items become owners of the whole list", Break.APPLY, fix=_FIX)
        else:
            duplicates = "two items that are the same" if now == "set" else "two items of the same key"
            text = f"{what}: stored lists with {duplicates} are rejected, and their items have no owner"
            yield pair.change(text, Break.STORED, Break.CLIENTS, Break.APPLY, fix=_FIX)
    elif now == "map":
        yield from _keys(pair)
    was, now = _type(pair.old, MAP_TYPE, "granular"), _type(pair.new, MAP_TYPE, "granular")
    if was != now:
        yield pair.change(f"map type {was} is now {now}", Break.APPLY, fix=_FIX)


def _keys(pair: SchemaPair) -> Iterator[Change]:
    was, now = words(pair.old.get(LIST_MAP_KEYS)), words(pair.new.get(LIST_MAP_KEYS))
    if set(was) == set(now):
        return
    what = f"map keys {', '.join(was)} are now {', '.join(now)}"
    if set(was) < set(now):
        yield pair.change(f"{what}: items are merged differently", Break.APPLY, fix=_FIX)
    else:
        text = f"{what}: distinct items may become duplicates, which are rejected"
        yield pair.change(text, Break.STORED, Break.CLIENTS, Break.APPLY, fix=_FIX)


def _type(schema: Mapping[str, Any], keyword: str, absent: str) -> str:
    value = schema.get(keyword)
    return value if isinstance(value, str) else absent
