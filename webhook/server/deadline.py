"""How long the API server waits: it says so with every call, as `?timeout=10s`."""

from __future__ import annotations

import re

#: What the API server waits where it says nothing, and the bounds of `timeoutSeconds`.
DEFAULT, LEAST, MOST = 10.0, 1.0, 30.0

_PART = re.compile(r"(\d{1,9}(?:\.\d{0,9})?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(timeout: str | None) -> float:
    """Return the time to answer in, in seconds, from a Go duration such as `5s` or `1m30s`.

    What is no duration counts as the default; what is out of bounds is moved into them: a hint must not fail a call.
    """
    if not timeout:
        return DEFAULT
    total, end = 0.0, 0
    for part in _PART.finditer(timeout):
        if part.start() != end:
            return DEFAULT
        total += float(part[1]) * _SECONDS[part[2]]
        end = part.end()
    if end != len(timeout):
        return DEFAULT
    return min(max(total, LEAST), MOST)
