"""References to jobs that are not there: the next pod with the same one is refused without asking."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

#: For how long a forged reference is remembered, in seconds, and how many of them.
SECONDS: Final = 30.0
MOST: Final = 4096


class Forgeries:
    """Remembers forged references for a while: names and uids of jobs, by namespace.

    Where there are too many, the namespace that has most of them loses its oldest.
    """

    def __init__(self, clock: Callable[[], float], most: int = MOST) -> None:
        """Know none; `clock` gives seconds."""
        self._clock = clock
        self._most = most
        self._until: dict[str, OrderedDict[tuple[str, str], float]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, namespace: str, name: str, uid: str) -> None:
        """Remember one from now on."""
        of = self._until.setdefault(namespace, OrderedDict())
        self._count += (name, uid) not in of
        of[name, uid] = self._clock() + SECONDS
        of.move_to_end((name, uid))
        if self._count > self._most:
            self._forget(max(self._until, key=lambda one: len(self._until[one])))

    def has(self, namespace: str, name: str, uid: str) -> bool:
        """Return whether one is remembered."""
        of = self._until.get(namespace)
        return of is not None and of.get((name, uid), 0.0) > self._clock()

    def _forget(self, namespace: str) -> None:
        of = self._until[namespace]
        of.popitem(last=False)
        self._count -= 1
        if not of:
            del self._until[namespace]
