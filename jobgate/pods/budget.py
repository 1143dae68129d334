"""Bounds on requests to the API server: how often, how many at once, and which answers need no request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

#: Requests a second, and at once, for the pods of one namespace: one tenant's forgeries are not another's delay.
RATE, BURST = 50.0, 100.0
#: Most namespaces that are remembered; the one that was quiet for longest is evicted first.
NAMESPACES: Final = 1024

#: Most requests in flight, for all namespaces together, and for one of them.
AT_ONCE: Final = 16
SHARE: Final = AT_ONCE // 2

#: Most answers that are kept. With its budget, a namespace has the API server asked 1,600 times while one is kept.
MOST: Final = 4096

T = TypeVar("T")


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


class AnswerCache(Generic[T]):
    """Answers of the API server by what was asked, each kept for some seconds; beyond `most`, the oldest is evicted."""

    def __init__(self, clock: Callable[[], float], most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: Hashable, answer: T, seconds: float) -> None:
        """Keep an answer from now on."""
        self._kept[key] = answer, self._clock() + seconds
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def get(self, key: Hashable, ahead: float = 0.0) -> T | None:
        """Return an answer that holds for so many seconds more, or None."""
        answer, until = self._kept.get(key, (None, 0.0))
        return answer if until > self._clock() + ahead else None
