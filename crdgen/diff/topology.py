"""Changes of list types and map types, by which server-side apply merges."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import Break, Change
from crdgen.diff.pair import SchemaPair
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE
from crdgen.schema.look import words

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
            twice = "two items that are the same" if now == "set" else "two items of the same key"
            text = f"{what}: stored lists with {twice} are rejected, and their items have no owner"
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
