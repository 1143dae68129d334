"""A work queue: each key is queued once, and processed by one worker at a time."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter
from collections.abc import Callable, Hashable
from enum import Enum
from itertools import count
from typing import Generic, TypeVar

from jobgate.cluster import Backoff

K = TypeVar("K", bound=Hashable)

#: Shortest delay after a failure, and delay after a status, in seconds.
RETRY_PERIOD = 1.0
#: Writes in a row before backoff applies to a key with a `rest`: a job needs some when it starts.
FREE_WRITES = 10
#: Seconds without a write, after the delay, that end a row of writes.
QUIET = 3.0
#: Outdated times in the heap, in addition to as many as there are keys.
_SPARE = 64


def share_of(workers: int) -> int:
    """Return the maximum number of workers of a single namespace."""
    return workers // 2


class ReconcileResult(Enum):
    """The result of work."""

    FINE = "nothing was to be done"
    WROTE = "something was done"
    STATUS = "only a status was written"
    AGAIN = "something is left to be done"


class WorkQueue(Generic[K]):
    """Gives keys to workers when they are due.

    Failed work is retried with backoff, and so is work that must be repeated because another client reverts it.
    Namespaces take turns, and none has all workers, so that no tenant keeps others waiting.
    """

    def __init__(
        self,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        rest: float | None = None,
        namespace: Callable[[K], str] = lambda _: "",
        share: int | None = None,
    ) -> None:
        """Create an empty queue.

        Args:
            backoff: delays after failures, and after work that wrote.
            clock: the time, in seconds.
            rest: delay in seconds after each of the first `FREE_WRITES` writes in a row; without it, the backoff.
            namespace: returns the namespace of a key.
            share: maximum number of keys of a namespace that are processed at once; without it, any number.
        """
        self._rest = rest
        self._namespace = namespace
        self._share = share
        self._backoff = backoff or Backoff(first=0.5, most=60.0)
        self._clock = clock
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = count()
        #: Due keys, by namespace; the namespace of the next turn is first.
        self._ready: dict[str, dict[K, None]] = {}
        self._working: set[K] = set()
        self._workers: Counter[str] = Counter()
        self._meanwhile: dict[K, float] = {}
        self._strikes: dict[K, int] = {}
        self._not_before: dict[K, float] = {}
        #: Number of writes in a row, and end of the delay after the last one; in the order of the last writes.
        self._writes: dict[K, tuple[int, float]] = {}
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        """Number of keys that wait, due or not."""
        return len(self._due)

    @property
    def struggling(self) -> int:
        """Number of keys that failed, or changed something, the last time."""
        return len(self._strikes)

    def add(self, key: K, after: float = 0.0) -> None:
        """Queue a key; it is due after `after` seconds, but not before its delay ends. The earliest time holds."""
        when = max(self._clock() + after, self._not_before.get(key, 0.0))
        if key in self._working:
            self._meanwhile[key] = min(when, self._meanwhile.get(key, when))
        elif when < self._due.get(key, float("inf")):
            self._due[key] = when
            heapq.heappush(self._heap, (when, next(self._order), key))
            self._tidy()
            self._wake.set()

    async def get(self) -> K:
        """Wait for a due key. The caller reports when it is `done`."""
        while True:
            wait = self._next()
            for namespace, keys in self._ready.items():
                if self._share is None or self._workers[namespace] < self._share:
                    return self._taken(namespace, keys)
            self._wake.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _taken(self, namespace: str, keys: dict[K, None]) -> K:
        """Return the first key of a namespace, and move the namespace to the end."""
        key = next(iter(keys))
        del keys[key], self._ready[namespace], self._due[key]
        if keys:
            self._ready[namespace] = keys
        self._working.add(key)
        self._workers[namespace] += 1
        return key

    def done(self, key: K, result: ReconcileResult) -> None:
        """Report the result of work."""
        self._working.discard(key)
        self._workers -= Counter([self._namespace(key)])  # drops counts of 0
        self._wake.set()
        asked = self._meanwhile.pop(key, None)
        if result is ReconcileResult.FINE:
            self._strikes.pop(key, None)
            self._not_before.pop(key, None)
        elif result is ReconcileResult.WROTE and self._rest is not None:
            self._not_before[key] = self._rested(key, self._rest)
        else:
            self._strikes[key] = self._strikes.get(key, 0) + 1
            pause = self._backoff.seconds(self._strikes[key])
            if result is ReconcileResult.AGAIN:
                self._not_before[key] = self._clock() + min(pause, RETRY_PERIOD)
                self.add(key, pause)
            else:
                self._not_before[key] = self._clock() + (RETRY_PERIOD if result is ReconcileResult.STATUS else pause)
        if asked is not None:
            self.add(key, asked - self._clock())

    def _rested(self, key: K, rest: float) -> float:
        """Count a write, and return when the delay after it ends.

        A result of FINE does not end the row: between two writes, the effect of the first one is seen.
        """
        now = self._clock()
        writes, until = self._writes.pop(key, (0, now))
        writes = 1 if now > until + QUIET else writes + 1
        if writes > FREE_WRITES:
            self._strikes[key] = writes - FREE_WRITES
            rest = max(rest, self._backoff.seconds(self._strikes[key]))
        else:
            self._strikes.pop(key, None)
        self._writes[key] = writes, now + rest
        while now > self._writes[oldest := next(iter(self._writes))][1] + QUIET:
            del self._writes[oldest]
        return now + rest

    def _tidy(self) -> None:
        """Drop outdated times before they outnumber the rest."""
        if len(self._heap) > 2 * len(self._due) + _SPARE:
            self._heap = [entry for entry in self._heap if self._due.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)

    def _next(self) -> float | None:
        """Move due keys to the ready ones; return the seconds until the next is due, or None."""
        now = self._clock()
        while self._heap:
            when, _, key = self._heap[0]
            if self._due.get(key) == when:
                if when > now:
                    return when - now
                self._ready.setdefault(self._namespace(key), {})[key] = None
            heapq.heappop(self._heap)  # otherwise the time is outdated
        return None
