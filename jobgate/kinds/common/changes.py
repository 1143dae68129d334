"""What differs in meaning between two JSON values: the deepest places, each with its value before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from msgspec.json import encode

from jobgate.kinds.common.quantity import parse
from jobgate.kinds.common.schema import Shape
from webhook import Path
from webhook.path import steps_of

#: Levels of an object that are looked into for whether it says nothing: a bound on the time.
_DEPTH: Final = 5
#: Fields whose values, and those below them, are quantities.
_QUANTITIES: Final = frozenset({"limits", "requests", "overhead", "capacity", "sizeLimit", "divisor"})


class Mutable(Enum):
    """When a field may change; the value says it to the user."""

    ALWAYS = "at any time"
    WHILE_SUSPENDED = "while the job is suspended"
    BEFORE_IT_RUNS = "before the job starts"
    NEVER = "once the job is stored"


@dataclass(slots=True)
class FieldTable:
    """A step that some lines of a table take: the next steps (`*` is any), and what the line that ends here says."""

    below: dict[str | int, FieldTable] = field(default_factory=dict)
    value: Mutable | None = None
    key: str | None = None

    @classmethod
    def of(cls, fields: Mapping[str, Mutable], keys: Mapping[str, str]) -> FieldTable:
        """Return the table of fields by their paths, and of lists whose items are known by a field; `*` is any step."""
        table = cls()
        for path, value in fields.items():
            table._at(path).value = value
        for path, key in keys.items():
            table._at(path).key = key
        return table

    def _at(self, path: str) -> FieldTable:
        entry = self
        for step in steps_of(path):
            entry = entry.below.setdefault(step, FieldTable())
        return entry

    def says_only(self, values: Container[Mutable]) -> bool:
        """Return whether the lines below say one of these values each."""
        return all((one.value is None or one.value in values) and one.says_only(values) for one in self.below.values())


@dataclass(frozen=True, slots=True)
class Field:
    """A place in a job, and what the most specific line of a table says of it.

    Attributes:
        shape: what the schema says.
        entries: where the table has lines for this place.
        value: what the table says.
    """

    shape: Shape
    entries: tuple[FieldTable, ...]
    value: Mutable = Mutable.NEVER
    path: Path = field(default_factory=Path)

    def says_only(self, values: Container[Mutable]) -> bool:
        """Return whether the table says one of these values of this place and of all below."""
        return self.value in values and all(entry.says_only(values) for entry in self.entries)

    @property
    def key(self) -> str | None:
        """The field by which items of the list here are known; None if they are known by their places."""
        return next((entry.key for entry in self.entries if entry.key), None)

    def below(self, step: str | int) -> Field:
        """Return a field, an entry or an item of what is here."""
        # The plain step comes before the star, so the more specific of two entries is first.
        ways = (entry.below.get(name) for entry in self.entries for name in (step, "*"))
        entries = tuple(entry for entry in ways if entry is not None)
        value = next((entry.value for entry in entries if entry.value is not None), self.value)
        return Field(self.shape.below(step), entries, value, self.shape.step(self.path, step))


class ChangeType(Enum):
    """What happens: a value changes; an item of a list or an entry of a map comes or goes; items change places."""

    VALUE = "value"
    COMES = "comes"
    GOES = "goes"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One difference.

    Attributes:
        place: where it is: of items that come, go or change places, their list.
        before: the value before, or None; of items that come or go, what they are known by.
        after: the value after.
        type: what happens.
    """

    place: Field
    before: Any
    after: Any
    type: ChangeType = ChangeType.VALUE


def changes(place: Field, before: Any, after: Any, allowed: Container[Mutable] = ()) -> Iterator[FieldChange]:
    """Yield how two values at a place differ, except where the table allows it there and in all below.

    What is allowed is not looked into: a large template that may change costs no more than a small one.

    What typed clients write for an absent field (`null`, `{}`, `[]`, `""`) is the same as nothing; an entry of a map
    exists by its key alone. Quantities are compared by value. Items of a list that has a key are matched by it, others
    by their places.
    """
    found = [] if _same(before, after) else [FieldChange(place, before, after)]
    while found:
        change = found.pop()
        if change.place.says_only(allowed):
            continue
        below = _below(change)
        if below is None:
            yield change
        else:
            found.extend(reversed(below))


def _below(change: FieldChange) -> list[FieldChange] | None:
    """Return the changes that a change consists of; None of one that is a change by itself."""
    here, one, other = change.place, change.before, change.after
    if change.type is not ChangeType.VALUE:
        return None
    if _nothing(one, here.shape) and _nothing(other, here.shape):
        return []
    if isinstance(one, Mapping | None) and isinstance(other, Mapping | None):
        return _fields(here, one or {}, other or {})
    if isinstance(one, list) and isinstance(other, list):
        if here.key is not None:
            return _items(here, one, other, here.key)
        if len(one) == len(other):
            pairs = enumerate(zip(one, other, strict=True))
            return [FieldChange(here.below(at), *pair) for at, pair in pairs if not _same(*pair)]
    return [] if _equal(here, one, other) else None


def _fields(here: Field, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[FieldChange]:
    """Return what becomes of fields, or of entries of a map: one without a value that comes or goes is a change."""
    found = []
    keys = [key for key, value in one.items() if key not in other or not _same(value, other[key])]
    for key in [*keys, *(key for key in other if key not in one)]:
        place, before, after = here.below(key), one.get(key), other.get(key)
        type_ = ChangeType.VALUE
        if here.shape.is_map:
            was, is_now = (_is_entry(side, key, place.shape) for side in (one, other))
            if was != is_now and _nothing(after if is_now else before, place.shape):
                type_ = ChangeType.COMES if is_now else ChangeType.GOES
        else:
            before, after = (None if _nothing(value, place.shape) else value for value in (before, after))
        found.append(FieldChange(place, before, after, type_))
    return found


def _items(here: Field, one: list[Any], other: list[Any], key: str) -> list[FieldChange]:
    """Return what becomes of the items, and then those that stay.

    An item with a new key, where one was whose key is gone, is that item, renamed.
    """
    before, after = _known_by(one, key), _known_by(other, key)
    places = {name: at for at, name in enumerate(before)}
    same = [places.pop(name, None) for name in after]
    gone = {at: name for name, at in places.items()}
    order = [at for at in same if at is not None]
    found = [] if order == sorted(order) else [FieldChange(here, one, other, ChangeType.ORDER)]
    stay = []
    for at, name in enumerate(after):
        was = same[at]
        if was is None and at in gone:
            del gone[at]
            was = at
        if was is None:
            found.append(FieldChange(here, None, name[0], ChangeType.COMES))
        elif not _same(one[was], other[at]):
            stay.append(FieldChange(here.below(at), one[was], other[at]))
    return [*found, *(FieldChange(here, name[0], None, ChangeType.GOES) for name in gone.values()), *stay]


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


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON, except for the order of keys. False says nothing."""
    # The second tells apart what Python calls equal: 1, 1.0 and true.
    try:
        return bool(one == other) and encode(one) == encode(other)
    except (RecursionError, TypeError, ValueError):  # keys of YAML may be no text; half a character has no UTF-8
        return False


def _is_entry(entries: Mapping[str, Any], key: str, shape: Shape) -> bool:
    """Return whether a map has an entry; the API server drops one that is null and may not be."""
    return key in entries and (entries[key] is not None or shape.nullable)


def _nothing(value: Any, shape: Shape, depth: int = _DEPTH) -> bool:
    """Return whether a value is what typed clients write for an absent field."""
    if not isinstance(value, dict) or not value:
        return value is None or value in ("", [], {})
    if shape.is_map:
        return not any(_is_entry(value, key, shape.below(key)) for key in value)
    return depth > 0 and all(_nothing(part, shape.below(key), depth - 1) for key, part in value.items())


def _equal(place: Field, one: Any, other: Any) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if one == other:
        return True
    if not isinstance(one, int | float | str) or not isinstance(other, int | float | str):
        return False
    first, second = _amount(one), _amount(other)
    return first is not None and first == second and not _QUANTITIES.isdisjoint(place.path.steps)


def _amount(value: Any) -> Decimal | None:
    try:
        return parse(value)
    except (ValueError, ArithmeticError):
        return None
