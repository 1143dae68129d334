"""When the rotation makes a pass: after a change of the Secret or a configuration, and when a step is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from certs import Blocked, Conflict, Refusal, Rotation, Step, Unavailable, Wait
from jobgate.cluster.informer import Api, Backoff, Informer
from jobgate.cluster.objects import asked_version
from jobgate.cluster.resource import Resource

#: Longest time between two passes, in seconds: clocks jump, machines sleep, watches break.
RESYNC = 60.0
#: Seconds between a change and the pass, so that one pass sees all changes of an apply.
SETTLE = 0.2

_BACKOFF: Final = Backoff(first=1.0, most=30.0)
_logger = logging.getLogger("jobgate")


class Keeper:
    """Runs a rotation whenever there may be something to do.

    Attributes:
        settled: whether a pass has been made.
        outcome: result of the last pass; None if it failed.
        problem: what blocks the rotation; empty if nothing does.
    """

    def __init__(self, rotation: Rotation, watched: Iterable[tuple[Resource, Api]]) -> None:
        """Create a keeper that is not running."""
        self.rotation = rotation
        self.settled = False
        self.outcome: Wait | Blocked | None = None
        self.problem = ""
        self._woken = asyncio.Event()
        backoff = Backoff(first=1.0, most=RESYNC)
        self._watched = [
            (Informer(resource, backoff, keep=asked_version, changed=lambda _: self._woken.set()), api)
            for resource, api in watched
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
                        await asyncio.sleep(SETTLE)

    async def _passed(self) -> bool:
        """Make one pass; return whether it ended without an error."""
        try:
            outcome = await self.rotation.run(timedelta(seconds=1))
        except (Conflict, Refusal, Unavailable) as error:
            self.outcome = None
            self._report(str(error))
            return False
        self.outcome, self.settled = outcome, True
        wrong = isinstance(outcome, Blocked) or outcome.overdue
        self._report(outcome.why if wrong else "")
        return True

    def _idle(self, failures: int) -> float:
        """Return the seconds until the next pass."""
        if failures:
            return _BACKOFF.seconds(failures)
        if isinstance(self.outcome, Wait) and self.rotation.seen is not None:
            left = (self.outcome.until - self.rotation.seen.now).total_seconds()
            return min(RESYNC, max(1.0, left + 0.1))
        return RESYNC

    def _report(self, problem: str) -> None:
        """Log a problem once, however long it lasts."""
        if problem and problem != self.problem:
            _logger.error("certificate rotation blocked", extra={"fields": {"reason": problem}})
        elif self.problem and not problem:
            _logger.info("certificate rotation no longer blocked")
        self.problem = problem


def log_step(step: Step) -> None:
    """Log a step that was done."""
    if not isinstance(step, Wait | Blocked):
        fields = {"step": type(step).__name__.lower(), "why": step.why}
        _logger.info("certificate rotation step", extra={"fields": fields})
