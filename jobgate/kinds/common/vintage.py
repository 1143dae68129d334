"""What an operator built from older Kubernetes types loses of a pod template.

A typed client reads a job into structs, and what they do not list is gone when it makes pods of it, without a word.
A job that could then not run, or would run with less security than asked for, is denied; other losses are
warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from jobgate.kinds.common.losses import FIELDS, Loss, NewField
from webhook.cause import Cause, Forbidden, Notice
from webhook.path import Path

#: The oldest minor version whose losses are known whole.
OLDEST: Final = 21


class DroppedField(NamedTuple):
    """A field that an operator drops: its path in the template, its entry in the table, and what losing it means."""

    path: Path
    field: NewField
    loss: Loss


#: By step: what is lost there, or the table below; `*` is any item of a list.
_Table: TypeAlias = "Mapping[str, NewField | _Table]"


def vintage_findings(template: Mapping[str, Any], path: Path, *, minor: int, operator: str) -> Iterator[Cause | Notice]:
    """Report every field that the operator drops, and deny the job if it needs it."""
    for place, field, loss in dropped(template, minor, path):
        drops = f"{operator}, built for Kubernetes 1.{minor}, drops this field (added in 1.{field.since})"
        if loss is not Loss.NONE:
            finding = Forbidden if loss is Loss.FATAL else Notice
            yield finding(place, f"{drops}: {field.consequence}")


def dropped(template: Mapping[str, Any], minor: int, path: Path | None = None) -> Iterator[DroppedField]:
    """Yield every field of a template that types of a minor version do not have, below `path` if one is given.

    A field that is null or empty is dropped by newer types too, and is not reported.
    """
    yield from _lost(template, _newer(minor), path or Path())


def without(template: dict[str, Any], minor: int) -> dict[str, Any]:
    """Return the template as types of a minor version hold it: the same object where they lose nothing.

    What loses a field is copied, and everything else shared with the template.
    """
    kept: dict[str, Any] = _kept(template, _newer(minor))
    return kept


@lru_cache(maxsize=64)
def _newer(minor: int) -> _Table:
    """Return the part of the table that types of a minor version lack, as a tree."""
    tree: dict[str, Any] = {}
    for path, field in FIELDS.items():
        *way, last = path.split(".")
        part: Any = tree if field.since > minor else None
        for step in way:  # what is below a newer field is lost with it
            part = part.setdefault(step, {}) if isinstance(part, dict) else None
        if isinstance(part, dict):
            part[last] = field
    return {"spec": tree}


def _lost(value: Any, table: _Table, path: Path) -> Iterator[DroppedField]:
    parts: Iterable[tuple[str | int, Any, NewField | _Table]] = ()
    if isinstance(value, list) and "*" in table:
        parts = ((index, item, table["*"]) for index, item in enumerate(value))
    elif isinstance(value, dict) and "*" not in table:
        parts = ((name, value.get(name), entry) for name, entry in table.items())
    for step, part, entry in parts:
        if part is None or part in ([], {}):
            continue
        if isinstance(entry, NewField):
            loss = entry.loss if isinstance(entry.loss, Loss) else entry.loss(part)
            yield DroppedField(path / step, entry, loss)
        else:
            yield from _lost(part, entry, path / step)


def _kept(value: Any, table: _Table) -> Any:
    items = table.get("*")
    if isinstance(value, list) and isinstance(items, Mapping):
        kept = [_kept(item, items) for item in value]
        return kept if any(new is not old for new, old in zip(kept, value, strict=True)) else value
    if not isinstance(value, dict) or items is not None:
        return value
    copy = value
    for name, entry in table.items():
        if name not in value:
            continue
        if isinstance(entry, NewField):
            copy = {key: part for key, part in copy.items() if key != name}
        elif (part := _kept(value[name], entry)) is not value[name]:
            copy = {**copy, name: part}
    return copy
