"""How late the event loop is: while one review takes long, all other callers wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: Between two looks, in seconds.
EVERY = 0.5


async def measure(observe: Callable[[float], None], every: float = EVERY) -> None:
    """Tell for ever how much later than it should this is woken, in seconds."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every
        await asyncio.sleep(every)
        observe(max(0.0, loop.time() - due))
