"""The memory that a job takes in each replica of the server, to wire its pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from sys import getsizeof
from typing import Any, Final

from pydantic import BaseModel

from jobgate.plugins.crew import Crew

#: Most that one job may cost, in bytes: some 1,800 tasks that share a template. Two hundred such jobs leave half of the
#: memory limit of the manifests free.
LIMIT: Final = 512 * 1024
#: How much more a stored job may take than at admission: for its uid, its name, and plugins of the installation.
MARGIN: Final = 64 * 1024
#: Most of what a crew holds, which refers to nothing.
_LEAVES: Final = frozenset({str, int, bool, type(None)})


def weight(crew: Crew, most: int = LIMIT) -> int:
    """Return the bytes that a crew takes, each object counted once; counting ends beyond `most`."""
    total, seen, left = 0, set(), [crew]
    while left and total <= most:
        one: Any = left.pop()
        is_leaf = type(one) in _LEAVES
        if id(one) in seen or (not is_leaf and callable(one)):  # code is the kind's, and no job's
            continue
        seen.add(id(one))
        total += getsizeof(one)
        if not is_leaf:
            left.extend(_within(one))
    return total


def too_large(crew: Crew) -> str | None:
    """Return why a job is too large to be remembered with its plugins, or None where it is not."""
    if weight(crew) <= LIMIT:
        return None
    containers = sum(len(part.containers) for part in crew.parts)
    return (
        f"the job has {len(crew.parts)} tasks with {containers} containers, for which plugins need more than "
        f"{LIMIT // 1024} KiB of memory in every jobgate replica: use fewer tasks with more replicas each, "
        "shorten their names, or remove plugins"
    )


def _within(value: Any) -> Iterable[Any]:
    """Return what an object refers to."""
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, BaseModel):
        return (value.__dict__,)
    return [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else ()
