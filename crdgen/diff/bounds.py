"""Changes of bounds of numbers, strings, lists and maps."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from crdgen.diff.change import REJECTS, Change, SchemaPair
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.schema.look import number, shown

#: Bounds: the keyword, the keyword that makes it exclusive, its sign (1 for minimum), and the value if it is absent.
_BOUNDS: Final = (
    *((word, "", 1, 0) for word in ("minLength", "minItems", "minProperties")),
    *((word, "", -1, None) for word in ("maxLength", "maxItems", "maxProperties")),
    ("minimum", "exclusiveMinimum", 1, None),
    ("maximum", "exclusiveMaximum", -1, None),
)
_Bound: TypeAlias = tuple[float, bool] | None


def bounds(pair: SchemaPair) -> Iterator[Change]:
    """Yield the bounds that are tighter or looser."""
    for keyword, exclusive, sign, absent in _BOUNDS:
        old, new = (_bound(schema, keyword, exclusive) for schema in (pair.old, pair.new))
        if old == new:
            continue
        was, now = (absent if bound is None else sign * bound[0] for bound in (old, new))
        is_now_exclusive = bool(new and new[1] and not (old and old[1]))
        # Integers are compared with the whole part of a bound: an exclusive bound may be tighter though it is looser by
        # less than 2.
        is_tighter = now is not None and (
            was is None or now > was or (is_now_exclusive and (now == was or now + 2 > was))
        )
        yield _change(pair, keyword, old, new, tighter=is_tighter or _is_unfit(pair.new, keyword))
    old, new = (_bound(schema, "multipleOf", "") for schema in (pair.old, pair.new))
    if old != new:
        yield _change(pair, "multipleOf", old, new, tighter=new is not None)


def _bound(schema: Mapping[str, Any], keyword: str, exclusive: str) -> _Bound:
    bound = number(schema.get(keyword))
    return None if bound is None else (bound, schema.get(exclusive) is True)


def _is_unfit(schema: Mapping[str, Any], keyword: str) -> bool:
    """Return whether the bound is not a value of the type, so that the schema rejects all values."""
    type_keywords = {key: schema[key] for key in ("type", "format") if isinstance(schema.get(key), str)}
    bound = number(schema.get(keyword))
    return bound is not None and bool(unfit_bounds(type_keywords | {keyword: bound}))


def _change(pair: SchemaPair, keyword: str, old: _Bound, new: _Bound, *, tighter: bool) -> Change:
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
