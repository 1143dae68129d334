"""Requests that wait to be answered: all that has arrived is read before the first is answered.

So it is known how long each has waited, and the event loop gets to run between two of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

#: For how long requests are answered before the event loop reads what has arrived meanwhile, in seconds.
SLICE = 0.01


class RequestQueue(Generic[T]):
    """A queue of one event loop."""

    def __init__(self, handle: Callable[[T], None]) -> None:
        self._handle = handle
        self._waiting: deque[T] = deque()
        self._due = False

    def put(self, item: T) -> None:
        """Handle an item soon, after those before it."""
        self._waiting.append(item)
        if not self._due:
            self._due = True
            loop = asyncio.get_running_loop()  # a system call, up to Python 3.11: not for each item
            loop.call_soon(self._run, loop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        end = loop.time() + SLICE
        try:
            while self._waiting and loop.time() < end:
                self._handle(self._waiting.popleft())
        finally:
            self._due = bool(self._waiting)
            if self._due:
                loop.call_soon(self._run, loop)
