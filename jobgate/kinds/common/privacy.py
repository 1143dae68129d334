"""Which values of a job no message may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Where users write passwords and tokens.
_PRIVATE = frozenset({"env", "command", "args", "httpHeaders", "volumeAttributes", "options", "annotations"})


def is_private(path: Sequence[str | int], value: Any) -> bool:
    """Tell whether a value may hold a secret: by its place, or because anything may be in it."""
    if value is None or value in ([], {}):
        return False
    return isinstance(value, list | Mapping) or not _PRIVATE.isdisjoint(path)
