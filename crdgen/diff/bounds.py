"""Changes of bounds of numbers, strings, lists and maps."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

from crdgen.diff.change import REFUSES, Change
from crdgen.diff.implied import integers, lengths, most_fields, passes, scalar
from crdgen.diff.pair import SchemaPair, required
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.schema.look import mapping, number, shown

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
    yield from _multiple(pair)


def _count(pair: SchemaPair, keyword: str, *, sign: int, absent: int | None) -> Iterator[Change]:
    old, new = number(pair.old.get(keyword)), number(pair.new.get(keyword))
    was, now = (absent if old is None else old), (absent if new is None else new)
    if was != now:
        tighter = now is not None and (was is None or sign * now > sign * was)
        yield _told(pair, keyword, old, new, tighter=tighter, implied=tighter and _holds(pair, keyword, now or 0))
    elif old != new:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")


def _holds(pair: SchemaPair, keyword: str, bound: float) -> bool:
    """Return whether what was taken is within a bound for other reasons."""
    match keyword:
        case "minLength" | "maxLength":
            least, most = lengths(pair.old)
            within = least >= bound if keyword == "minLength" else most <= bound
            return within or passes(pair.old, pair.new, keyword)
        case "minProperties":
            return len(required(pair.old) & mapping(pair.new, "properties").keys()) >= bound
        case "maxProperties":
            return most_fields(pair.new, root=not pair.path) <= bound
        case _:
            return False


def _number(pair: SchemaPair, keyword: str, exclusive: str, *, sign: int) -> Iterator[Change]:
    old, new = _with(pair.old, keyword, exclusive), _with(pair.new, keyword, exclusive)
    if old == new:
        return
    was, now = (_limit(schema, keyword, exclusive, sign) for schema in (pair.old, pair.new))
    tighter = now is not None and (was is None or any(one > other for one, other in zip(now, was, strict=True)))
    if keyword in unfit_bounds(scalar(pair.new)) and not passes(pair.old, pair.new, keyword):
        what = f"{keyword} {_shown(new)} is no {pair.new.get('type')} that the API server can store: no value is valid"
        yield pair.change(what, *REFUSES, fix=_fix(pair, old))
    elif was == now:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")
    else:
        implied = tighter and not _refuses(pair, keyword, exclusive, sign)
        yield _told(pair, keyword, old, new, tighter=tighter, implied=implied)


def _limit(schema: Mapping[str, Any], keyword: str, exclusive: str, sign: int) -> tuple[tuple[float, bool], ...] | None:
    """Return what grows with tightness: for fractions, and for integers, which are held against the whole part."""
    bound = number(schema.get(keyword))
    if bound is None:
        return None
    beyond = schema.get(exclusive) is True
    whole = sign * _whole(bound) + beyond, False
    # Above 3, an integer is at least 4.
    return (whole, whole) if schema.get("type") == "integer" else ((sign * bound, beyond), whole)


def _refuses(pair: SchemaPair, keyword: str, exclusive: str, sign: int) -> bool:
    """Return whether a tighter bound may refuse what was taken, which the type or another keyword may bound already."""
    if passes(pair.old, pair.new, keyword, exclusive):
        return False
    if pair.old.get("type") != "integer" or keyword not in scalar(pair.new):
        return True
    low, high = integers(pair.old)
    least, most = integers({key: pair.new[key] for key in (keyword, exclusive) if key in pair.new})
    return low < least if sign > 0 else high > most


def _with(schema: Mapping[str, Any], keyword: str, exclusive: str) -> Any:
    bound = number(schema.get(keyword))
    return f"{bound} (exclusive)" if bound is not None and schema.get(exclusive) is True else bound


def _whole(bound: float) -> float:
    return int(bound) if isinstance(bound, int) or isfinite(bound) else bound


def _multiple(pair: SchemaPair) -> Iterator[Change]:
    old, new = (number(schema.get("multipleOf")) for schema in (pair.old, pair.new))
    if old == new:
        return
    implied = passes(pair.old, pair.new, "multipleOf") or _divides(pair, old or 1, new or 1)
    yield _told(pair, "multipleOf", old, new, tighter=new is not None, implied=implied)


def _divides(pair: SchemaPair, old: float, new: float) -> bool:
    """Return whether all multiples of one number are multiples of another, for the API server's way of counting.

    Of fractions, and of what a float does not hold exactly, it takes no sure view.
    """
    if pair.old.get("type") != "integer" or pair.new.get("type") != "integer":
        return False
    whole = all(isinstance(one, int) or one.is_integer() for one in (old, new))
    return whole and new > 0 and old % new == 0


def _told(pair: SchemaPair, keyword: str, old: Any, new: Any, *, tighter: bool, implied: bool) -> Change:
    if old is None:
        what = f"{keyword} {_shown(new)} is new"
    elif new is None:
        what = f"{keyword} {_shown(old)} is removed"
    else:
        what = f"{keyword} {_shown(old)} is now {_shown(new)}"
    if implied:
        return pair.change(f"{what}, which accepts all previously valid values")
    if tighter:
        return pair.change(f"{what}: previously valid values are rejected", *REFUSES, fix=_fix(pair, old))
    return pair.change(what)


def _fix(pair: SchemaPair, old: Any) -> str:
    return pair.for_new("add no bound" if old is None else "keep the bound")


def _shown(bound: Any) -> str:
    return bound if isinstance(bound, str) else "(none)" if bound is None else shown(bound)
