"""Keeps certificates rotated: at once when the Secret or a configuration changes, and by the clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from certs import Blocked, Conflict, Refusal, Rotation, Step, Unavailable, Wait
from jobgate.cluster.informer import Api, Backoff, Informer, Key
from jobgate.cluster.objects import asked_version
from jobgate.cluster.resource import Resource

#: However long there is nothing to do, it is looked after so many seconds: clocks jump, machines sleep, watches die.
LOOK = 60.0
#: After a change, others of the same apply may follow: so many seconds later all are seen at once.
TOGETHER = 0.2

_SOON: Final = Backoff(first=1.0, most=30.0)
_logger = logging.getLogger("jobgate")


class Keeper:
    """Runs a rotation whenever there may be something to do.

    Attributes:
        rotation: that is run.
        settled: whether a pass has been made.
        outcome: what the last pass ended with; None where it ended with an error.
        problem: what is wrong, or nothing.
    """

    def __init__(self, rotation: Rotation, watched: Iterable[tuple[Resource, Api]]) -> None:
        """Make one that does nothing yet.

        Args:
            rotation: that is run.
            watched: resources, each with the way to those of its objects whose changes wake it.
        """
        self.rotation = rotation
        self.settled = False
        self.outcome: Wait | Blocked | None = None
        self.problem = ""
        self._woken = asyncio.Event()
        backoff = Backoff(first=1.0, most=LOOK)
        self._watched = [
            (Informer(resource, backoff, keep=asked_version, changed=self._changed), api) for resource, api in watched
        ]

    async def work(self) -> None:
        """Work until cancelled."""
        failures = 0
        async with asyncio.TaskGroup() as group:
            for informer, api in self._watched:
                group.create_task(informer.run(api))
            while True:
                self._woken.clear()
                failures = 0 if await self._passed() else failures + 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._idle(failures)):
                        await self._woken.wait()
                        await asyncio.sleep(TOGETHER)

    async def _passed(self) -> bool:
        """Make one pass; tell whether it ended without an error."""
        try:
            outcome = await self.rotation.run(timedelta(seconds=1))
        except (Conflict, Refusal, Unavailable) as error:
            self.outcome = None
            self._tell(str(error))
            return False
        self.outcome, self.settled = outcome, True
        wrong = isinstance(outcome, Blocked) or outcome.overdue
        self._tell(outcome.why if wrong else "")
        return True

    def _idle(self, failures: int) -> float:
        """Return for how long to wait, in seconds."""
        if failures:
            return _SOON.seconds(failures)
        if isinstance(self.outcome, Wait) and self.rotation.seen is not None:
            left = (self.outcome.until - self.rotation.seen.now).total_seconds()
            return min(LOOK, max(1.0, left + 0.1))
        return LOOK

    def _changed(self, _: Key) -> None:
        self._woken.set()

    def _tell(self, problem: str) -> None:
        """Log a problem once, however long it lasts."""
        if problem and problem != self.problem:
            _logger.error("certificates", extra={"fields": {"problem": problem}})
        elif self.problem and not problem:
            _logger.info("certificates", extra={"fields": {"problem": "none any more"}})
        self.problem = problem


def told(step: Step) -> None:
    """Log a step; what is waited for is no step."""
    if not isinstance(step, Wait | Blocked):
        fields = {"step": type(step).__name__.lower(), "why": step.why}
        _logger.info("certificates", extra={"fields": fields})
