"""The life of the controller: wait for the Lease, know what there is, and look at job after job."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from jobgate.cluster import Api, Backoff, Informer
from jobgate.cluster.informer import Refused
from jobgate.cluster.objects import Objects
from jobgate.cluster.resource import Resource
from jobgate.controller.desired import followed
from jobgate.controller.events import Events
from jobgate.controller.jobs import Jobs, Key
from jobgate.controller.loop import Loop
from jobgate.controller.metrics import NAME, ControllerMetrics
from jobgate.controller.owned import Owned
from jobgate.controller.pace import Pace
from jobgate.controller.queue import Outcome, Queue
from jobgate.controller.statuses import Statuses, Writes
from jobgate.controller.territory import Territory
from jobgate.names import MANAGED_BY
from webhook import Kind
from webhook import Settings as Told

#: How many jobs are looked at at once.
WORKERS = 4
#: An object's change is waited out for so long, in seconds: what a look makes comes back as several.
SETTLE = 0.2

_logger = logging.getLogger("jobgate")


class Cluster(Api, Objects, Writes, Protocol):
    """What the controller asks of an API server."""

    def labelled(self, selector: str) -> Api:
        """Return the same API server, of which only the objects of a label selector are listed and watched."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the controller works.

    Attributes:
        domain: of the cluster's Services.
        requests_per_second: how often the API server is called at most, beside watching.
        resync: after so many seconds each job is looked at, whatever is known: a Secret's loss is not seen otherwise.
        backoff: of informers, after failures.
        plugins: what the installation asks for, for every job, each with its arguments.
        namespace: that the controller runs in, and leaves alone; empty for none.
    """

    domain: str
    requests_per_second: float = 50.0
    resync: float = 300.0
    backoff: Backoff | None = None
    plugins: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ""


class Controller:
    """Makes what the plugins of jobs declare, and keeps it so, while `work` runs."""

    def __init__(self, cluster: Cluster, kinds: Iterable[Kind], settings: Settings, metrics: ControllerMetrics) -> None:
        self._cluster = cluster
        self._settings = settings
        self._metrics = metrics
        self._kinds = tuple(kinds)
        self._informers: list[Informer[Any]] = []

    @property
    def settled(self) -> bool:
        """Whether it is known what there is."""
        return bool(self._informers) and all(one.settled for one in self._informers)

    async def work(self) -> None:
        """Work, for ever."""
        queue: Queue[Key] = Queue()
        told = Told(plugins=self._settings.plugins, domain=self._settings.domain)
        jobs = Jobs(self._kinds, told, queue.add, self._settings.backoff)
        owned = Owned(followed(told.plugins), jobs.owner, lambda key: queue.add(key, SETTLE), self._settings.backoff)
        pace = Pace(self._settings.requests_per_second)
        objects = Paced(self._cluster, pace)
        territory = Territory(self._settings.namespace, self._settings.backoff)
        loop = Loop(jobs, owned, objects, Events(objects), self._metrics, territory)
        self._metrics.follow(NAME, depth=lambda: len(queue), struggling=lambda: queue.struggling)
        statuses = Statuses(self._cluster, pace, self._settings.backoff)
        self._informers = [territory.namespaces, *jobs.informers.values(), *owned.informers.values()]
        ours = self._cluster.labelled("=".join(MANAGED_BY))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(statuses.run(self._cluster))
                group.create_task(territory.namespaces.run(self._cluster))
                for job_informer in jobs.informers.values():
                    group.create_task(job_informer.run(self._cluster))
                for informer in owned.informers.values():
                    group.create_task(informer.run(ours))
                # Before it is known what there is, everything would seem to be missing.
                await self._know()
                group.create_task(self._resync(jobs, queue))
                for _ in range(WORKERS):
                    group.create_task(self._serve(queue, loop))
        finally:
            self._informers = []

    async def _know(self) -> None:
        while not self.settled:  # noqa: ASYNC110  # it is some seconds, once
            await asyncio.sleep(0.05)

    async def _resync(self, jobs: Jobs, queue: Queue[Key]) -> None:
        while True:
            await asyncio.sleep(self._settings.resync)
            for key in jobs:
                queue.add(key, random.uniform(0.0, self._settings.resync / 2))  # noqa: S311  # spread, not secret

    async def _serve(self, queue: Queue[Key], loop: Loop) -> None:
        while True:
            key = await queue.get()
            outcome, began = Outcome.AGAIN, time.monotonic()
            try:
                outcome = await loop.reconcile(key)
            except Exception as error:  # noqa: BLE001  # whatever it is: it is tried again, and others go on
                self._failed(key, error)
            finally:
                queue.done(key, outcome)
            self._metrics.latency.labels(NAME).observe(time.monotonic() - began)
            self._metrics.reconciles.labels(NAME, outcome.name.lower()).inc()

    def _failed(self, key: Key, error: Exception) -> None:
        self._metrics.errors.labels(NAME).inc()
        # The text of what is no answer of the API server's may quote an object.
        known = isinstance(error, Refused | OSError | TimeoutError | LookupError)
        reason = f"{type(error).__qualname__}: {error}" if known else type(error).__qualname__
        fields = {"kind": key.resource.plural, "job": f"{key.namespace}/{key.name}", "reason": reason}
        _logger.warning("reconciliation failed, will be retried", extra={"fields": fields})


class Paced:
    """An API server that is not called too often."""

    def __init__(self, objects: Objects, pace: Pace) -> None:
        self._objects = objects
        self._pace = pace

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object as it is stored now."""
        await self._pace.wait()
        return await self._objects.get(resource, name, namespace)

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        """Create an object."""
        await self._pace.wait()
        return await self._objects.create(resource, manifest, dry=dry)

    async def patch(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change an object."""
        await self._pace.wait()
        return await self._objects.patch(resource, found, changes)

    async def delete(self, resource: Resource, found: Mapping[str, Any]) -> None:
        """Delete an object."""
        await self._pace.wait()
        await self._objects.delete(resource, found)
