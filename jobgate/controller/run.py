"""The controller: its settings, caches and workers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobgate.cluster import Api, Informer
from jobgate.cluster.objects import ClusterClient
from jobgate.controller.desired import followed
from jobgate.controller.jobs import Jobs, Key
from jobgate.controller.loop import CompanionReconciler
from jobgate.controller.metrics import NAME, ControllerMetrics
from jobgate.controller.owned import Owned
from jobgate.controller.present import PresentPods
from jobgate.controller.queue import WorkQueue, share_of
from jobgate.controller.statuses import Statuses
from jobgate.controller.territory import Territory
from jobgate.controller.work import Work
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.ownership import MANAGED_BY
from jobgate.plugins import Plugin, installed
from jobgate.pods.digest import ROOM
from jobgate.room import Room
from jobgate.selectors import LabelSelector

#: Jobs that are reconciled at the same time.
WORKERS = 4
#: Seconds between a change of an object and the reconciliation, which then sees all changes of the last one.
SETTLE = 0.2


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """How the controller works.

    Attributes:
        domain: domain of the cluster's Services.
        requests_per_second: most requests to the API server, except watches.
        resync: seconds after which each job is reconciled again: the loss of a Secret is not seen otherwise.
        plugins: plugins that the installation imposes on every job, with their arguments.
        offered: plugins that jobs can request, by name; by default all installed plugins.
        runs: the kinds that jobgate itself runs, by qualified plural.
        namespace: namespace of the controller. It creates no objects there.
        selector: of the namespaces that it serves.
    """

    domain: str
    requests_per_second: float = 50.0
    resync: float = 300.0
    plugins: Mapping[str, Any] = field(default_factory=dict)
    offered: Mapping[str, Plugin[Any]] = field(default_factory=installed)
    runs: frozenset[str] = frozenset()
    namespace: str = ""
    selector: LabelSelector = field(default_factory=LabelSelector)


class Controller:
    """Creates and maintains the objects that plugins of jobs declare, while `work` runs."""

    def __init__(
        self, cluster: ClusterClient, kinds: Iterable[JobKind], settings: ControllerSettings, metrics: ControllerMetrics
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._metrics = metrics
        self._kinds = tuple(kinds)
        self._work: Work[Key] | None = None

    @property
    def settled(self) -> bool:
        """Whether all caches are filled."""
        return self._work is not None and self._work.settled

    async def work(self) -> None:
        """Work until cancelled."""
        queue: WorkQueue[Key] = WorkQueue(namespace=lambda key: key.namespace, share=share_of(WORKERS))
        settings = self._settings
        room = Room(ROOM)
        reads = Settings(plugins=settings.plugins, offered=settings.offered, domain=settings.domain, runs=settings.runs)
        jobs = Jobs(self._kinds, reads, queue.add, room)
        owned = Owned(
            followed(settings.offered.values(), settings.plugins), jobs.owner, lambda key: queue.add(key, SETTLE), room
        )
        paced = self._cluster.paced(settings.requests_per_second)

        def of_namespaces(names: Collection[str]) -> None:
            for key in jobs:
                if key.namespace in names and key.namespace in territory:
                    queue.add(key)

        territory = Territory(settings.namespace, of_namespaces, settings.selector)
        listed = self._kinds if any(plugin.lists_pods for plugin in settings.offered.values()) else ()
        present = PresentPods(listed, jobs, lambda key: queue.add(key, SETTLE), room)
        loop = CompanionReconciler(jobs, owned, present, paced, self._metrics, territory)
        statuses = Statuses(paced, territory.is_selected)
        ours = self._cluster.labelled("=".join(MANAGED_BY))
        of_jobs: list[Informer[Any]] = [territory.namespaces, *jobs.informers.values()]
        informers: list[tuple[Informer[Any], Api]] = [(informer, self._cluster) for informer in of_jobs]
        informers += [(informer, ours) for informer in owned.informers.values()]
        informers += [(informer, self._cluster.labelled(selector)) for selector, informer in present.informers]
        self._work = Work(NAME, queue, loop.reconcile, lambda: jobs, settings.resync, WORKERS, self._metrics, informers)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(statuses.run(self._cluster))
                group.create_task(self._work.run())
        finally:
            self._work = None
