"""Runs the runner: checks that no operator runs the same jobs, fills the caches, and reconciles the jobs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from jobgate.cluster import Api, Backoff, Informer, Resource
from jobgate.cluster.bundles import CRDS
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ClusterClient
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.queue import WorkQueue, share_of
from jobgate.controller.territory import Territory
from jobgate.controller.work import Work
from jobgate.jobs.kind import JobKind
from jobgate.jobs.runner import REPLACE_LOST_AFTER, runner_of
from jobgate.plugins.crew import RUN_LABEL
from jobgate.plugins.queueing import (
    KUEUE_CRD,
    POD_GROUPS,
    Grouping,
    QueueingArguments,
    System,
    grouping,
    versions,
)
from jobgate.room import Room
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.flows.reconciler import FlowReconciler
from jobgate.runner.jobserver.access import ServerAccess
from jobgate.runner.loop import JobReconciler
from jobgate.runner.lost import LostPods
from jobgate.runner.notify import Notifier, NotifySettings
from jobgate.runner.queues.admission import Queues
from jobgate.runner.queues.file import read_queues
from jobgate.runner.reading import OBSERVED_ROOM, Caches, JobReader, Jobs, keep_job, keep_less, weight_of_job
from jobgate.runner.rivals import now, rivals
from jobgate.runner.seen import COMMANDS, JobKey, Seen
from jobgate.runner.uncreated import SELECTOR, UncreatedPods
from jobgate.selectors import LabelSelector
from jobgate.serving.reload import FileReloader

#: The label `controller` of metrics.
NAME: Final = "jobgate-runner"
#: Jobs that are reconciled at the same time.
WORKERS: Final = 32
#: Seconds between a change of an object and the reconciliation: pods of one job start together.
SETTLE: Final = 0.1
#: Delays after failures to find out what is installed. A process that exits may be restarted only after minutes.
BEGIN: Final = Backoff(first=1.0, most=10.0)
#: Seconds between lookups of the served version while PodGroups cannot be read.
VERSION_PERIOD: Final = 10.0

_logger = logging.getLogger("jobgate")


class VersionChanged(Exception):
    """PodGroups cannot be read in the watched version, and are served in another version.

    The argument is the new `Grouping`.
    """


class OperatorRunning(Exception):
    """An operator of a kind is running; two programs must not run the same jobs."""


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """Settings of the runner.

    Attributes:
        domain: of the cluster's Services.
        queueing: the system that schedules gangs, and may queue pods; None for Kueue if it is installed and there
            are no queues.
        requests_per_second: how often the API server is called at most, beside watching.
        resync: seconds after which each job is looked at again even without a change. Nothing is known to need it.
        namespace: that the runner is in, and leaves alone; empty for none.
        queues: that jobs wait in; None for no queues.
        queues_file: that they are read from again when it changes; None for never.
        replace_lost_after: seconds after which a deleted pod is replaced if its node does not answer; 0 for never.
        ignored_operators: Deployments and Leases that are no operators of these kinds, as `<namespace>/<name>`.
        flows: whether the Jobs of JobFlows are created.
        notify: how the end of jobs is reported; None for never.
        server: returns how pods reach the runner's server, if there is one.
        elastic_nodes: whether the room of nodes counts for elastic jobs; needs `queues`.
        selector: of the namespaces whose jobs are run.
    """

    domain: str
    queueing: QueueingArguments | None = None
    requests_per_second: float = 200.0
    resync: float = 3600.0
    namespace: str = ""
    queues: Queues | None = None
    queues_file: Path | None = None
    replace_lost_after: float = REPLACE_LOST_AFTER
    ignored_operators: frozenset[str] = frozenset()
    flows: bool = False
    notify: NotifySettings | None = None
    server: Callable[[], ServerAccess | None] = lambda: None
    elastic_nodes: bool = False
    selector: LabelSelector = field(default_factory=LabelSelector)


class RunnerController:
    """Runs jobs of these kinds while `work` runs."""

    def __init__(
        self,
        cluster: ClusterClient,
        kinds: Iterable[JobKind],
        settings: RunnerSettings,
        metrics: ControllerMetrics,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """Create a runner that is not started. `clock` returns the time as the API server sees it."""
        self._clock = clock
        self._cluster = cluster
        self._kinds = tuple(kinds)
        self._settings = settings
        self._metrics = metrics
        self._work: Work[JobKey] | None = None

    @property
    def settled(self) -> bool:
        """Whether all caches are filled."""
        return self._work is not None and self._work.settled

    async def work(self) -> None:
        """Work until cancelled.

        Raises:
            OperatorRunning: an operator of one of the kinds is running.
            ApiError: the API server rejects the requests that find out whether one is, or what is installed.
        """
        queueing, groups = await self._begin()
        while True:
            try:
                await self._work_with(groups, queueing)
            except* VersionChanged as changed:
                # Not asked again: during an upgrade, an API server that is still old may answer.
                groups = changed.exceptions[0].args[0]
                _logger.warning("PodGroups are served in another version, starting again")

    async def _begin(self) -> tuple[QueueingArguments | None, Grouping | None]:
        """Return how pods are queued and gangs formed, once no operator runs these jobs and the API server responds."""
        failures = 0
        while True:
            try:
                await self.alone()
                queueing = await queueing_in(self._cluster, self._settings)
                return queueing, await grouping_in(self._cluster, queueing)
            except (ApiError, OSError, TimeoutError) as error:
                if isinstance(error, ApiError) and error.code < 500 and error.code not in {410, 429}:
                    raise
                failures += 1
                fields = {"reason": f"{type(error).__qualname__}: {error}"}
                _logger.warning("failed to begin, retrying", extra={"fields": fields})
            await asyncio.sleep(BEGIN.seconds(failures))

    async def _work_with(self, groups: Grouping | None, queueing: QueueingArguments | None) -> None:
        """Work until cancelled, with one way to form gangs.

        Raises:
            ExceptionGroup: of `VersionChanged`.
        """
        settings = self._settings
        pod_groups = _resource(groups.api_version) if groups and groups.api_version else None
        backoff = Backoff(first=0.2, most=30.0)
        queue: WorkQueue[JobKey] = WorkQueue(
            backoff, rest=SETTLE, namespace=lambda key: key[1], share=share_of(WORKERS)
        )
        changed = asyncio.Event()

        def of_a_job(key: JobKey, after: float = 0.0) -> None:
            queue.add(key, after)
            changed.set()

        commanded = next((kind for kind in self._kinds if (runner := runner_of(kind)) and runner.takes_commands), None)
        room = Room(OBSERVED_ROOM)
        seen = Seen(lambda key: of_a_job(key, SETTLE), pod_groups, commanded, room)
        jobs = {kind.qualified_plural: followed_jobs(kind, of_a_job, room) for kind in self._kinds}

        def of_namespaces(names: Collection[str]) -> None:
            for key in known_jobs(jobs, flows):
                if key[1] in names and (settings.selector or territory.is_terminating(key[1])):
                    of_a_job(key)

        territory = Territory(settings.namespace, of_namespaces, settings.selector)
        if settings.namespace:
            _logger.info("jobs in this namespace are not run", extra={"fields": {"namespace": settings.namespace}})
        writes = self._cluster.paced(settings.requests_per_second)
        caches = Caches(jobs, seen, territory, JobReader(settings.domain, groups), self._clock, writes, settings.server)
        queues = settings.queues
        dispatcher = (
            None
            if queues is None
            else Dispatcher(queues, caches, changed, queue.add, room, nodes=settings.elastic_nodes)
        )
        uncreated = UncreatedPods(lambda namespace: self._cluster.within(namespace, SELECTOR))
        lost = LostPods(writes, settings.replace_lost_after) if settings.replace_lost_after else None
        reports, clock = settings.notify, self._clock
        notifier = Notifier(reports, dispatcher, self._metrics, clock, queue.add) if reports else None
        loop = JobReconciler(caches, writes, self._metrics, queue.add, dispatcher, uncreated, lost, notifier)
        flows = FlowReconciler(territory, writes, self._clock, queue.add)
        of_queues = dispatcher.informers if dispatcher else ()
        of_all = [territory.namespaces, *(informer for _, _, informer in jobs.values()), *of_queues]
        ours = self._cluster.labelled(RUN_LABEL)
        informers: list[tuple[Informer[Any], Api]] = [(informer, self._cluster) for informer in of_all]
        informers += [
            *((informer, self._cluster if of == COMMANDS else ours) for of, informer in seen.informers.items()),
            *(flows.informers(self._cluster) if settings.flows else ()),
        ]
        keys, reconcile = partial(known_jobs, jobs, flows), partial(flows.before, loop.reconcile)
        self._work = Work(NAME, queue, reconcile, keys, settings.resync, WORKERS, self._metrics, informers)
        try:
            beside: list[Callable[[], Coroutine[None, None, None]]] = [notifier.run] if notifier else []
            if dispatcher is not None:
                beside.append(dispatcher.run)
                if settings.queues_file is not None:
                    reloader = reloader_of(settings.queues_file, dispatcher.use, settings.queues)
                    # The settings may be from long ago: until now another runner had the Lease.
                    await reloader.check()
                    beside.append(reloader.run)
            if pod_groups is not None and queueing is not None:
                beside.append(partial(version_stays, self._cluster, queueing, pod_groups, seen.informers[pod_groups]))
            await self._work.run(*beside)
        finally:
            self._work = None

    async def alone(self) -> None:
        """Check that no operator runs these jobs.

        Raises:
            OperatorRunning: an operator of one of the kinds is running.
            ApiError: the API server rejects the requests that find out whether one is.
        """
        for kind in self._kinds:
            ignored, here = self._settings.ignored_operators, (self._settings.namespace, self._settings.selector)
            if operators := await rivals(kind, self._cluster, self._clock(), ignored, here):
                raise OperatorRunning(
                    f"{kind.qualified_plural} is run by {', '.join(operators)}: stop it first, or leave out --run. If "
                    "it does not run these jobs, name it with --ignore-operator. If it is the runner of another "
                    "installation, give both a --namespace-selector, of which no namespace matches both"
                )


def reloader_of(path: Path, use: Callable[[Queues], None], current: Queues | None = None) -> FileReloader[Queues]:
    """Return the reloader that uses the queues of a file when it changes."""
    return FileReloader(path, lambda content: read_queues(content.decode()), use, "queues", current)


async def queueing_in(cluster: ClusterClient, settings: RunnerSettings) -> QueueingArguments | None:
    """Return which system schedules gangs and queues pods: by default Kueue, if it is installed.

    Raises:
        ApiError: the API server does not tell whether Kueue is installed.
    """
    chosen, why = settings.queueing, "--queueing"
    if chosen is None:
        why = f"the CRD {KUEUE_CRD} is not installed"
        try:
            installed = await cluster.get(CRDS, KUEUE_CRD) is not None
        except ApiError as error:
            if error.code != HTTPStatus.FORBIDDEN:
                raise
            installed, why = False, f"cannot read the CRD {KUEUE_CRD}: {error}"
            _logger.warning("Kueue is not used", extra={"fields": {"reason": why}})
        if installed:
            why = f"the CRD {KUEUE_CRD} is installed"
        if installed and settings.queues is not None:
            why += ", and --queues is set; to use Kueue, or another system, name it with --queueing"
            _logger.warning("queues are used, and not Kueue", extra={"fields": {"reason": why}})
        elif installed:
            chosen = QueueingArguments(system=System.KUEUE)
    system = str(chosen.system) if chosen else "none"
    _logger.info("queueing", extra={"fields": {"system": system, "reason": why}})
    return chosen


async def grouping_in(cluster: ClusterClient, arguments: QueueingArguments | None) -> Grouping | None:
    """Return how gangs are formed, with the newest version of PodGroups that the API server serves.

    Raises:
        ApiError: the API server does not tell whether it serves a version.
    """
    if arguments is None:
        return None
    groups = grouping(arguments, await _served_version(cluster, arguments))
    if groups is None:
        reason = f"the API server serves no PodGroup of {', '.join(versions(arguments.system))}"
        _logger.warning("no gangs", extra={"fields": {"reason": reason}})
    return groups


async def version_stays(
    cluster: ClusterClient, queueing: QueueingArguments, followed: Resource, groups: Informer[dict[str, Any]]
) -> None:
    """Wait as long as PodGroups are served in the watched version, or in none.

    Raises:
        VersionChanged: they cannot be read in that version, and are served in another version.
    """
    while True:
        await asyncio.sleep(VERSION_PERIOD)
        try:
            groups.get("")
        except LookupError:
            try:
                served = await _served_version(cluster, queueing)
            except Exception:  # noqa: BLE001, S112  # the API server is away, as the informer logs
                continue
            if served and _resource(served) != followed:
                raise VersionChanged(grouping(queueing, served)) from None


async def _served_version(cluster: ClusterClient, queueing: QueueingArguments) -> str:
    """Return the newest version of PodGroups that is served; empty for none."""
    for version in versions(queueing.system):
        if await _serves(cluster, _resource(version)):
            return version
    return ""


async def _serves(cluster: ClusterClient, resource: Resource) -> bool:
    try:
        async for _ in cluster.pages(resource):
            break
    except ApiError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True


def known_jobs(jobs: Jobs, flows: FlowReconciler | None = None) -> Iterator[JobKey]:
    """Yield all jobs and JobFlows, except if their cache is unknown: they are reconciled when it is filled again."""
    yield from flows.keys() if flows else ()
    for plural, (_, _, informer) in jobs.items():
        with suppress(LookupError):
            for namespace, name in informer.keys():  # noqa: SIM118 - not a mapping
                yield plural, namespace, name


def _resource(api_version: str) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(POD_GROUPS, version, group)


def followed_jobs(
    kind: JobKind, changed: Callable[[JobKey], None], room: Room | None = None
) -> tuple[JobKind, Resource, Informer[dict[str, Any]]]:
    """Return a kind, its resource, and the cache of its jobs."""
    resource, plural = Resource(kind.plural, kind.version, kind.group), kind.qualified_plural
    informer = Informer(
        resource,
        keep=keep_job(kind),
        changed=lambda key: changed((plural, *key)),
        room=room,
        less=keep_less(kind),
        weigh=weight_of_job,
    )
    return kind, resource, informer
