"""Rate limit of requests to the API server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

#: Questions a second, and at once, for the pods of one namespace: one tenant's forgeries are not another's delay.
RATE, BURST = 50.0, 100.0
#: So many namespaces are remembered; the one that was quiet for longest is evicted first.
NAMESPACES = 1024


class Budget:
    """A token bucket for each namespace."""

    def __init__(self, clock: Callable[[], float], rate: float = RATE, burst: float = BURST) -> None:
        """Make a budget of so many questions a second, and so many at once; `clock` gives seconds."""
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, namespace: str) -> bool:
        """Return whether one more question may be asked, and count it if so."""
        now = self._clock()
        left, since = self._left.pop(namespace, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        may = left >= 1.0
        self._left[namespace] = (left - 1.0 if may else left, now)
        if len(self._left) > NAMESPACES:
            self._left.popitem(last=False)
        return may
