"""Whose turn it is to ask the cluster: what one namespace invents must not be another's delay."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from typing import Final

#: Questions on their way at once, for all namespaces together, and for one of them.
AT_ONCE: Final = 16
SHARE: Final = AT_ONCE // 2
#: Questions of one namespace that wait for a turn.
WAITING: Final = 16


class Turns:
    """Hands out turns: to one namespace after the other, and to none more than its share."""

    def __init__(self, at_once: int = AT_ONCE, share: int = SHARE, waiting: int = WAITING) -> None:
        """Make so many turns, with a share of a namespace, and so many of its questions that may wait."""
        self._free = at_once
        self._share = share
        self._most = waiting
        self._taken: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def ask(self, namespace: str) -> asyncio.Future[None] | None:
        """Return what is done once it is a question's turn, or None where too many of its namespace wait already.

        Who has had a turn gives it back with `done`; who does not wait any longer cancels it.
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
        """Return the namespace that has waited for longest and has not its share, or None where there is none."""
        return next((one for one in self._waiting if self._taken[one] < self._share), None)
