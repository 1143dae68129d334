"""Which values of a job no message may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Where users write passwords and tokens: below these fields, of a job or of a pod template.
_PRIVATE = frozenset(
    {
        "annotations",
        "args",
        "command",
        "env",
        "httpGet",  # a path may have a token in its query
        "httpHeaders",
        "options",
        "plugins",
        "repository",  # a URL may have a password in it
        "volumeAttributes",
    }
)


def is_private(path: Sequence[str | int], value: Any) -> bool:
    """Return whether a value may hold a secret: by its place, or because anything may be in it."""
    if value is None or value in ([], {}):
        return False
    return isinstance(value, list | Mapping) or not _PRIVATE.isdisjoint(path)
