"""What an operator built from older Kubernetes types loses of a pod template.

A typed client reads a job into structs, and what they do not list is gone when it makes pods of it, without a word.
A job that could then not run, or would run with less security than asked for, is refused; other losses are
warnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from jobgate.kinds.common.losses import TEMPLATE, Each, Loss, New, Table
from webhook.cause import Cause, Forbidden, Notice
from webhook.path import Path

#: The oldest minor version whose losses are known whole.
OLDEST: Final = 21


@dataclass(frozen=True, slots=True)
class DroppedField:
    """A field that an operator drops.

    Attributes:
        path: where the template has it.
        since: the minor version of Kubernetes that it came with.
        loss: what it means to lose it.
        consequence: what happens without it, and what to do.
    """

    path: Path
    since: int
    loss: Loss
    consequence: str

    @property
    def fatal(self) -> bool:
        """Whether the job cannot run as meant without the field."""
        return self.loss is Loss.FATAL


def vintage_findings(template: Mapping[str, Any], path: Path, *, minor: int, operator: str) -> Iterator[Cause | Notice]:
    """Report every field that the operator drops, and refuse it if the job needs it.

    Args:
        template: the pod template.
        path: of it in the job.
        minor: the minor version of the Kubernetes types that the operator was built with.
        operator: what the operator is called.
    """
    for field in dropped(template, minor, path):
        text = f"{operator}, built for Kubernetes 1.{minor}, drops this field (added in 1.{field.since}): "
        if field.fatal:
            yield Forbidden(field.path, text + field.consequence)
        elif field.loss is Loss.MINOR:
            yield Notice(field.path, text + field.consequence)


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
def _newer(minor: int) -> Table:
    """Return the part of the table that types of a minor version lack."""
    return _newer_part(TEMPLATE, minor)


def _newer_part(table: Table, minor: int) -> Table:
    parts: dict[str, New | Each | Table] = {}
    for name, entry in table.items():
        if isinstance(entry, New):
            if entry.since > minor:
                parts[name] = entry
            elif entry.inner and (inner := _newer_part(entry.inner, minor)):
                parts[name] = _of_lists(name, inner)
        elif isinstance(entry, Each):
            if item := _newer_part(entry.item, minor):
                parts[name] = Each(item)
        elif inner := _newer_part(entry, minor):
            parts[name] = inner
    return parts


def _of_lists(name: str, inner: Table) -> Each | Table:
    """Return what came into a field later, as a table of items where the field is a list."""
    return Each(inner) if name in {"claims", "resourceClaims"} else inner


def _lost(value: Any, table: Table, path: Path) -> Iterator[DroppedField]:
    if not isinstance(value, dict):
        return
    for name, entry in table.items():
        part = value.get(name)
        if part is None or part in ([], {}):
            continue
        if isinstance(entry, New):
            loss = entry.loss if isinstance(entry.loss, Loss) else entry.loss(part)
            yield DroppedField(path / name, entry.since, loss, entry.consequence)
        elif not isinstance(entry, Each):
            yield from _lost(part, entry, path / name)
        elif isinstance(part, list):
            for index, item in enumerate(part):
                yield from _lost(item, entry.item, path / name / index)


def _kept(value: Any, table: Table) -> Any:
    if not isinstance(value, dict):
        return value
    copy: dict[str, Any] | None = None
    for name, entry in table.items():
        if name not in value:
            continue
        part = value[name]
        if isinstance(entry, New):
            copy = dict(value) if copy is None else copy
            del copy[name]
            continue
        kept: Any = _kept_items(part, entry.item) if isinstance(entry, Each) else _kept(part, entry)
        if kept is not part:
            copy = dict(value) if copy is None else copy
            copy[name] = kept
    return value if copy is None else copy


def _kept_items(value: Any, table: Table) -> Any:
    if not isinstance(value, list):
        return value
    kept = [_kept(item, table) for item in value]
    return kept if any(new is not old for new, old in zip(kept, value, strict=True)) else value
