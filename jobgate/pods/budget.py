"""Limits requests to the API server: their rate and concurrency; and caches answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

#: Requests per second, and burst, for the pods of one namespace, so that forged pods of one tenant delay no others.
RATE, BURST = 50.0, 100.0
#: Maximum number of remembered namespaces; the least recently used is evicted.
NAMESPACES: Final = 1024

#: Maximum number of concurrent requests, for all namespaces together and for each.
AT_ONCE: Final = 16
SHARE: Final = AT_ONCE // 2

#: Maximum number of cached answers. The budget of a namespace allows 1,600 requests in the lifetime of an answer.
MOST: Final = 4096

T = TypeVar("T")


class Budget:
    """A token bucket for each namespace: `rate` requests per second, and `burst` at once. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float], rate: float = RATE, burst: float = BURST) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, namespace: str) -> bool:
        """Return whether another request is allowed, and count it if so."""
        now = self._clock()
        left, since = self._left.pop(namespace, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1.0
        self._left[namespace] = (left - 1.0 if allowed else left, now)
        if len(self._left) > NAMESPACES:
            self._left.popitem(last=False)
        return allowed


class AnswerCache(Generic[T]):
    """Answers of the API server by question, each kept for some seconds; beyond `most`, the oldest is evicted."""

    def __init__(self, clock: Callable[[], float], most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: Hashable, answer: T, seconds: float) -> None:
        """Keep an answer for this time."""
        self._kept[key] = answer, self._clock() + seconds
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def get(self, key: Hashable, ahead: float = 0.0) -> T | None:
        """Return an answer that is kept for at least `ahead` more seconds, or None."""
        answer, until = self._kept.get(key, (None, 0.0))
        return answer if until > self._clock() + ahead else None
