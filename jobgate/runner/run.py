"""The life of the runner: see that nobody else runs these jobs, know what there is, and look at job after job."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from jobgate.cluster import Api, Backoff, Informer, Resource
from jobgate.cluster.informer import Refused, slim
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.pace import Pace
from jobgate.controller.queue import Outcome, Queue
from jobgate.controller.run import Paced
from jobgate.controller.territory import Territory
from jobgate.plugins.crew import RUN_LABEL
from jobgate.plugins.queueing import QueueingArguments
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.grouping import PLURAL, Grouping, grouping, versions
from jobgate.runner.loop import Loop, Writes
from jobgate.runner.queues import Queues
from jobgate.runner.rivals import now, rivals
from jobgate.runner.seen import Seen, Whose
from webhook import Kind

#: The label `controller` of metrics.
NAME: Final = "jobgate-runner"
#: How many jobs are looked at at once.
WORKERS: Final = 8
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
        resync: after so many seconds each job is looked at, whatever is known.
        backoff: of informers, after failures.
        namespace: that the runner is in, and leaves alone; empty for none.
        queues: that jobs wait in; None where they wait in none.
        ignored_operators: Deployments and Leases that are no operators of these kinds, as `<namespace>/<name>`.
    """

    domain: str
    queueing: QueueingArguments | None = None
    requests_per_second: float = 200.0
    resync: float = 300.0
    backoff: Backoff | None = None
    namespace: str = ""
    queues: Queues | None = None
    ignored_operators: frozenset[str] = frozenset()


class RunnerController:
    """Runs jobs of these kinds while `work` runs."""

    def __init__(self, cluster: Cluster, kinds: Iterable[Kind], settings: Settings, metrics: ControllerMetrics) -> None:
        self._cluster = cluster
        self._kinds = tuple(kinds)
        self._settings = settings
        self._metrics = metrics
        self._informers: list[Informer[Any]] = []

    @property
    def settled(self) -> bool:
        """Whether it is known what there is."""
        return bool(self._informers) and all(one.settled for one in self._informers)

    async def work(self) -> None:
        """Work, for ever.

        Raises:
            Beside: an operator of one of the kinds is alive.
            Refused: the API server does not tell whether one is.
        """
        await self.alone()
        groups = await self._grouping()
        followed = _resource(groups.api_version) if groups and groups.api_version else None
        queue: Queue[Whose] = Queue(Backoff(first=0.2, most=30.0))
        backoff = self._settings.backoff
        changed = asyncio.Event()

        def of_a_job(key: Whose, after: float) -> None:
            queue.add(key, after)
            changed.set()

        seen = Seen(lambda key: of_a_job(key, SETTLE), followed, backoff)
        jobs: dict[str, tuple[Kind, Resource, Informer[dict[str, Any]]]] = {}
        for kind in self._kinds:
            resource = Resource(kind.plural, kind.version, kind.group)
            jobs[kind.qualified_plural] = (
                kind,
                resource,
                _informer(kind, resource, lambda key: of_a_job(key, 0.0), backoff),
            )
        territory = Territory(self._settings.namespace, backoff)
        dispatcher = None
        if self._settings.queues is not None:
            dispatcher = Dispatcher(
                self._settings.queues,
                jobs,
                seen,
                territory,
                changed,
                moved=queue.add,
                clock=now,
                domain=self._settings.domain,
                backoff=backoff,
            )
        loop = Loop(
            jobs,
            seen,
            PacedWrites(self._cluster, Pace(self._settings.requests_per_second)),
            self._metrics,
            territory,
            clock=now,
            later=queue.add,
            domain=self._settings.domain,
            groups=groups,
            dispatcher=dispatcher,
        )
        self._metrics.follow(NAME, depth=lambda: len(queue), struggling=lambda: queue.struggling)
        of_jobs = [informer for _, _, informer in jobs.values()]
        self._informers = [territory.namespaces, *of_jobs, *seen.informers.values()]
        of_queues: list[Informer[Any]] = [dispatcher.quotas, dispatcher.priorities] if dispatcher else []
        self._informers += of_queues
        ours = self._cluster.labelled(RUN_LABEL)
        try:
            async with asyncio.TaskGroup() as group:
                for informer in (territory.namespaces, *of_jobs, *of_queues):
                    group.create_task(informer.run(self._cluster))
                for child in seen.informers.values():
                    group.create_task(child.run(ours))
                # Before it is known what there is, everything would seem to be missing.
                while not self.settled:  # noqa: ASYNC110  # it is some seconds, once
                    await asyncio.sleep(0.05)
                group.create_task(self._resync(jobs, queue))
                if dispatcher is not None:
                    group.create_task(dispatcher.run())
                for _ in range(WORKERS):
                    group.create_task(self._serve(queue, loop))
        finally:
            self._informers = []

    async def alone(self) -> None:
        """See that nobody else runs these jobs.

        Raises:
            Beside: an operator of one of the kinds is alive.
            Refused: the API server does not tell whether one is.
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
            except Refused:
                continue
            found = version
            break
        formed = grouping(arguments, found)
        if formed is None:
            reason = f"the API server serves no PodGroup of {', '.join(versions(arguments.system))}"
            _logger.warning("no gangs", extra={"fields": {"reason": reason}})
        return formed

    async def _resync(self, jobs: Mapping[str, tuple[Kind, Resource, Informer[Any]]], queue: Queue[Whose]) -> None:
        while True:
            for plural, (_, _, informer) in jobs.items():
                for namespace, name in informer.keys():  # noqa: SIM118 - not a mapping
                    spread = random.uniform(0.0, self._settings.resync / 2)  # noqa: S311  # spread, not secret
                    queue.add((plural, namespace, name), spread)
            await asyncio.sleep(self._settings.resync)

    async def _serve(self, queue: Queue[Whose], loop: Loop) -> None:
        while True:
            key = await queue.get()
            outcome, began = Outcome.AGAIN, time.monotonic()
            try:
                outcome = await loop.reconcile(key)
            except Exception as error:  # noqa: BLE001  # whatever it is: it is tried again, and others go on
                self._metrics.errors.labels(NAME).inc()
                known = isinstance(error, Refused | OSError | TimeoutError | LookupError)
                reason = f"{type(error).__qualname__}: {error}" if known else type(error).__qualname__
                fields = {"job": "/".join(key), "reason": reason}
                _logger.warning("not done, tried again later", extra={"fields": fields})
            finally:
                # What was written shows up as a change, which is no fault: only failures are put off.
                queue.done(key, Outcome.FINE if outcome is Outcome.WROTE else outcome)
            self._metrics.latency.labels(NAME).observe(time.monotonic() - began)
            self._metrics.reconciles.labels(NAME, outcome.name.lower()).inc()


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


def _resource(api_version: str) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(PLURAL, version, group)


def _informer(
    kind: Kind, resource: Resource, changed: Callable[[Whose], None], backoff: Backoff | None
) -> Informer[dict[str, Any]]:
    api_version = kind.gvk.api_version
    plural = kind.qualified_plural

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        return {**slim(found), "apiVersion": api_version, "kind": kind.kind}

    return Informer(resource, backoff, keep=keep, changed=lambda key: changed((plural, *key)))
