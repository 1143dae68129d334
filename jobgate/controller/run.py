"""The life of the controller: wait for the Lease, know what there is, and look at job after job."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from jobgate.cluster import Api, Backoff, Informer
from jobgate.cluster.objects import Objects
from jobgate.cluster.resource import Resource
from jobgate.controller.desired import followed
from jobgate.controller.events import Events
from jobgate.controller.jobs import Jobs, Key
from jobgate.controller.loop import Loop
from jobgate.controller.metrics import NAME, ControllerMetrics
from jobgate.controller.owned import Owned
from jobgate.controller.pace import Pace
from jobgate.controller.present import PresentPods
from jobgate.controller.queue import Queue
from jobgate.controller.statuses import Statuses, Writes
from jobgate.controller.territory import Territory
from jobgate.controller.work import Work
from jobgate.names import MANAGED_BY
from jobgate.plugins import offered
from webhook import Kind
from webhook import Settings as Told

#: How many jobs are looked at at once.
WORKERS = 4
#: An object's change is waited out for so long, in seconds: what a look makes comes back as several.
SETTLE = 0.2


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
        self._work: Work[Key] | None = None

    @property
    def settled(self) -> bool:
        """Whether it is known what there is."""
        return self._work is not None and self._work.settled

    async def work(self) -> None:
        """Work, for ever."""
        queue: Queue[Key] = Queue()
        settings = self._settings
        told = Told(plugins=settings.plugins, domain=settings.domain)
        jobs = Jobs(self._kinds, told, queue.add, settings.backoff)
        owned = Owned(followed(told.plugins), jobs.owner, lambda key: queue.add(key, SETTLE), settings.backoff)
        pace = Pace(settings.requests_per_second)
        objects = Paced(self._cluster, pace)
        territory = Territory(settings.namespace, settings.backoff)
        listed = self._kinds if "svc" in offered() else ()
        present = PresentPods(listed, jobs, lambda key: queue.add(key, SETTLE), settings.backoff)
        loop = Loop(jobs, owned, present, objects, Events(objects), self._metrics, territory)
        statuses = Statuses(self._cluster, pace, settings.backoff)
        ours = self._cluster.labelled("=".join(MANAGED_BY))
        of_jobs: list[Informer[Any]] = [territory.namespaces, *jobs.informers.values()]
        informers: list[tuple[Informer[Any], Api]] = [(one, self._cluster) for one in of_jobs]
        informers += [(one, ours) for one in owned.informers.values()]
        informers += [(one, self._cluster.labelled(selector)) for selector, one in present.informers]
        self._work = Work(NAME, queue, loop.reconcile, lambda: jobs, settings.resync, WORKERS, self._metrics, informers)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(statuses.run(self._cluster))
                group.create_task(self._work.run())
        finally:
            self._work = None


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
