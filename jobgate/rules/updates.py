"""The rule for updates: which fields of a stored job may change, and when."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final

from msgspec import Struct

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import operator_of, runs_here
from jobgate.jobs.policies import COMMAND, Action
from jobgate.jobs.runner import runner_of
from jobgate.jobs.schema import Shape, is_private, shape_of
from jobgate.jobs.status import begun_tasks, is_run
from jobgate.podchecks.quantity import parse
from jobgate.rules.scheduling import in_kueue
from webhook import Cause, Forbidden, Object, Path, Rule
from webhook.path import steps_of
from webhook.rule import Check
from webhook.text import shown
from webhook.values import mapping, metadata_of, same, text

#: Fields with quantities, in their values or below them.
_QUANTITIES: Final = frozenset({"limits", "requests", "overhead", "capacity", "sizeLimit", "divisor"})


class Mutable(Enum):
    """When a field may change; the values appear in messages."""

    ALWAYS = "at any time"
    WHILE_SUSPENDED = "while the job is suspended"
    BEFORE_IT_RUNS = "before the job starts"
    BEFORE_ITS_TASK_RUNS = "before the task starts, if jobgate runs the job"
    NEVER = "once the job is stored"


class UpdateRule(Rule, frozen=True, kw_only=True):
    """A rule about what may change in a stored job.

    Attributes:
        table: the table that it applies.
    """

    table: MayChange


class MayChange:
    """Fields of a stored job change only when the kind's table allows it. The most specific entry decides.

    Both objects get the current defaults before they are compared, so a default that a newer version adds does not
    count as a change. The values that typed clients write for an absent field (`null`, `{}`, `[]`, `""`) equal an
    absent field; but an entry of a map is present if its key is. Quantities are compared by value. Items of a list with
    a key are matched by this key, items of other lists by their positions.
    """

    def __init__(
        self,
        fields: Mapping[str, Mutable],
        *,
        runs: Callable[[Mapping[str, Any]], bool] | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Create the table of a kind.

        Args:
            fields: when a field, and all fields below it, may change, by path: `spec.tasks[*].replicas`. `*` matches
                any item of a list or entry of a map. Fields below none of these paths never change.
            runs: returns from a job's status whether the job has started; by default every stored job has.
            keys: the fields that identify the items of a list, by path of the list: `{"spec.tasks": "name"}`. An item
                may be added when the list may change, and removed or moved when its key may change.
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
            check: a function that calls the table and does more (`@MAY_CHANGE.rule`); by default the table alone.
        """
        if check is None:
            about = inspect.getdoc(type(self)) or ""
            name = "fields_change_only_when_they_may"
        else:
            about, name = inspect.getdoc(check) or "", getattr(check, "__name__", "")
        return UpdateRule(name=name, about=" ".join(about.split()), check=check or self, updates=True, table=self)

    def __call__(self, job: Object[Any], context: Context) -> Iterator[Cause]:
        """Yield a cause for each field that changes and may not."""
        old = context.old
        if old is None:
            return
        allowed = {Mutable.ALWAYS}
        if mapping(old.get("spec")).get("suspend") is True:
            allowed.add(Mutable.WHILE_SUSPENDED)
        if not self._runs(mapping(old.get("status"))):
            allowed.add(Mutable.BEFORE_IT_RUNS)
        starts = cache(lambda: _starts(job, context, old) if isinstance(job, Job) else _Starts())
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
            started = starts().why(steps) if when is Mutable.BEFORE_ITS_TASK_RUNS else None
            may = when in allowed or started == ""
            # A part that may change as a whole is not compared: a large template costs no more than a small one.
            if may and not any(_leads(line, steps) for line in bounds if len(line) > len(steps)):
                continue
            key = next((key for line, key in self._keys.items() if len(line) == len(steps) and _leads(line, steps)), "")
            parts = _parts(change, key)
            if parts is not None:
                changes.extend(reversed(parts))
            elif not may:
                rule = f"may not change after the {'job' if isinstance(job, Job) else job.kind.kind} is created"
                if started:
                    rule = f"may not change, because {started}"
                elif when not in {Mutable.NEVER, Mutable.BEFORE_ITS_TASK_RUNS}:
                    rule = f"may change only {when.value}"
                advice = starts().advice if started else ""
                cause = Forbidden(change.path, f"{rule}: {change.description}{advice}")
                cause.value = change.before if change.after is None else change.after
                yield cause


class _Starts(Struct, frozen=True):
    """What has started of a job that jobgate runs.

    Attributes:
        of_job: why fields of the job may not change any more; empty if they may, None if jobgate does not run the job.
        tasks: the same for the fields of each task, by its path in lower case; those of others are as of the job.
        advice: how they may change nevertheless.
    """

    of_job: str | None = None
    tasks: Mapping[tuple[str, ...], str] = {}
    advice: str = ""

    def why(self, steps: Sequence[str | int]) -> str | None:
        """Return why a field may not change any more; empty if it may."""
        places = (tuple(str(step).lower() for step in steps[:length]) for length in {*map(len, self.tasks)})
        return next((self.tasks[place] for place in places if place in self.tasks), self.of_job)


def _starts(job: Job[Any], context: Context, old: Mapping[str, Any]) -> _Starts:
    """Return what has started of a stored job, by its status, which users may not write."""
    status, runner = mapping(old.get("status")), runner_of(job.kind)
    if runner is None or not runs_here(job, context) or (status and not is_run(old)):
        return _Starts()  # its operator creates pods, or has created some
    if runner.end_phase(status) is not None:
        return _Starts("the job has ended", {}, ". Create a job with another name")
    name, begun = text(metadata_of(old).get("name")), begun_tasks(old)
    advice = (
        f". Abort the job (kubectl annotate {job.kind.qualified_plural} {name} {COMMAND}={Action.ABORT_JOB}), "
        f"change it, and start all of its pods again ({COMMAND}={Action.RESUME_JOB})"
    )
    if begun and in_kueue(job, context):
        why = f"task {min(begun)} has started, and Kueue counts all pods of the job together"
        return _Starts(why, {}, advice)
    operator, tasks = operator_of(job), dict[tuple[str, ...], str]()
    for task in job.all_tasks:
        called = operator.task_name(task)
        place = tuple(str(step).lower() for step in task.path.steps)
        tasks[place] = f"task {called} has started" if called in begun else ""
    return _Starts(next(filter(None, tasks.values()), ""), tasks, advice)


def _leads(line: tuple[str | int, ...], steps: Sequence[str | int]) -> bool:
    """Return whether the shorter of a table's line and these steps is a prefix of the longer; `*` matches any step."""
    return all(own in ("*", step) for own, step in zip(line, steps, strict=False))


class FieldChange(Struct, frozen=True):
    """One difference between two jobs.

    Attributes:
        path: the path of the field; if items are added, removed or moved, the path of their list.
        shape: the schema of this field.
        before: the value before; the key of an item that is removed.
        after: the value after; the key of an item that is added.
        moves: what happens to an item of a list or an entry of a map; empty if a value changes.
        key: the field that decides when the change is allowed, if it is not the changed field.
    """

    path: Path
    shape: Shape
    before: Any
    after: Any
    moves: str = ""
    key: Path | None = None

    @property
    def description(self) -> str:
        """What changes, without values that may be secret."""
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
    """Return the smaller changes that a change consists of; None for a change that has no parts."""
    before, after = change.before, change.after
    if change.moves:
        return None
    if _is_absent(before) and _is_absent(after):
        return []
    if isinstance(before, dict | None) and isinstance(after, dict | None):
        return [*_fields(change, before or {}, after or {})]
    if isinstance(before, list) and isinstance(after, list):
        if key:
            return [*_items(change, _identities(before, key), _identities(after, key), change.path / 0 / key)]
        if len(before) == len(after):
            pairs = enumerate(zip(before, after, strict=True))
            return [_part(change, index, *pair) for index, pair in pairs if not same(*pair)]
    equal_amounts = not _QUANTITIES.isdisjoint(change.path.steps) and _amount(before) == _amount(after) is not None
    return [] if equal_amounts or same(before, after) else None


def _part(change: FieldChange, step: str | int, before: Any, after: Any, moves: str = "") -> FieldChange:
    shape = change.shape
    return FieldChange(shape.step(change.path, step), shape.below(step), before, after, moves)


def _fields(change: FieldChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Yield the changed fields of an object, or entries of a map; an entry can also be added or removed."""
    changed = [key for key, value in before.items() if key not in after or not same(value, after[key])]
    for key in [*changed, *(key for key in after if key not in before)]:
        moves = ""
        if change.shape.is_map:
            nullable = change.shape.below(key).nullable  # else the API server drops an entry that is null
            was_set, is_set = (side.get(key) is not None or (nullable and key in side) for side in (before, after))
            if was_set != is_set:
                moves = "it would be added" if is_set else "it would be removed"
        yield _part(change, key, before.get(key), after.get(key), moves)


def _identities(items: list[Any], key: str) -> list[tuple[str, int]]:
    """Return the identity of each item: its key, and the number of items before it with the same key."""
    seen = Counter[str]()
    identities = []
    for item in items:
        name = text(mapping(item).get(key))
        identities.append((name, seen[name]))
        seen[name] += 1
    return identities


def _items(
    change: FieldChange, before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]], key: Path
) -> Iterator[FieldChange]:
    """Yield the changes of a list with a key: items that move, are added or removed; then changes within items.

    A new item at the index of a removed item counts as the same item with another key.
    """
    path, shape, old_items, new_items = change.path, change.shape, change.before, change.after
    old_indices = {identity: index for index, identity in enumerate(before)}
    origins = [old_indices.pop(identity, None) for identity in after]
    removed = {index: identity for identity, index in old_indices.items()}
    order = [origin for origin in origins if origin is not None]
    if order != sorted(order):
        yield FieldChange(path, shape, old_items, new_items, "the order of the items would change", key)
    for index, (name, _) in enumerate(after):
        if origins[index] is None and index in removed:
            del removed[index]
            origins[index] = index
        elif origins[index] is None:
            yield FieldChange(path, shape, None, name, f"item {shown(name)} would be added")
    for name, _ in removed.values():
        yield FieldChange(path, shape, name, None, f"item {shown(name)} would be removed", key)
    for index, origin in enumerate(origins):
        if origin is not None and not same(old_items[origin], new_items[index]):
            yield _part(change, index, old_items[origin], new_items[index])


def _is_absent(value: Any) -> bool:
    """Return whether a value is what typed clients write for an absent field."""
    return value is None or value in ("", [], {})


def _amount(value: Any) -> Decimal | None:
    try:
        return parse(value)
    except ValueError:
        return None
