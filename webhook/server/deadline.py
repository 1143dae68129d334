"""How long the API server waits: it says so with every call, as `?timeout=10s`; and how long a review may take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

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


def review_budget(end: float, seconds: float, clock: Callable[[], float] = time.perf_counter) -> Callable[[], bool]:
    """Return what tells whether a review that begins now in this thread has used up its time.

    A review has so many seconds of CPU, not of the clock: on a busy machine, a small job is not denied for what others
    use.

    Args:
        end: when its caller stops waiting, on the clock.
        seconds: of CPU that it may use.
        clock: gives the time.
    """
    started, suspect = time.thread_time(), clock() + seconds

    def spent() -> bool:
        now = clock()
        return now > end or (now > suspect and time.thread_time() - started > seconds)

    return spent
