"""What it costs to remember a job: each replica holds what it needs of every job to wire its pods."""

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
#: How much more a stored job may cost than it did when it was admitted: it has a uid by now, maybe a longer name, and
#: what the installation asks for.
MARGIN: Final = 64 * 1024
#: Most of what a crew holds, which refers to nothing.
_LEAVES: Final = frozenset({str, int, bool, type(None)})


def weight(crew: Crew, most: int = LIMIT) -> int:
    """Return the bytes that a crew takes, each object counted once; of one beyond `most`, something beyond `most`."""
    total, seen, left = 0, set(), [crew]
    while left and total <= most:
        one: Any = left.pop()
        if id(one) in seen:
            continue
        if type(one) in _LEAVES:
            seen.add(id(one))
            total += getsizeof(one)
        elif not callable(one):  # code is the kind's, and no job's
            seen.add(id(one))
            total += getsizeof(one)
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
