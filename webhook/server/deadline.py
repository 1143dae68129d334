"""How long the API server waits, which it sends with each call as `?timeout=10s`, and how long a review may take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache

#: Seconds that the API server waits by default, and the bounds of `timeoutSeconds`.
DEFAULT, LEAST, MOST = 10.0, 1.0, 30.0

_TIMEOUT = re.compile(r"(?:^|&)timeout=(\d{1,9})s(?![^&])")


@lru_cache(maxsize=64)
def seconds(query: str) -> float:
    """Return the seconds that the caller waits, from the query of a call. API servers send whole seconds.

    The default is used for a query without them. Values out of bounds are moved into the bounds.
    """
    match = _TIMEOUT.search(query)
    return min(max(float(match[1]), LEAST), MOST) if match else DEFAULT


def review_budget(end: float, seconds: float, clock: Callable[[], float] = time.perf_counter) -> Callable[[], bool]:
    """Return a function that tells whether a review that begins now in this thread has used up its time.

    A review has a number of seconds of CPU, not of the clock: on a busy machine, a small object is not denied because
    of others.

    Args:
        end: when the caller stops waiting, on the clock.
        seconds: the seconds of CPU that the review may use.
        clock: returns the time.
    """
    started, suspect = time.thread_time(), clock() + seconds

    def spent() -> bool:
        now = clock()
        return now > end or (now > suspect and time.thread_time() - started > seconds)

    return spent
