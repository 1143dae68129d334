"""The thread that reviews large objects, one after another, while the event loop reviews small ones."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class ReviewThread:
    """One thread with a limited queue. The first large object starts it.

    A review begins only after the result of the last one is taken: a denial can hold a whole large object, and many
    would be held while the event loop is busy.
    """

    def __init__(self, most: int) -> None:
        """`most` is the largest number of waiting reviews, with the running one."""
        self._most = most
        self._waiting = 0
        self._turn = asyncio.Lock()
        self._threads = ThreadPoolExecutor(1, "large")

    @property
    def full(self) -> bool:
        """Whether no more may wait."""
        return self._waiting >= self._most

    async def run(self, work: Callable[[], T]) -> T:
        """Call a function in the thread, after the ones before it, and return its result."""
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.get_running_loop().run_in_executor(self._threads, _uncollected, work)
        finally:
            self._waiting -= 1


def _uncollected(work: Callable[[], T]) -> T:
    """Call a function with the garbage collector off.

    It would visit all parts of a large object again and again, and stop all other threads: 0.1 to 0.4 s for 3 MiB. The
    parts of an object are freed without it.
    """
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()
