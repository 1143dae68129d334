"""Runs a controller: waits for its caches, then gives jobs from the work queue to its workers."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jobgate.cluster import Api, Informer
from jobgate.cluster.informer import ApiError
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.queue import ReconcileResult, WorkQueue

K = TypeVar("K", bound=tuple[Any, ...])

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True)
class Work(Generic[K]):
    """The work of a controller. `name` is the label `controller` of metrics, `resync` in seconds.

    `informers` are pairs of an informer and its client.
    """

    name: str
    queue: WorkQueue[K]
    reconcile: Callable[[K], Awaitable[ReconcileResult]]
    keys: Callable[[], Iterable[K]]
    resync: float
    workers: int
    metrics: ControllerMetrics
    informers: Sequence[tuple[Informer[Any], Api]]

    @property
    def settled(self) -> bool:
        """Whether all caches are filled."""
        return all(informer.settled for informer, _ in self.informers)

    async def run(self, *beside: Callable[[], Coroutine[None, None, None]]) -> None:
        """Work until cancelled. Functions in `beside` start when all caches are filled."""
        self.metrics.follow(self.name, depth=lambda: len(self.queue), struggling=lambda: self.queue.struggling)
        self.metrics.watch(informer for informer, _ in self.informers)
        async with asyncio.TaskGroup() as group:
            for informer, api in self.informers:
                group.create_task(informer.run(api))
            # Until then, all objects would seem to be missing.
            while not self.settled:  # noqa: ASYNC110  # it is some seconds, once
                await asyncio.sleep(0.05)
            for task in (self._resync, *beside, self._serve):
                group.create_task(task())

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self.resync)
            for key in self.keys():
                self.queue.add(key, random.uniform(0.0, self.resync / 2))  # noqa: S311  # spread, not secret

    async def _serve(self) -> None:
        """Reconcile due jobs. One task waits for them: each new job would wake up several waiting ones."""
        free = asyncio.Semaphore(self.workers)
        async with asyncio.TaskGroup() as group:
            while True:
                await free.acquire()
                key = await self.queue.get()
                group.create_task(self._look(key)).add_done_callback(lambda _: free.release())

    async def _look(self, key: K) -> None:
        result, began = ReconcileResult.AGAIN, time.monotonic()
        try:
            result = await self.reconcile(key)
        except Exception as error:  # noqa: BLE001  # it is retried, and others go on
            self._failed(key, error)
        finally:
            self.queue.done(key, result)
        self.metrics.latency.labels(self.name).observe(time.monotonic() - began)
        self.metrics.reconciles.labels(self.name, result.name.lower()).inc()

    def _failed(self, key: K, error: Exception) -> None:
        self.metrics.errors.labels(self.name).inc()
        # The text of other errors may quote an object.
        known = isinstance(error, ApiError | OSError | TimeoutError | LookupError)
        reason = f"{type(error).__qualname__}: {error}" if known else type(error).__qualname__
        plural, namespace, name = key
        fields = {"kind": str(plural), "job": f"{namespace}/{name}", "reason": reason}
        _logger.warning("reconciliation failed, will be retried", extra={"fields": fields})
