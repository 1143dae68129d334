"""Who may use which prerequisite: the API server is asked, within bounds, and its answers are kept for some seconds.

A review makes no request: what it needs is asked for before, and what is not known then is denied.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from jobgate.pods.budget import AnswerCache, Budget
from webhook import User

#: Seconds for which an answer holds.
ALLOWED, DENIED = 30.0, 3.0
#: Questions a second, and at once, for all namespaces together: names of namespaces may be made up.
RATE, BURST = 200.0, 400.0
#: Most questions in flight, and the timeout of all that a review needs, in seconds: the API server waits 5 s.
AT_ONCE: Final = 16
TIMEOUT: Final = 2.0

#: User, verb, resource, name, namespace; empty for any name, and for all namespaces. The plural may have a subresource.
Question: TypeAlias = tuple[User, str, str, str, str]
#: Asks the cluster; it may raise anything.
Ask: TypeAlias = Callable[[User, str, str, str, str], Awaitable[bool]]

_logger = logging.getLogger("jobgate")


class PermissionCache:
    """A `webhook.Access` whose answers come from the API server. `clock` gives seconds."""

    def __init__(self, ask: Ask, clock: Callable[[], float], budget: Budget | None = None) -> None:
        self._ask = ask
        self._budget = budget or Budget(clock)
        self._for_all = Budget(clock, RATE, BURST)
        self._answers = AnswerCache[bool](clock)
        self._flights: dict[Question, asyncio.Task[None]] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        """Return whether a user may do something with an object; None where that is not known."""
        return self._answers.get((user, verb, resource, name, namespace))

    def lacks(self, questions: Iterable[Question]) -> list[Question]:
        """Return those of some questions whose answer is not known, or not for long enough to review with it."""
        return [one for one in questions if self._answers.get(one, ahead=1.0) is None]

    async def learn(self, questions: Iterable[Question], namespace: str = "") -> None:
        """Ask what is not known. What is not answered in time stays unknown.

        `namespace` is that on whose account questions about all namespaces are asked.
        """
        flights = [flight for one in self.lacks(questions) if (flight := self._flight(one, namespace)) is not None]
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
        except Exception as error:  # noqa: BLE001  # of a network: whatever it is, nothing is known
            fields = {"user": question[0].name[:253], "name": question[3], "reason": type(error).__qualname__}
            _logger.warning("failed to check the permission", extra={"fields": fields})
            return
        self._answers.keep(question, answer, ALLOWED if answer else DENIED)
