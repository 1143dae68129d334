"""The rule of updates: which fields of a stored job may change, and when."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from jobgate.jobs.schema import Shape, is_private, shape_of
from jobgate.podchecks.quantity import parse
from webhook import Cause, Context, Forbidden, Job, Path, Rule
from webhook.path import steps_of
from webhook.rule import Check
from webhook.text import shown
from webhook.values import mapping, same, text

#: Fields whose values, and those below them, are quantities.
_QUANTITIES: Final = frozenset({"limits", "requests", "overhead", "capacity", "sizeLimit", "divisor"})


class Mutable(Enum):
    """When a field may change; the value says it to the user."""

    ALWAYS = "at any time"
    WHILE_SUSPENDED = "while the job is suspended"
    BEFORE_IT_RUNS = "before the job starts"
    NEVER = "once the job is stored"


@dataclass(frozen=True, kw_only=True)
class UpdateRule(Rule):
    """A rule of what may change in a stored job.

    Attributes:
        table: by which it decides.
    """

    table: MayChange


class MayChange:
    """When which fields may change: a kind's table, and the rule by it. The most specific entry decides.

    Both objects have the defaults of today when they are compared, so that a default which came with a newer version is
    never taken for the user's change. What typed clients write for an absent field (`null`, `{}`, `[]`, `""`) is the
    same as nothing; an entry of a map exists by its key alone. Quantities are compared by value. Items of a list that
    has a key are matched by it, others by their places.
    """

    def __init__(
        self,
        fields: Mapping[str, Mutable],
        *,
        runs: Callable[[Mapping[str, Any]], bool] | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Make the rule of a kind.

        Args:
            fields: by path from the spec on, `spec.tasks[*].replicas`, when a field and all below it may change; `*` is
                any item, or any entry of a map. What is below none of them never changes.
            runs: tells from a job's status whether it runs or has run; where it is left out, every stored job does.
            keys: by path of a list, the field that its items are known by: `{"spec.tasks": "name"}`. An item may come
                when the list may change; it may go, or change places with others, when its key may.
        """
        self.fields = dict(fields)
        self._runs = runs or (lambda _: True)
        lines = {tuple(steps_of(path)): when for path, when in fields.items()}
        # The most specific line comes first: the longest; of two, the one with a step instead of a star.
        order = sorted(lines, key=lambda line: (len(line), [step != "*" for step in line]), reverse=True)
        self._mutable = {line: lines[line] for line in order}
        self._keys = {tuple(steps_of(path)): key for path, key in (keys or {}).items()}

    def rule(self, check: Check | None = None) -> UpdateRule:
        """Return the rule that fields change only when they may.

        Args:
            check: what judges by this table, where that is not enough by itself (`@MAY_CHANGE.rule`).
        """
        if check is None:
            about = inspect.getdoc(type(self)) or ""
            name = "fields_change_only_when_they_may"
        else:
            about, name = inspect.getdoc(check) or "", getattr(check, "__name__", "")
        return UpdateRule(name=name, about=" ".join(about.split()), check=check or self, updates=True, table=self)

    def __call__(self, job: Job[Any], context: Context) -> Iterator[Cause]:
        """Yield a cause for each field that changes and may not."""
        old = context.old
        if old is None:
            return
        allowed = {Mutable.ALWAYS}
        if mapping(old.get("spec")).get("suspend") is True:
            allowed.add(Mutable.WHILE_SUSPENDED)
        if not self._runs(mapping(old.get("status"))):
            allowed.add(Mutable.BEFORE_IT_RUNS)
        shape = shape_of(job.kind).below("spec")
        bounds = [line for line, when in self._mutable.items() if when not in allowed]
        changes = [FieldChange(Path("spec"), shape, old.get("spec"), job.document.get("spec"))]
        while changes:
            change = changes.pop()
            steps = tuple(change.path.steps)
            decisive = steps if change.key is None else change.key.steps
            when = next(
                (when for line, when in self._mutable.items() if len(line) <= len(decisive) and _leads(line, decisive)),
                Mutable.NEVER,
            )
            # What may change is not looked into: a large template costs no more than a small one.
            if when in allowed and not any(_leads(line, steps) for line in bounds if len(line) > len(steps)):
                continue
            key = next((key for line, key in self._keys.items() if len(line) == len(steps) and _leads(line, steps)), "")
            parts = _parts(change, key)
            if parts is not None:
                changes.extend(reversed(parts))
            elif when not in allowed:
                rule = "may not change after the job is created"
                if when is not Mutable.NEVER:
                    rule = f"may change only {when.value}"
                cause = Forbidden(change.path, f"{rule}: {change.says}")
                cause.value = change.before if change.after is None else change.after
                yield cause


def _leads(line: tuple[str | int, ...], steps: Sequence[str | int]) -> bool:
    """Return whether the steps of a table's line are these, as far as both go; `*` is any."""
    return all(own in ("*", step) for own, step in zip(line, steps, strict=False))


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One difference between two jobs.

    Attributes:
        path: where it is: of items that come, go or change places, their list.
        shape: what the schema says of this place.
        before: the value before; of items that come or go, what they are known by.
        after: the value after.
        moves: what happens to an item of a list or an entry of a map; empty where a value changes.
        key: the field that decides when the change may be made; None if it is the one that changes.
    """

    path: Path
    shape: Shape
    before: Any
    after: Any
    moves: str = ""
    key: Path | None = None

    @property
    def says(self) -> str:
        """What changes, without a value that may be a secret."""
        before, after = self.before, self.after
        if self.moves:
            return self.moves
        if isinstance(before, list) and isinstance(after, list):
            return f"from {len(before)} items to {len(after)}"
        steps = self.path.steps
        if is_private(steps, before) or is_private(steps, after):
            verb = "would be added" if before is None else "would be removed" if after is None else "would change"
            return f"the value {verb}"
        if before is None:
            return f"would be set to {shown(after)}"
        if after is None:
            return f"{shown(before)} would be removed"
        return f"from {shown(before)} to {shown(after)}"


def _parts(change: FieldChange, key: str) -> list[FieldChange] | None:
    """Return the changes that a change consists of; None of one that is a change by itself."""
    one, other = change.before, change.after
    if change.moves:
        return None
    if _nothing(one) and _nothing(other):
        return []
    if isinstance(one, dict | None) and isinstance(other, dict | None):
        return [*_fields(change, one or {}, other or {})]
    if isinstance(one, list) and isinstance(other, list):
        if key:
            return [*_items(change, _known_by(one, key), _known_by(other, key), change.path / 0 / key)]
        if len(one) == len(other):
            pairs = enumerate(zip(one, other, strict=True))
            return [_part(change, at, *pair) for at, pair in pairs if not same(*pair)]
    amounts = not _QUANTITIES.isdisjoint(change.path.steps) and _amount(one) == _amount(other) is not None
    return [] if amounts or same(one, other) else None


def _part(change: FieldChange, step: str | int, before: Any, after: Any, moves: str = "") -> FieldChange:
    shape = change.shape
    return FieldChange(shape.step(change.path, step), shape.below(step), before, after, moves)


def _fields(change: FieldChange, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Yield what becomes of fields, or of entries of a map, of which each that comes or goes is a change."""
    changed = [key for key, value in one.items() if key not in other or not same(value, other[key])]
    for key in [*changed, *(key for key in other if key not in one)]:
        moves = ""
        if change.shape.is_map:
            nullable = change.shape.below(key).nullable  # else the API server drops an entry that is null
            was, comes = (side.get(key) is not None or (nullable and key in side) for side in (one, other))
            if was != comes:
                moves = "it would be added" if comes else "it would be removed"
        yield _part(change, key, one.get(key), other.get(key), moves)


def _known_by(items: list[Any], key: str) -> list[tuple[str, int]]:
    """Return what each item is known by: its key, and how many before it have the same."""
    seen = Counter[str]()
    names = []
    for item in items:
        name = text(mapping(item).get(key))
        names.append((name, seen[name]))
        seen[name] += 1
    return names


def _items(
    change: FieldChange, before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]], key: Path
) -> Iterator[FieldChange]:
    """Yield what becomes of the items of a list that are known by a key, and then those that stay.

    An item with a new key, where one was whose key is gone, is that item, renamed.
    """
    path, shape, one, other = change.path, change.shape, change.before, change.after
    places = {name: at for at, name in enumerate(before)}
    was = [places.pop(name, None) for name in after]
    gone = {at: name for name, at in places.items()}
    order = [at for at in was if at is not None]
    if order != sorted(order):
        yield FieldChange(path, shape, one, other, "the order of the items would change", key)
    for at, name in enumerate(after):
        if was[at] is None and at in gone:
            del gone[at]
            was[at] = at
        elif was[at] is None:
            yield FieldChange(path, shape, None, name[0], f"item {shown(name[0])} would be added")
    for name in gone.values():
        yield FieldChange(path, shape, name[0], None, f"item {shown(name[0])} would be removed", key)
    for at, place in enumerate(was):
        if place is not None and not same(one[place], other[at]):
            yield _part(change, at, one[place], other[at])


def _nothing(value: Any) -> bool:
    """Return whether a value is what typed clients write for an absent field."""
    return value is None or value in ("", [], {})


def _amount(value: Any) -> Decimal | None:
    try:
        return parse(value)
    except ValueError:
        return None
