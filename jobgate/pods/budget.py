"""Bounds on requests to the API server: how often, whose turn it is, and which answers need no request."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Final

#: Requests a second, and at once, for the pods of one namespace: one tenant's forgeries are not another's delay.
RATE, BURST = 50.0, 100.0
#: Most namespaces that are remembered; the one that was quiet for longest is evicted first.
NAMESPACES: Final = 1024

#: Most requests in flight, for all namespaces together, and for one of them.
AT_ONCE: Final = 16
SHARE: Final = AT_ONCE // 2
#: Most requests of one namespace that wait for a turn.
WAITING: Final = 16

#: Seconds for which a forged reference is remembered, and how many are.
SECONDS: Final = 30.0
MOST: Final = 4096


class Budget:
    """A token bucket for each namespace: `rate` requests a second, and `burst` at once. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float], rate: float = RATE, burst: float = BURST) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, namespace: str) -> bool:
        """Return whether one more request may be made, and count it if so."""
        now = self._clock()
        left, since = self._left.pop(namespace, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        may = left >= 1.0
        self._left[namespace] = (left - 1.0 if may else left, now)
        if len(self._left) > NAMESPACES:
            self._left.popitem(last=False)
        return may


class FairQueue:
    """Gives turns to one namespace after the other, and to none more than its share."""

    def __init__(self, at_once: int = AT_ONCE, share: int = SHARE, waiting: int = WAITING) -> None:
        self._free = at_once
        self._share = share
        self._most = waiting
        self._taken: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def ask(self, namespace: str) -> asyncio.Future[None] | None:
        """Return a future that is done when it is this request's turn, or None if too many of its namespace wait.

        A turn is given back with `done`; a request that no longer waits cancels its future.
        """
        queue = self._waiting.setdefault(namespace, deque())
        if len(queue) >= self._most:
            return None
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._hand_out()
        return turn

    def done(self, namespace: str) -> None:
        """Take a turn back."""
        self._free += 1
        self._taken[namespace] -= 1
        if not self._taken[namespace]:
            del self._taken[namespace]
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free and (namespace := self._next()) is not None:
            queue = self._waiting[namespace]
            turn = queue.popleft()
            if queue:
                self._waiting.move_to_end(namespace)
            else:
                del self._waiting[namespace]
            if not turn.cancelled():
                self._free -= 1
                self._taken[namespace] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        """Return the namespace that has waited for longest and has less than its share."""
        return next((one for one in self._waiting if self._taken[one] < self._share), None)


class Forgeries:
    """Remembers references to jobs that do not exist: the next pod with the same one is denied without a request.

    If there are too many, the namespace that has most of them loses its oldest.
    """

    def __init__(self, clock: Callable[[], float], most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._until: dict[str, OrderedDict[tuple[str, str], float]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, namespace: str, name: str, uid: str) -> None:
        """Remember one from now on."""
        found = self._until.setdefault(namespace, OrderedDict())
        self._count += (name, uid) not in found
        found[name, uid] = self._clock() + SECONDS
        found.move_to_end((name, uid))
        if self._count > self._most:
            largest = max(self._until, key=lambda one: len(self._until[one]))
            self._until[largest].popitem(last=False)
            self._count -= 1
            if not self._until[largest]:
                del self._until[largest]

    def has(self, namespace: str, name: str, uid: str) -> bool:
        """Return whether one is remembered."""
        found = self._until.get(namespace)
        return found is not None and found.get((name, uid), 0.0) > self._clock()
