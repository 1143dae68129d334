"""What a controller does with its caches and its work queue: wait until it knows, then look at job after job."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jobgate.cluster import Api, Informer
from jobgate.cluster.informer import ApiError
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.queue import Outcome, Queue

K = TypeVar("K", bound=tuple[Any, ...])

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True)
class Work(Generic[K]):
    """The work of a controller.

    Attributes:
        name: the label `controller` of metrics.
        queue: of what is to be looked at.
        reconcile: looks at a job.
        keys: gives all jobs.
        resync: after so many seconds each job is looked at, whatever is known.
        workers: how many jobs are looked at at once.
        metrics: what is counted.
        informers: the caches, each with the API server that it asks.
    """

    name: str
    queue: Queue[K]
    reconcile: Callable[[K], Awaitable[Outcome]]
    keys: Callable[[], Iterable[K]]
    resync: float
    workers: int
    metrics: ControllerMetrics
    informers: Sequence[tuple[Informer[Any], Api]]

    @property
    def settled(self) -> bool:
        """Whether it is known what there is."""
        return all(informer.settled for informer, _ in self.informers)

    async def run(self, *beside: Callable[[], Awaitable[None]]) -> None:
        """Work, for ever; beside it, do this, as soon as it is known what there is."""
        self.metrics.follow(self.name, depth=lambda: len(self.queue), struggling=lambda: self.queue.struggling)
        async with asyncio.TaskGroup() as group:
            for informer, api in self.informers:
                group.create_task(informer.run(api))
            # Before it is known what there is, everything would seem to be missing.
            while not self.settled:  # noqa: ASYNC110  # it is some seconds, once
                await asyncio.sleep(0.05)
            for one in (self._resync, *beside, *[self._serve] * self.workers):
                group.create_task(_awaited(one))

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self.resync)
            for key in self.keys():
                self.queue.add(key, random.uniform(0.0, self.resync / 2))  # noqa: S311  # spread, not secret

    async def _serve(self) -> None:
        while True:
            key = await self.queue.get()
            outcome, began = Outcome.AGAIN, time.monotonic()
            try:
                outcome = await self.reconcile(key)
            except Exception as error:  # noqa: BLE001  # whatever it is: it is tried again, and others go on
                self._failed(key, error)
            finally:
                self.queue.done(key, outcome)
            self.metrics.latency.labels(self.name).observe(time.monotonic() - began)
            self.metrics.reconciles.labels(self.name, outcome.name.lower()).inc()

    def _failed(self, key: K, error: Exception) -> None:
        self.metrics.errors.labels(self.name).inc()
        # The text of what is no answer of the API server's may quote an object.
        known = isinstance(error, ApiError | OSError | TimeoutError | LookupError)
        reason = f"{type(error).__qualname__}: {error}" if known else type(error).__qualname__
        plural, namespace, name = key
        fields = {"kind": str(plural), "job": f"{namespace}/{name}", "reason": reason}
        _logger.warning("reconciliation failed, will be retried", extra={"fields": fields})


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()
