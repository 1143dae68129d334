"""Changes of bounds of numbers, strings, lists and maps."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

from crdgen.diff.change import REJECTS, Change, SchemaPair
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.schema.look import number, shown

_LEAST: Final = ("minLength", "minItems", "minProperties")
_MOST: Final = ("maxLength", "maxItems", "maxProperties")


def bounds(pair: SchemaPair) -> Iterator[Change]:
    """Yield each bound that is tighter or looser."""
    for keyword in _LEAST:
        yield from _count(pair, keyword, sign=1, absent=0)
    for keyword in _MOST:
        yield from _count(pair, keyword, sign=-1, absent=None)
    yield from _number(pair, "minimum", "exclusiveMinimum", sign=1)
    yield from _number(pair, "maximum", "exclusiveMaximum", sign=-1)
    old, new = (number(schema.get("multipleOf")) for schema in (pair.old, pair.new))
    if old != new:
        yield _changed(pair, "multipleOf", old, new, tighter=new is not None and not _divides(pair, old or 1, new))


def _count(pair: SchemaPair, keyword: str, *, sign: int, absent: int | None) -> Iterator[Change]:
    old, new = number(pair.old.get(keyword)), number(pair.new.get(keyword))
    was, now = (absent if old is None else old), (absent if new is None else new)
    if was != now:
        yield _changed(pair, keyword, old, new, tighter=now is not None and (was is None or sign * now > sign * was))
    elif old != new:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")


def _number(pair: SchemaPair, keyword: str, exclusive: str, *, sign: int) -> Iterator[Change]:
    old, new = _with(pair.old, keyword, exclusive), _with(pair.new, keyword, exclusive)
    if old == new:
        return
    was, now = (_limit(schema, keyword, exclusive, sign) for schema in (pair.old, pair.new))
    if _is_unfit(pair.new, keyword):
        what = f"{keyword} {_shown(new)} is no {pair.new.get('type')} that the API server can store: no value is valid"
        yield pair.change(what, *REJECTS, fix=_fix(pair, old))
    elif was == now:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")
    else:
        tighter = now is not None and (was is None or any(one > other for one, other in zip(now, was, strict=True)))
        yield _changed(pair, keyword, old, new, tighter=tighter)


def _is_unfit(schema: Mapping[str, Any], keyword: str) -> bool:
    """Return whether the bound is no value of the type, so that it rejects all of them."""
    bound = number(schema.get(keyword))
    if bound is None or not _is_finite(bound):
        return False
    typed = {key: schema[key] for key in ("type", "format") if isinstance(schema.get(key), str)}
    return bool(unfit_bounds(typed | {keyword: bound}))


def _limit(schema: Mapping[str, Any], keyword: str, exclusive: str, sign: int) -> tuple[tuple[float, bool], ...] | None:
    """Return what grows with tightness: for fractions, and for integers, which are held against the whole part."""
    bound = number(schema.get(keyword))
    if bound is None:
        return None
    beyond = schema.get(exclusive) is True
    whole = sign * (int(bound) if _is_finite(bound) else bound) + beyond, False
    # Above 3, an integer is at least 4.
    return (whole, whole) if schema.get("type") == "integer" else ((sign * bound, beyond), whole)


def _with(schema: Mapping[str, Any], keyword: str, exclusive: str) -> Any:
    bound = number(schema.get(keyword))
    return f"{bound} (exclusive)" if bound is not None and schema.get(exclusive) is True else bound


def _is_finite(bound: float) -> bool:
    return isinstance(bound, int) or isfinite(bound)


def _divides(pair: SchemaPair, old: float, new: float) -> bool:
    """Return whether all multiples of one whole number are multiples of another; of fractions, nothing is sure."""
    typed = pair.old.get("type") == pair.new.get("type") == "integer"
    return typed and all(isinstance(one, int) or one.is_integer() for one in (old, new)) and new > 0 and old % new == 0


def _changed(pair: SchemaPair, keyword: str, old: Any, new: Any, *, tighter: bool) -> Change:
    if old is None:
        what = f"{keyword} {_shown(new)} is new"
    elif new is None:
        what = f"{keyword} {_shown(old)} is removed"
    else:
        what = f"{keyword} {_shown(old)} is now {_shown(new)}"
    if tighter:
        return pair.change(f"{what}: previously valid values are rejected", *REJECTS, fix=_fix(pair, old))
    return pair.change(what)


def _fix(pair: SchemaPair, old: Any) -> str:
    return pair.for_new("add no bound" if old is None else "keep the bound")


def _shown(bound: Any) -> str:
    return bound if isinstance(bound, str) else "(none)" if bound is None else shown(bound)
