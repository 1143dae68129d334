"""How long the API server waits: it says so with every call, as `?timeout=10s`; and how long a review may take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache

#: What the API server waits where it says nothing, and the bounds of `timeoutSeconds`.
DEFAULT, LEAST, MOST = 10.0, 1.0, 30.0

_TIMEOUT = re.compile(r"(?:^|&)timeout=(\d{1,9})s(?![^&])")


@lru_cache(maxsize=64)
def seconds(query: str) -> float:
    """Return the time to answer in, in seconds, from the query of a call, in which API servers write whole seconds.

    A query that says nothing of that form has the default; what is out of bounds is moved into them.
    """
    found = _TIMEOUT.search(query)
    return min(max(float(found[1]), LEAST), MOST) if found else DEFAULT


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
