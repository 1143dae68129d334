"""How often an API server is called at most."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """Lets calls through: so many a second, and after a quiet time twice as many at once."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1.0 / per_second
        self._burst = 2.0 * per_second * self._interval
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for one's turn."""
        now = time.monotonic()
        # What was not used lately is there at once; what is used beyond it is owed.
        self._next = max(self._next, now - self._burst) + self._interval
        if self._next > now:
            await asyncio.sleep(self._next - now)
