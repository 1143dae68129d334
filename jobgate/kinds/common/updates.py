"""The rule of updates: which fields of a stored job may change, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

from jobgate.kinds.common.privacy import is_private
from jobgate.kinds.common.quantity import parse
from webhook import Cause, Context, Forbidden, Job
from webhook.cause import shown
from webhook.path import join, steps_of

Steps: TypeAlias = tuple[str | int, ...]


class When(Enum):
    """When a field may change; the value says it to the user."""

    ALWAYS = "at any time"
    WHILE_SUSPENDED = "while the job is suspended"
    BEFORE_IT_RUNS = "before the job runs"
    NEVER = "once the job is stored"


class MayChange:
    """The rule that fields change only when they may. The most specific entry of a kind's table decides.

    Both objects have the defaults of today when they are compared, so that a default which came with a newer version is
    never taken for the user's change. What typed clients write for what is absent (`null`, `{}`, `[]`, `""`) is the
    same as nothing, and quantities are compared by value.
    """

    __name__ = "fields_change_only_when_they_may"

    def __init__(self, fields: Mapping[str, When], *, runs: Callable[[Mapping[str, Any]], bool] | None = None) -> None:
        """Make the rule of a kind.

        Args:
            fields: by path from the spec on, `spec.tasks[*].replicas`, when a field and all below it may change; `*` is
                any item, or any entry of a map. What is below none of them never changes.
            runs: tells from a job's status whether it runs or has run; where it is left out, every stored job does.
        """
        self.fields = dict(fields)
        self._runs = runs or (lambda _: True)
        self._table = {tuple(steps_of(path)): when for path, when in fields.items()}

    def __call__(self, job: Job[Any], context: Context) -> Iterator[Cause]:
        """Yield a cause for each field that changes and may not."""
        old = context.old
        if old is None:
            return
        allowed = {When.ALWAYS}
        if _suspended(old):
            allowed.add(When.WHILE_SUSPENDED)
        status = old.get("status")
        if not self._runs(status if isinstance(status, Mapping) else {}):
            allowed.add(When.BEFORE_IT_RUNS)
        for steps, before, after in _changes(("spec",), old.get("spec"), job.document.get("spec")):
            when = self.when(steps)
            if when not in allowed:
                yield _refusal(steps, before, after, when)

    def when(self, steps: Sequence[str | int]) -> When:
        """Return when the field at these steps may change."""
        ways: list[Steps] = [()]
        found = When.NEVER
        for step in steps:
            ways = [(*way, name) for way in ways for name in (step, "*")]
            ways = [way for way in ways if any(known[: len(way)] == way for known in self._table)]
            # The plain step stands before the star, so the more specific of two entries comes first.
            found = next((self._table[way] for way in ways if way in self._table), found)
        return found


def _suspended(document: Mapping[str, Any]) -> bool:
    spec = document.get("spec")
    return isinstance(spec, Mapping) and spec.get("suspend") is True


def _refusal(steps: Steps, before: Any, after: Any, when: When) -> Cause:
    rule = "may not change once the job is stored" if when is When.NEVER else f"may change only {when.value}"
    cause = Forbidden(join(steps), f"{rule}: {_change(steps, before, after)}")
    cause.value = after
    return cause


def _change(steps: Steps, before: Any, after: Any) -> str:
    """Say what changes, without a value that may be a secret."""
    if isinstance(before, list) and isinstance(after, list):
        return f"it has {len(before)} items and would have {len(after)}"
    if is_private(steps, before) or is_private(steps, after):
        verb = "would be added" if _nothing(before) else "would be removed" if _nothing(after) else "would be another"
        return f"the value {verb}"
    if _nothing(before):
        return f"it is not set and would be {shown(after)}"
    if _nothing(after):
        return f"it is {shown(before)} and would be removed"
    return f"it is {shown(before)} and would be {shown(after)}"


#: Fields whose values, and those below them, are quantities.
_QUANTITIES = frozenset({"limits", "requests", "overhead", "capacity", "sizeLimit", "divisor"})


def _changes(steps: Steps, before: Any, after: Any) -> Iterator[tuple[Steps, Any, Any]]:
    """Yield the deepest places at which two JSON values differ in meaning, with both values."""
    pairs: list[tuple[Steps, Any, Any]] = [(steps, before, after)]
    while pairs:
        way, one, other = pairs.pop()
        if _nothing(one) and _nothing(other):
            continue
        if (isinstance(one, Mapping) and isinstance(other, Mapping | None)) or (
            isinstance(other, Mapping) and one is None
        ):
            one, other = one or {}, other or {}
            keys = [*one, *(key for key in other if key not in one)]
            pairs.extend(((*way, key), one.get(key), other.get(key)) for key in reversed(keys))
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            places = reversed(range(len(one)))
            pairs.extend(((*way, place), one[place], other[place]) for place in places)
        elif not _equal(way, one, other):
            yield way, one, other


def _nothing(value: Any) -> bool:
    """Tell whether a value is what typed clients write for a field that is absent."""
    if isinstance(value, Mapping):
        return all(_nothing(item) for item in value.values())
    return value in (None, "", [])


def _equal(way: Steps, one: Any, other: Any) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if one == other:
        return True
    if (
        _QUANTITIES.isdisjoint(way)
        or not isinstance(one, int | float | str)
        or not isinstance(other, int | float | str)
    ):
        return False
    first, second = _amount(one), _amount(other)
    return first is not None and first == second


def _amount(value: Any) -> Decimal | None:
    try:
        return parse(value)
    except (ValueError, ArithmeticError):
        return None
