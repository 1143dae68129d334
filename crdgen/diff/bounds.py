"""Bounds of numbers, texts, lists and maps."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import REFUSES, Change
from crdgen.diff.pair import Pair
from crdgen.look import number, shown

_LEAST: Final = ("minLength", "minItems", "minProperties")
_MOST: Final = ("maxLength", "maxItems", "maxProperties")
_FIX: Final = "keep the bound, and refuse new objects only, by a webhook or a CEL rule on changes"


def bounds(pair: Pair) -> Iterator[Change]:
    """Yield each bound that is tighter or looser."""
    for keyword in _LEAST:
        yield from _count(pair, keyword, sign=1, absent=0)
    for keyword in _MOST:
        yield from _count(pair, keyword, sign=-1, absent=None)
    yield from _number(pair, "minimum", "exclusiveMinimum", sign=1)
    yield from _number(pair, "maximum", "exclusiveMaximum", sign=-1)
    yield from _multiple(pair)


def _count(pair: Pair, keyword: str, *, sign: int, absent: int | None) -> Iterator[Change]:
    old, new = number(pair.old.get(keyword)), number(pair.new.get(keyword))
    was, now = (absent if old is None else old), (absent if new is None else new)
    if was != now:
        yield _told(pair, keyword, old, new, tighter=now is not None and (was is None or sign * now > sign * was))
    elif old != new:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")


def _number(pair: Pair, keyword: str, exclusive: str, *, sign: int) -> Iterator[Change]:
    was, now = _limit(pair.old, keyword, exclusive, sign), _limit(pair.new, keyword, exclusive, sign)
    old, new = _with(pair.old, keyword, exclusive), _with(pair.new, keyword, exclusive)
    if was != now:
        yield _told(pair, keyword, old, new, tighter=now is not None and (was is None or now > was))
    elif old != new:
        yield pair.change(f"{keyword} {_shown(old)} is now {_shown(new)}, which means the same")


def _limit(schema: Mapping[str, Any], keyword: str, exclusive: str, sign: int) -> tuple[float, bool] | None:
    """Return what grows with tightness: above 3, an integer is at least 4."""
    bound = number(schema.get(keyword))
    if bound is None:
        return None
    beyond = schema.get(exclusive) is True
    if beyond and schema.get("type") == "integer" and float(bound).is_integer():
        return sign * bound + 1, False
    return sign * bound, beyond


def _with(schema: Mapping[str, Any], keyword: str, exclusive: str) -> Any:
    bound = number(schema.get(keyword))
    return f"{bound} (exclusive)" if bound is not None and schema.get(exclusive) is True else bound


def _multiple(pair: Pair) -> Iterator[Change]:
    old, new = number(pair.old.get("multipleOf")), number(pair.new.get("multipleOf"))
    if old != new:
        whole = bool(old and new) and (old or 0) % (new or 1) == 0
        yield _told(pair, "multipleOf", old, new, tighter=new is not None and not whole)


def _told(pair: Pair, keyword: str, old: Any, new: Any, *, tighter: bool) -> Change:
    if old is None:
        what = f"{keyword} {_shown(new)} is new"
    elif new is None:
        what = f"{keyword} {_shown(old)} is gone"
    else:
        what = f"{keyword} {_shown(old)} is now {_shown(new)}"
    if tighter:
        return pair.change(f"{what}: values that were taken are refused", *REFUSES, fix=_FIX)
    return pair.change(what)


def _shown(bound: Any) -> str:
    return bound if isinstance(bound, str) else "(none)" if bound is None else shown(bound)
