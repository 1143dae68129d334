"""What differs in meaning between two JSON values: the deepest places, each with what stands there before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec.json import encode

from jobgate.kinds.common.fields import Field
from jobgate.kinds.common.quantity import parse
from jobgate.kinds.common.shape import Shape

T = TypeVar("T")


class Sort(Enum):
    """What happens: a value is another; an item of a list or an entry of a map comes or goes; items change places."""

    VALUE = "value"
    COMES = "comes"
    GOES = "goes"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class FieldChange(Generic[T]):
    """One difference.

    Attributes:
        place: where it is: of a value itself; of items that come, go or change places, their list.
        before: what stands there, or None for nothing; of items that come or go, what they are known by.
        after: what would.
        sort: what happens.
    """

    place: Field[T]
    before: Any
    after: Any
    sort: Sort = Sort.VALUE


class _Sides(NamedTuple, Generic[T]):
    """The values of a place before and after."""

    place: Field[T]
    before: Any
    after: Any


def changes(place: Field[T], before: Any, after: Any, settled: frozenset[T] = frozenset()) -> Iterator[FieldChange[T]]:
    """Yield how two values differ.

    What typed clients write for a field that is absent (`null`, `{}`, `[]`, `""`) is the same as nothing; an entry of a
    map is there by its key alone. Quantities are compared by value. Items of a list that has a key are matched by it,
    those of another by their places.

    Args:
        place: where the values stand.
        before: the value that was there.
        after: the value that is.
        settled: what need not be looked into: a place of which, and of all below, the table says one of these.
    """
    nothing = _Nothing()
    pairs = [] if _same(before, after) else [_Sides(place, before, after)]
    while pairs:  # of values that are not the same JSON: nothing else is made of those that are
        here, one, other = pairs.pop()
        if here.says_only(settled):
            continue
        if nothing.is_(one, here.shape) and nothing.is_(other, here.shape):
            continue
        below: list[_Sides[T]] = []
        if isinstance(one, Mapping | None) and isinstance(other, Mapping | None):
            found = _entries if here.shape.is_map else _fields
            parts = found(here, one or {}, other or {}, nothing)
        elif isinstance(one, list) and isinstance(other, list) and here.key is not None:
            parts = _items(here, one, other, here.key)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            parts = (
                _Sides(here.below(at), *two) for at, two in enumerate(zip(one, other, strict=True)) if not _same(*two)
            )
        else:
            parts = iter(() if _equal(here, one, other) else (FieldChange(here, one, other),))
        for part in parts:
            if isinstance(part, FieldChange):
                yield part
            else:
                below.append(part)
        pairs.extend(reversed(below))


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON, to the order of keys. False says nothing."""
    # The second asks what the first takes for equal: 1, 1.0 and true.
    try:
        return bool(one == other) and encode(one) == encode(other)
    except RecursionError:
        return False


def _fields(here: Field[T], one: Mapping[str, Any], other: Mapping[str, Any], nothing: _Nothing) -> Iterator[_Sides[T]]:
    for key in _keys(one, other):
        place = here.below(key)
        before, after = (None if nothing.is_(side.get(key), place.shape) else side[key] for side in (one, other))
        yield _Sides(place, before, after)


def _entries(
    here: Field[T], one: Mapping[str, Any], other: Mapping[str, Any], nothing: _Nothing
) -> Iterator[_Sides[T] | FieldChange[T]]:
    """Yield the entries of a map. One without a value that comes or goes is a change by itself."""
    for key in _keys(one, other):
        place = here.below(key)
        before, after = one.get(key), other.get(key)
        was, is_now = (_is_entry(side, key, place.shape) for side in (one, other))
        if was == is_now or not nothing.is_(after if is_now else before, place.shape):
            yield _Sides(place, before, after)
        else:
            yield FieldChange(place, before, after, Sort.COMES if is_now else Sort.GOES)


def _keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys of which the values are not the same."""
    keys = [key for key, value in one.items() if key not in other or not _same(value, other[key])]
    return [*keys, *(key for key in other if key not in one)]


def _is_entry(entries: Mapping[str, Any], key: str, shape: Shape) -> bool:
    """Return whether a map has an entry; the API server drops one that is null and may not be."""
    return key in entries and (entries[key] is not None or shape.nullable)


def _items(here: Field[T], one: list[Any], other: list[Any], key: str) -> Iterator[_Sides[T] | FieldChange[T]]:
    """Yield the items that are the same, and what becomes of the others.

    One that is known by something else than what stood in its place, where that is nowhere any more, is that one
    under another name.
    """
    before, after = _known_by(one, key), _known_by(other, key)
    places = {name: at for at, name in enumerate(before)}
    same = [places.pop(name, None) for name in after]
    gone = {at: name for name, at in places.items()}
    if (order := [at for at in same if at is not None]) != sorted(order):
        yield FieldChange(here, one, other, Sort.ORDER)
    pairs = []
    for at, name in enumerate(after):
        was = same[at]
        if was is None and at in gone:
            del gone[at]
            was = at
        if was is None:
            yield FieldChange(here, None, name[0], Sort.COMES)
        elif not _same(one[was], other[at]):
            pairs.append(_Sides(here.below(at), one[was], other[at]))
    for name in gone.values():
        yield FieldChange(here, name[0], None, Sort.GOES)
    yield from pairs


def _known_by(items: list[Any], key: str) -> list[tuple[str, int]]:
    """Return what each item is known by: its key, and how many before it share that."""
    seen: Counter[str] = Counter()
    names = []
    for item in items:
        value = item.get(key) if isinstance(item, Mapping) else None
        name = value if isinstance(value, str) else ""
        names.append((name, seen[name]))
        seen[name] += 1
    return names


class _Nothing:
    """Which values are what typed clients write for a field that is absent: found out once for each that must be."""

    def __init__(self) -> None:
        self._objects: dict[tuple[int, int], bool] = {}

    def is_(self, value: Any, shape: Shape) -> bool:
        """Return whether a value is nothing at its place."""
        if not isinstance(value, dict) or not value:
            return value is None or value in ("", [], {})
        known = self._objects.get((id(value), id(shape.node)))
        return self._find(value, shape) if known is None else known

    def _find(self, value: dict[str, Any], shape: Shape) -> bool:
        """Find it out for an object: down to the first value that is something, as all objects on the way to it are."""
        way: list[tuple[int, int]] = []
        open_objects = [iter([(value, shape)])]
        while open_objects:
            part, here = next(open_objects[-1], (None, shape))
            if part is None:
                open_objects.pop()
                if way:
                    self._objects[way.pop()] = True
                continue
            name = id(part), id(here.node)
            known = self._objects.get(name)
            inner = None if known is False else [] if known else _objects_in(part, here)
            way.append(name)
            if inner is None:
                self._objects.update(dict.fromkeys(way, False))
                return False
            open_objects.append(iter(inner))
        return True


def _objects_in(value: dict[str, Any], shape: Shape) -> list[tuple[dict[str, Any], Shape]] | None:
    """Return the objects in an object that is nothing where they all are; None where there is something beside them."""
    if shape.is_map:
        return None if any(_is_entry(value, key, shape.below(key)) for key in value) else []
    inner = []
    for key, part in value.items():
        if isinstance(part, dict) and part:
            inner.append((part, shape.below(key)))
        elif part is not None and part not in ("", [], {}):
            return None
    return inner


#: Fields whose values, and those below them, are quantities.
_QUANTITIES: Final = frozenset({"limits", "requests", "overhead", "capacity", "sizeLimit", "divisor"})


def _equal(place: Field[Any], one: Any, other: Any) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if one == other:
        return True
    if not isinstance(one, int | float | str) or not isinstance(other, int | float | str):
        return False
    first, second = _amount(one), _amount(other)
    return first is not None and first == second and not _QUANTITIES.isdisjoint(place.steps)


def _amount(value: Any) -> Decimal | None:
    try:
        return parse(value)
    except (ValueError, ArithmeticError):
        return None
