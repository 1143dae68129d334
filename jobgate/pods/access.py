"""Asks the API server who may use a prerequisite, within limits, and caches the answers for some seconds.

A review itself makes no request: the answers are requested before it, and unknown permissions are denied.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from jobgate.pods.budget import AnswerCache, Budget
from webhook import User

#: Seconds for which an answer is cached.
ALLOWED, DENIED = 30.0, 3.0
#: Questions per second, and burst, for all namespaces together, because a request may invent namespaces.
RATE, BURST = 200.0, 400.0
#: Maximum number of concurrent questions, and the timeout for those of one review in seconds; the API server waits 5 s.
AT_ONCE: Final = 16
TIMEOUT: Final = 2.0

#: User, verb, resource, name, namespace. An empty name means any, an empty namespace all. The resource may have a
#: subresource.
Question: TypeAlias = tuple[User, str, str, str, str]
#: Asks the cluster; it may raise anything.
Ask: TypeAlias = Callable[[User, str, str, str, str], Awaitable[bool]]

_logger = logging.getLogger("jobgate")


class PermissionCache:
    """A `webhook.Access` with answers of the API server. `clock` returns seconds."""

    def __init__(self, ask: Ask, clock: Callable[[], float], budget: Budget | None = None) -> None:
        self._ask = ask
        self._budget = budget or Budget(clock)
        self._for_all = Budget(clock, RATE, BURST)
        self._answers = AnswerCache[bool](clock)
        self._flights: dict[Question, asyncio.Task[None]] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        """Return whether a user may do something with an object; None if that is unknown."""
        return self._answers.get((user, verb, resource, name, namespace))

    def lacks(self, questions: Iterable[Question]) -> list[Question]:
        """Return the questions without an answer that is cached for long enough to finish a review."""
        return [question for question in questions if self._answers.get(question, ahead=1.0) is None]

    async def learn(self, questions: Iterable[Question], namespace: str = "") -> None:
        """Ask the questions without a cached answer. Without an answer in time, a permission stays unknown.

        Questions about all namespaces count against the budget of `namespace`.
        """
        flights = [
            flight for question in self.lacks(questions) if (flight := self._flight(question, namespace)) is not None
        ]
        if flights:
            await asyncio.wait(flights, timeout=TIMEOUT)

    def _flight(self, question: Question, namespace: str) -> asyncio.Task[None] | None:
        flight = self._flights.get(question)
        if flight is None and self._budget.take(question[4] or namespace) and self._for_all.take(""):
            flight = self._flights[question] = asyncio.create_task(self._fly(question))
            flight.add_done_callback(lambda _: self._flights.pop(question, None))
        return flight

    async def _fly(self, question: Question) -> None:
        try:
            async with asyncio.timeout(TIMEOUT), self._turns:
                answer = await self._ask(*question)
        except Exception as error:  # noqa: BLE001  # a request can fail in any way
            fields = {"user": question[0].name[:253], "name": question[3], "reason": type(error).__qualname__}
            _logger.warning("failed to check the permission", extra={"fields": fields})
            return
        self._answers.keep(question, answer, ALLOWED if answer else DENIED)
