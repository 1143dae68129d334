"""Changes of bounds of numbers, strings, lists and maps."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from crdgen.diff.change import REJECTS, Change, SchemaPair
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.schema.look import number, shown

#: Each bound, with the word that makes it exclusive, which way it bounds, and what its absence means.
_BOUNDS: Final = (
    *((word, "", 1, 0) for word in ("minLength", "minItems", "minProperties")),
    *((word, "", -1, None) for word in ("maxLength", "maxItems", "maxProperties")),
    ("minimum", "exclusiveMinimum", 1, None),
    ("maximum", "exclusiveMaximum", -1, None),
)
_Bound: TypeAlias = tuple[float, bool] | None


def bounds(pair: SchemaPair) -> Iterator[Change]:
    """Yield each bound that is tighter or looser."""
    for keyword, exclusive, sign, absent in _BOUNDS:
        old, new = (_bound(schema, keyword, exclusive) for schema in (pair.old, pair.new))
        if old == new:
            continue
        was, now = (absent if one is None else sign * one[0] for one in (old, new))
        is_shut = bool(new and new[1] and not (old and old[1]))
        # Integers are held against the whole part of a bound, so that one near the old one is tighter where it shuts.
        more = now is not None and (was is None or now > was or (is_shut and (now == was or now + 2 > was)))
        yield _changed(pair, keyword, old, new, tighter=more or _is_unfit(pair.new, keyword))
    old, new = (_bound(schema, "multipleOf", "") for schema in (pair.old, pair.new))
    if old != new:
        yield _changed(pair, "multipleOf", old, new, tighter=new is not None)


def _bound(schema: Mapping[str, Any], keyword: str, exclusive: str) -> _Bound:
    bound = number(schema.get(keyword))
    return None if bound is None else (bound, schema.get(exclusive) is True)


def _is_unfit(schema: Mapping[str, Any], keyword: str) -> bool:
    """Return whether the bound is no value of the type, so that it rejects all of them."""
    typed = {key: schema[key] for key in ("type", "format") if isinstance(schema.get(key), str)}
    bound = number(schema.get(keyword))
    return bound is not None and bool(unfit_bounds(typed | {keyword: bound}))


def _changed(pair: SchemaPair, keyword: str, old: _Bound, new: _Bound, *, tighter: bool) -> Change:
    if old is None:
        what = f"{keyword} {_shown(new)} is new"
    else:
        what = f"{keyword} {_shown(old)} is {'removed' if new is None else f'now {_shown(new)}'}"
    if not tighter:
        return pair.change(what)
    fix = pair.for_new("add no bound" if old is None else "keep the bound")
    return pair.change(f"{what}: previously valid values are rejected", *REJECTS, fix=fix)


def _shown(bound: _Bound) -> str:
    return f"{shown(bound[0])}{' (exclusive)' if bound[1] else ''}" if bound else "(none)"
