"""Waits for a condition."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
#: Seconds. What takes one on an idle machine takes many on a busy one, and a condition that holds costs no more.
TIMEOUT = 120.0


def wait_for(condition: Callable[[], T], timeout: float = TIMEOUT, every: float = 0.05, what: str = "") -> T:
    """Call the condition until its result is true, and return the result.

    Raises:
        TimeoutError: it was not true in time; the message has the last result.
    """
    deadline = time.monotonic() + timeout
    while not (result := condition()):
        if time.monotonic() >= deadline:
            name = what or getattr(condition, "__name__", "the condition")
            raise TimeoutError(f"{name}: not after {timeout:g} s; last: {result!r}")
        time.sleep(every)
    return result
