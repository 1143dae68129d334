"""The rule of updates: which fields of a stored job may change, and when."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.kinds.common.changes import ChangeType, Field, FieldChange, FieldTable, Mutable, changes
from jobgate.kinds.common.pod.reading import mapping
from jobgate.kinds.common.schema import is_private, shape_of
from webhook import Cause, Context, Forbidden, Job, Rule
from webhook.rule import Check
from webhook.text import shown

__all__ = ["MayChange", "Mutable", "UpdateRule"]


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
    never taken for the user's change. What counts as a change, and what does not: see `changes`.
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
        self._table = FieldTable.of(fields, keys or {})

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
        spec = Field(shape_of(job.kind), (self._table,)).below("spec")
        for change in changes(spec, old.get("spec"), job.document.get("spec"), allowed):
            when = _decisive(change).value
            if when not in allowed:
                yield _refusal(change, when)


def _decisive(change: FieldChange) -> Field:
    """Return the field that decides when a change may be made."""
    key = change.place.key
    moves = change.type in {ChangeType.GOES, ChangeType.ORDER}
    return change.place.below(0).below(key) if key is not None and moves else change.place


def _refusal(change: FieldChange, when: Mutable) -> Cause:
    rule = "may not change after the job is created" if when is Mutable.NEVER else f"may change only {when.value}"
    cause = Forbidden(change.place.path, f"{rule}: {_said(change)}")
    cause.value = change.before if change.type is ChangeType.GOES else change.after
    return cause


def _said(change: FieldChange) -> str:
    """Say what changes, without a value that may be a secret."""
    before, after = change.before, change.after
    if change.type is not ChangeType.VALUE:
        return _moved(change)
    if isinstance(before, list) and isinstance(after, list):
        return f"from {len(before)} items to {len(after)}"
    steps = change.place.path.steps
    if is_private(steps, before) or is_private(steps, after):
        verb = "would be added" if before is None else "would be removed" if after is None else "would change"
        return f"the value {verb}"
    if before is None:
        return f"would be set to {shown(after)}"
    if after is None:
        return f"{shown(before)} would be removed"
    return f"from {shown(before)} to {shown(after)}"


def _moved(change: FieldChange) -> str:
    """Say what comes, goes or changes places."""
    if change.type is ChangeType.ORDER:
        return "the order of the items would change"
    verb = "added" if change.type is ChangeType.COMES else "removed"
    if change.place.key is None:
        return f"it would be {verb}"
    return f"item {shown(change.after if change.type is ChangeType.COMES else change.before)} would be {verb}"
