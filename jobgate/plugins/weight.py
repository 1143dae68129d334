"""The memory that each replica of the server needs for a job, to wire its pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import getsizeof
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple
from pydantic import BaseModel

from jobgate.plugins.crew import Crew

#: Maximum memory of one job in bytes: some 1,800 tasks that share a template. Two hundred such jobs use half of the
#: memory limit in the manifests.
LIMIT: Final = 512 * 1024
#: Additional memory of a stored job, which admission does not count: its uid, its name, plugins of the installation.
MARGIN: Final = 64 * 1024
#: Types that refer to no other objects; most values in a crew have them.
_LEAVES: Final = frozenset({str, int, bool, type(None)})


def weight(crew: Crew, most: int = LIMIT) -> int:
    """Return the size of a crew in bytes, each object counted once; counting ends beyond `most`."""
    total, seen, pending = 0, set(), [crew]
    while pending and total <= most:
        value: Any = pending.pop()
        is_leaf = type(value) in _LEAVES
        if id(value) in seen or (not is_leaf and callable(value)):  # all jobs share the code of their kind
            continue
        seen.add(id(value))
        total += getsizeof(value)
        if not is_leaf:
            pending.extend(_within(value))
    return total


def too_large(crew: Crew) -> str | None:
    """Return why a job is too large to be remembered with its plugins, or None if it is not."""
    if weight(crew) <= LIMIT:
        return None
    containers = sum(len(part.containers) for part in crew.parts)
    return (
        f"the job has {len(crew.parts)} tasks with {containers} containers, and plugins need more than "
        f"{LIMIT // 1024} KiB of memory in every jobgate replica: use fewer tasks with more replicas each, "
        "shorten their names, or remove plugins"
    )


def _within(value: Any) -> Iterable[Any]:
    """Return the objects that an object refers to."""
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, BaseModel):
        return (value.__dict__,)
    return astuple(value) if isinstance(value, Struct) else ()
