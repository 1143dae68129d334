"""The life of the runner: see that nobody else runs these jobs, know what there is, and look at job after job."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from jobgate.cluster import Api, Backoff, Informer, Resource
from jobgate.cluster.informer import Refused, slim
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.pace import Pace
from jobgate.controller.queue import Queue
from jobgate.controller.run import Paced
from jobgate.controller.territory import Territory
from jobgate.controller.work import Work
from jobgate.plugins.crew import RUN_LABEL
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.gangs import GROUP
from jobgate.runner.loop import Loop, Writes
from jobgate.runner.queues import Queues
from jobgate.runner.reading import Reader
from jobgate.runner.rivals import now, rivals
from jobgate.runner.seen import Seen, Whose
from webhook import Kind

#: The label `controller` of metrics.
NAME: Final = "jobgate-runner"
#: How many jobs are looked at at once.
WORKERS: Final = 8
#: An object's change is waited out for so long, in seconds: pods of one job start together.
SETTLE: Final = 0.1

#: The versions of Kubernetes' own PodGroup, the newest first.
VERSIONS: Final = ("v1", "v1beta1", "v1alpha2")
#: Where the operators of others are looked for.
_DEPLOYMENTS: Final = Resource("deployments", "v1", "apps")
_LEASES: Final = Resource("leases", "v1", "coordination.k8s.io")

_logger = logging.getLogger("jobgate")


class Beside(Exception):
    """An operator of a kind is alive, and the kind's jobs cannot be run beside it."""


class Cluster(Api, Writes, Protocol):
    """What the runner asks of an API server."""

    def labelled(self, selector: str) -> Api:
        """Return the same API server, of which only the objects of a label selector are listed and watched."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the runner works.

    Attributes:
        domain: of the cluster's Services.
        gangs: whether pods that start together are groups of Kubernetes' own scheduler.
        requests_per_second: how often the API server is called at most, beside watching.
        resync: after so many seconds each job is looked at, whatever is known; nothing is known that needs it.
        backoff: of informers, after failures.
        namespace: that the runner is in, and leaves alone; empty for none.
        queues: that jobs wait in; None where they wait in none.
    """

    domain: str
    gangs: bool = False
    requests_per_second: float = 200.0
    resync: float = 3600.0
    backoff: Backoff | None = None
    namespace: str = ""
    queues: Queues | None = None


class RunnerController:
    """Runs jobs of these kinds while `work` runs."""

    def __init__(self, cluster: Cluster, kinds: Iterable[Kind], settings: Settings, metrics: ControllerMetrics) -> None:
        self._cluster = cluster
        self._kinds = tuple(kinds)
        self._settings = settings
        self._metrics = metrics
        self._work: Work[Whose] | None = None

    @property
    def settled(self) -> bool:
        """Whether it is known what there is."""
        return self._work is not None and self._work.settled

    async def work(self) -> None:
        """Work, for ever.

        Raises:
            Beside: an operator of one of the kinds is alive.
            Refused: the API server does not tell whether one is.
        """
        await self.alone()
        settings, backoff = self._settings, self._settings.backoff
        groups = await self._groups() if settings.gangs else None
        queue: Queue[Whose] = Queue(Backoff(first=0.2, most=30.0), rest=SETTLE)
        changed = asyncio.Event()

        def of_a_job(key: Whose, after: float = 0.0) -> None:
            queue.add(key, after)
            changed.set()

        seen = Seen(lambda key: of_a_job(key, SETTLE), groups, backoff)
        jobs = {kind.qualified_plural: _followed(kind, of_a_job, backoff) for kind in self._kinds}
        territory = Territory(settings.namespace, backoff)
        reader = Reader(settings.domain, f"{groups.group}/{groups.version}" if groups else "")
        dispatcher = None
        if settings.queues is not None:
            dispatcher = Dispatcher(
                settings.queues,
                jobs,
                seen,
                territory,
                changed,
                moved=queue.add,
                clock=now,
                reader=reader,
                backoff=backoff,
            )
        writes = PacedWrites(self._cluster, Pace(settings.requests_per_second))
        loop = Loop(
            jobs,
            seen,
            writes,
            self._metrics,
            territory,
            clock=now,
            later=queue.add,
            reader=reader,
            dispatcher=dispatcher,
        )
        of_queues: list[Informer[Any]] = [dispatcher.quotas, dispatcher.priorities] if dispatcher else []
        of_all = [territory.namespaces, *(informer for _, _, informer in jobs.values()), *of_queues]
        ours = self._cluster.labelled(RUN_LABEL)
        informers: list[tuple[Informer[Any], Api]] = [(one, self._cluster) for one in of_all]
        informers += [(one, ours) for one in seen.informers.values()]
        keys = lambda: [(plural, *key) for plural, (_, _, one) in jobs.items() for key in one.keys()]  # noqa: E731, SIM118
        self._work = Work(NAME, queue, loop.reconcile, keys, settings.resync, WORKERS, self._metrics, informers)
        try:
            await self._work.run(*([dispatcher.run] if dispatcher else []))
        finally:
            self._work = None

    async def alone(self) -> None:
        """See that nobody else runs these jobs.

        Raises:
            Beside: an operator of one of the kinds is alive.
            Refused: the API server does not tell whether one is.
        """
        deployments, leases = [await self._all(resource) for resource in (_DEPLOYMENTS, _LEASES)]
        for kind in self._kinds:
            if found := list(rivals(kind, deployments, leases, now())):
                raise Beside(f"{kind.qualified_plural} is run by {', '.join(found)}: stop it first, or leave out --run")

    async def _all(self, resource: Resource) -> list[Mapping[str, Any]]:
        return [item async for page in self._cluster.pages(resource) for item in page.items]

    async def _groups(self) -> Resource | None:
        """Return the PodGroups that the API server serves, in the newest version that is known."""
        for version in VERSIONS:
            resource = Resource("podgroups", version, GROUP)
            try:
                async for _ in self._cluster.pages(resource):
                    return resource
            except Refused:
                continue
        _logger.warning("no gangs", extra={"fields": {"reason": f"the API server serves no podgroups.{GROUP}"}})
        return None


class PacedWrites(Paced):
    """An API server that is not called too often."""

    def __init__(self, objects: Writes, pace: Pace) -> None:
        super().__init__(objects, pace)
        self._writes = objects

    async def set_status(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the status of an object."""
        await self._pace.wait()
        return await self._writes.set_status(resource, found, changes)

    async def remove(self, resource: Resource, found: Mapping[str, Any], propagation: str) -> None:
        """Delete an object, with what becomes of what it owns."""
        await self._pace.wait()
        await self._writes.remove(resource, found, propagation)


def _followed(
    kind: Kind, changed: Callable[[Whose], None], backoff: Backoff | None
) -> tuple[Kind, Resource, Informer[dict[str, Any]]]:
    """Return a kind, its resource, and the cache of its jobs."""
    resource, plural = Resource(kind.plural, kind.version, kind.group), kind.qualified_plural
    api_version = kind.gvk.api_version

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        return {**slim(found), "apiVersion": api_version, "kind": kind.kind}

    return kind, resource, Informer(resource, backoff, keep=keep, changed=lambda key: changed((plural, *key)))
