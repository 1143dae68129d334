"""The life of the runner: see that nobody else runs these jobs, know what there is, and look at job after job."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from jobgate.cluster import Api, Backoff, Informer, Resource
from jobgate.cluster.informer import ApiError, slim
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.pace import Pace, Paced
from jobgate.controller.queue import Queue
from jobgate.controller.territory import Territory
from jobgate.controller.work import Work
from jobgate.plugins.crew import RUN_LABEL
from jobgate.plugins.queueing import QueueingArguments
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.grouping import PLURAL, Grouping, grouping, versions
from jobgate.runner.loop import Loop, Writes
from jobgate.runner.queues import Queues
from jobgate.runner.reading import Reader
from jobgate.runner.reload import Reloader
from jobgate.runner.rivals import now, rivals
from jobgate.runner.seen import Seen, Whose
from webhook import Kind

#: The label `controller` of metrics.
NAME: Final = "jobgate-runner"
#: How many jobs are looked at at once.
WORKERS: Final = 32
#: An object's change is waited out for so long, in seconds: pods of one job start together.
SETTLE: Final = 0.1


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
        queueing: the system that schedules gangs, and may queue pods; None for none.
        requests_per_second: how often the API server is called at most, beside watching.
        resync: after so many seconds each job is looked at, whatever is known; nothing is known that needs it.
        backoff: of informers, after failures.
        namespace: that the runner is in, and leaves alone; empty for none.
        queues: that jobs wait in; None where they wait in none.
        queues_file: that they are read from again when it changes; None for never.
        ignored_operators: Deployments and Leases that are no operators of these kinds, as `<namespace>/<name>`.
    """

    domain: str
    queueing: QueueingArguments | None = None
    requests_per_second: float = 200.0
    resync: float = 3600.0
    backoff: Backoff | None = None
    namespace: str = ""
    queues: Queues | None = None
    queues_file: Path | None = None
    ignored_operators: frozenset[str] = frozenset()


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
            ApiError: the API server does not tell whether one is.
        """
        await self.alone()
        settings, backoff = self._settings, self._settings.backoff
        groups = await self._grouping()
        kept = _resource(groups.api_version) if groups and groups.api_version else None
        queue: Queue[Whose] = Queue(Backoff(first=0.2, most=30.0), rest=SETTLE)
        changed = asyncio.Event()

        def of_a_job(key: Whose, after: float = 0.0) -> None:
            queue.add(key, after)
            changed.set()

        seen = Seen(lambda key: of_a_job(key, SETTLE), kept, backoff)
        jobs = {kind.qualified_plural: _followed(kind, of_a_job, backoff) for kind in self._kinds}
        territory = Territory(settings.namespace, backoff)
        reader = Reader(settings.domain, groups)
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
            beside: list[Callable[[], Coroutine[None, None, None]]] = []
            if dispatcher is not None:
                beside.append(dispatcher.run)
                if settings.queues_file is not None:
                    beside.append(Reloader(settings.queues_file, dispatcher.use).run)
            await self._work.run(*beside)
        finally:
            self._work = None

    async def alone(self) -> None:
        """See that nobody else runs these jobs.

        Raises:
            Beside: an operator of one of the kinds is alive.
            ApiError: the API server does not tell whether one is.
        """
        for kind in self._kinds:
            if found := await rivals(kind, self._cluster, now(), self._settings.ignored_operators):
                raise Beside(
                    f"{kind.qualified_plural} is run by {', '.join(found)}: stop it first, or leave out --run. If it "
                    "does not run these jobs, name it with --ignore-operator"
                )

    async def _grouping(self) -> Grouping | None:
        """Return how gangs are formed: groups are of the newest version that the API server serves."""
        arguments = self._settings.queueing
        if arguments is None:
            return None
        found = ""
        for version in versions(arguments.system):
            try:
                async for _ in self._cluster.pages(_resource(version)):
                    break
            except ApiError:
                continue
            found = version
            break
        formed = grouping(arguments, found)
        if formed is None:
            reason = f"the API server serves no PodGroup of {', '.join(versions(arguments.system))}"
            _logger.warning("no gangs", extra={"fields": {"reason": reason}})
        return formed


class PacedWrites(Paced):
    """An API server that is not called too often."""

    def __init__(self, objects: Writes, pace: Pace) -> None:
        super().__init__(objects, pace)
        self._writes = objects

    async def remove(self, resource: Resource, found: Mapping[str, Any], propagation: str) -> None:
        """Delete an object, with what becomes of what it owns."""
        await self._pace.wait()
        await self._writes.remove(resource, found, propagation)


def _resource(api_version: str) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(PLURAL, version, group)


def _followed(
    kind: Kind, changed: Callable[[Whose], None], backoff: Backoff | None
) -> tuple[Kind, Resource, Informer[dict[str, Any]]]:
    """Return a kind, its resource, and the cache of its jobs."""
    resource, plural = Resource(kind.plural, kind.version, kind.group), kind.qualified_plural
    api_version = kind.gvk.api_version

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        return {**slim(found), "apiVersion": api_version, "kind": kind.kind}

    return kind, resource, Informer(resource, backoff, keep=keep, changed=lambda key: changed((plural, *key)))
