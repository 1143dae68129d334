"""Waiting for something to become true."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], T], timeout: float = 10.0, every: float = 0.05, what: str = "") -> T:
    """Call the condition until it gives something true, and give that back.

    Raises:
        TimeoutError: it never did; the message has what it gave last.
    """
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() >= deadline:
            name = what or getattr(condition, "__name__", "the condition")
            raise TimeoutError(f"{name}: not after {timeout:g} s; last: {found!r}")
        time.sleep(every)
    return found
