"""Releases jobs from their queues: collects the input of `queues.admit`, and reconciles the jobs that it affects."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import is_
from typing import Any, Final

from jobgate.cluster import Informer, Resource
from jobgate.jobs.elastic import opts_in
from jobgate.jobs.kind import JobKind
from jobgate.jobs.runner import runner_of
from jobgate.room import Room
from jobgate.runner.elastic.decision import ElasticJob, Step, decide
from jobgate.runner.elastic.sizes import elastic_job, sizes_now
from jobgate.runner.nodes import Nodes
from jobgate.runner.queues.admission import DEFAULT, Amounts, Entry, Memory, Queue, Queues, admit, pool_keys, sum_of
from jobgate.runner.queues.demand import (
    ENTRY_BYTES,
    Demand,
    demand_of,
    left_to_jobs,
    read_amounts,
    requests_of_live_pods,
)
from jobgate.runner.queues.growth import Verdict, covers, most, placed, requests_of, wanted
from jobgate.runner.reading import Caches, JobReader, is_whole
from jobgate.runner.seen import JobKey
from jobgate.runner.state import RunState
from jobgate.runner.subject import LONG_AGO, Observed, Subject, arrival_of, look, moment, sorted_by_task
from webhook.values import mapping, metadata_of, text

QUOTAS: Final = Resource("resourcequotas", "v1", "")
PRIORITIES: Final = Resource("priorityclasses", "v1", "scheduling.k8s.io")
#: Seconds after a decision in which changes are collected for the next one.
SETTLE: Final = 0.1
#: Seconds after which a decision is made without a change: a job may have waited for longer than `max_wait`.
RESYNC: Final = 15.0

#: Memory for the requests of jobs, in bytes: enough for some 12,000 jobs of three tasks.
ROOM: Final = 64 * 1024 * 1024
NO_ROOM: Final = "the jobs of its namespace ask for more different resources than jobgate has memory for"

_logger = logging.getLogger("jobgate")


class Demands:
    """The requests of jobs. A job is read once, until its spec changes: reading one of 1 MiB takes up to 0.2 s."""

    def __init__(self, reader: JobReader, room: int = ROOM, *, shapes: bool = False) -> None:
        """Create an empty cache. `room` is the memory for it, in bytes; `shapes` is whether nodes count.

        If it is full, only the total of a job is kept; a job whose total does not fit either waits.
        """
        self._reader = reader
        self._shapes = shapes
        self._room = Room(room)
        self._known: dict[str, tuple[Any, Demand | None, int, str]] = {}

    def knows(self, document: Mapping[str, Any]) -> bool:
        """Return whether a job need not be read."""
        uid, generation = _version(document)
        return uid in self._known and self._known[uid][0] == generation

    def of(self, key: JobKey, kind: JobKind, document: Mapping[str, Any]) -> Demand | None:
        """Return the resources that a job requests.

        Return None if the job does not fit its schema, or if `document` is only a part of it: then it must be read in
        full first.
        """
        uid, generation = _version(document)
        if self.knows(document):
            return self._known[uid][1]
        if not is_whole(document):
            return None
        self._forget(uid)
        subject = self._reader.read(key, kind, document)
        demand = None if subject is None else demand_of(subject, shapes=self._shapes)
        if demand is not None and not self._fits(key, demand):
            demand = replace(demand, pods={}, shapes={})
            demand = demand if self._fits(key, demand) else Demand({}, {}, gate=NO_ROOM)
        size = ENTRY_BYTES if demand is None else demand.size
        self._known[uid] = generation, demand, size if self._room.swap(key[1], size) else 0, key[1]
        return demand

    def _fits(self, key: JobKey, demand: Demand) -> bool:
        return self._room.fits(key[1], demand.size)

    def forget_others(self, uids: set[str]) -> None:
        """Forget all jobs but these."""
        for uid in self._known.keys() - uids:
            self._forget(uid)

    def _forget(self, uid: str) -> None:
        if uid in self._known:
            _, _, size, namespace = self._known.pop(uid)
            self._room.give(namespace, size)


def _version(document: Mapping[str, Any]) -> tuple[str, Any]:
    metadata = metadata_of(document)
    return text(metadata.get("uid")), metadata.get("generation")


@dataclass(frozen=True, slots=True)
class _Counted:
    """A job that counts in a queue, or waits.

    Attributes:
        key: key of the job.
        generation: its generation.
        why: why it gets no room, or no more, however much is free; empty if nothing prevents it.
        step: the sizes of its elastic tasks that were given last; None if it is not known what it asks for.
    """

    key: JobKey
    generation: Any
    why: str
    step: Step | None


class Dispatcher:
    """Decides which jobs may run. It remembers its decisions until the status of the jobs shows them."""

    def __init__(
        self,
        queues: Queues,
        caches: Caches,
        changed: asyncio.Event,
        moved: Callable[[JobKey], None],
        room: Room | None = None,
        *,
        nodes: bool = False,
    ) -> None:
        """Create a dispatcher that has decided nothing. `changed` is set when a job or one of its objects changes.

        `moved` is called with each job whose verdict changes; `room` is for ResourceQuotas. The room of
        nodes counts for elastic jobs if `nodes` is set.
        """
        self._queues = queues
        self._caches = caches
        self._moved = moved
        self._memory = Memory()
        self.nodes = Nodes() if nodes else None
        self._demands = Demands(caches.reader, shapes=nodes)
        self._verdicts: dict[str, Verdict] = {}
        #: Jobs that request no more than was released, with their batch Jobs, as they were at the comparison.
        self._covered: dict[str, list[Mapping[str, Any]]] = {}
        #: By uid, what a job lacks that it does not create itself, so that it gets no room.
        self._lacking: dict[str, str] = {}
        self._changed = changed
        self.quotas = Informer(QUOTAS, keep=_quota, changed=lambda _: changed.set(), room=room)
        self.priorities = Informer(PRIORITIES, keep=_value, changed=lambda _: changed.set())

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        """What it reads."""
        return self.quotas, self.priorities, *((self.nodes.nodes, self.nodes.pods) if self.nodes else ())

    def use(self, queues: Queues) -> None:
        """Use other queues from the next decision on. Running jobs go on."""
        self._queues = queues
        self._changed.set()

    def address(self, queue: str) -> str:
        """Return the address that the end of the jobs of a queue is reported to; empty if it has none."""
        return self._queues.queues.get(queue, Queue()).notify

    def verdict(self, uid: str) -> str | None:
        """Return why a job, or its growth, waits; empty if it may run, None if nothing is decided yet."""
        verdict = self._verdicts.get(uid)
        return None if verdict is None else verdict.why

    def placed(self, subject: Subject, observed: Observed) -> Subject:
        """Return a job with the decision about it."""
        if subject.state.held or subject.suspended or has_ended(subject.job.kind, subject.job.document):
            return replace(subject, verdict="")
        verdict = self._verdicts.get(subject.crew.uid)
        return placed(subject, demand_of(subject), look(subject, observed), verdict)

    def lacks(self, uid: str) -> bool:
        """Return whether a job gets no room because it lacks something."""
        return uid in self._lacking

    def set_lacking(self, uid: str, what: str) -> None:
        """Give a job no room while it lacks something; empty for nothing."""
        if self._lacking.get(uid, "") == what:
            return
        if what:
            self._lacking[uid] = what
        else:
            del self._lacking[uid]
        self._changed.set()

    async def run(self) -> None:
        """Decide after each change, until cancelled."""
        while True:
            self._changed.clear()
            try:
                await self._read_ahead()
                self.decide()
            except Exception as error:  # noqa: BLE001  # it is retried, and running jobs go on
                reason = str(error) if isinstance(error, LookupError) else type(error).__qualname__
                _logger.warning(
                    "failed to decide which jobs leave their queue, retrying", extra={"fields": {"reason": reason}}
                )
            await asyncio.sleep(SETTLE)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(RESYNC, self._queues.hold)):
                    await self._changed.wait()

    def decide(self) -> None:
        """Decide about all jobs.

        Raises:
            LookupError: the jobs are not known.
        """
        now, entries, jobs = self._caches.clock(), list[Entry](), dict[str, _Counted]()
        elastic, on_nodes = list[ElasticJob](), dict[str, tuple[Demand, Sequence[Mapping[str, Any]]]]()
        present: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
        limited = self._limited()
        uids = set[str]()
        for key, kind, document in self._live():
            (uid, generation), state = _version(document), RunState.of(document)
            uids.add(uid)
            demand = self._demands.of(key, kind, document)
            if demand is None and state.queue:
                demand = Demand({}, {})  # it counts with the resources that were released
            # Batch Jobs that exist, or are not suspended, prove nothing: users may have created or changed them.
            waits = not state.admitted
            if demand is None or (waits and (demand.suspended or state.held or _is_left_alone(kind, document))):
                continue
            unknown = self._unknown(key[1])
            # Requests that are not known by task cannot be compared with batch Jobs.
            no_more = unknown if demand.pods else NO_ROOM
            why = demand.gate or unknown or self._lacking.get(uid, "") if waits else no_more
            batches = [] if unknown else self._caches.seen.batches(uid, key[1])
            queue = self._queue_of(demand, state, key[1])
            step = self._last_step(demand, document, state, batches, queue)
            jobs[uid] = _Counted(key, generation, why, None if no_more else step)
            if waits and why:
                continue
            if step.sizes != state.sizes:
                self._covered.pop(uid, None)
            demand = demand.at(step.sizes or {name: own.replicas for name, own in demand.bounds.items()})
            entry = self._entry(demand, document, state, Observed(now, batches), queue, blocked=bool(why))
            entries.append(entry)
            if state.admitted and not why and step.sizes and not _is_left_alone(kind, document):
                elastic.append(_elastic_job(entry, demand, state, step.sizes, batches, now))
            on_nodes[uid] = demand, batches
            if key[1] in limited:
                observed = Observed(now) if unknown else self._caches.seen.observed(uid, key[1], now)
                sight = sorted_by_task(demand.pods, state, observed)
                for name, amount in requests_of_live_pods(demand, sight).items():
                    present[key[1]][name] = present[key[1]].get(name, Decimal(0)) + amount
        self._demands.forget_others(uids)
        self._lacking = {uid: why for uid, why in self._lacking.items() if uid in uids}
        self._covered = {uid: seen for uid, seen in self._covered.items() if uid in uids}
        spaces: dict[str, Amounts] = {name: left_to_jobs(quotas, present[name]) for name, quotas in limited.items()}
        admission = admit(self._queues, entries, spaces, self._memory, now)
        self._memory = admission.memory
        run = [entry for entry in entries if entry.admitted or entry.has or entry.key in admission.released]
        run.sort(key=lambda entry: (-entry.priority, entry.arrival, entry.key))
        on = [(entry.key, *on_nodes[entry.key]) for entry in run]
        places = None if self.nodes is None else self.nodes.places(on, elastic)
        steps = decide(elastic, admission.pools, now, self._queues.hold, places)
        grows = {job.key: job.growth(steps[job.key]) for job in elastic if job.key in steps}
        self._store_verdicts(jobs, entries, admission.waits, steps, grows)

    def _store_verdicts(
        self,
        jobs: Mapping[str, _Counted],
        entries: Iterable[Entry],
        waits: Mapping[str, str],
        steps: Mapping[str, Step],
        grows: Mapping[str, Amounts],
    ) -> None:
        """Remember the verdicts, and reconcile the jobs whose verdict has changed. `grows` is what steps need more."""
        before, self._verdicts = (
            self._verdicts,
            {uid: Verdict(job.why, job.generation, step=job.step) for uid, job in jobs.items()},
        )
        for entry in entries:
            job, why = jobs[entry.key], waits.get(entry.key, "")
            granted = {} if job.why or entry.key in self._covered else entry.has if why else entry.demand
            if more := grows.get(entry.key):
                granted = sum_of([(entry.demand, 1), (more, 1)])
            step = steps.get(entry.key, job.step)
            self._verdicts[entry.key] = Verdict(why or job.why, job.generation, entry.queue, granted, entry.since, step)
        for uid, verdict in self._verdicts.items():
            if before.get(uid) != verdict:
                self._moved(jobs[uid].key)

    async def _read_ahead(self) -> None:
        """Read the unknown jobs one after the other: a decision would read all at once, and block other work."""
        for key, kind, document in self._live():
            if not self._demands.knows(document):
                if (whole := await self._caches.whole(key, document)) is not None:
                    self._demands.of(key, kind, whole)
                await asyncio.sleep(0)

    def _unknown(self, namespace: str) -> str:
        """Return why the objects of a namespace are not known, so that its jobs wait; empty if they are."""
        jobs = (informer for _, _, informer in self._caches.jobs.values())
        informers: Iterable[Informer[Any]] = (*jobs, *self._caches.seen.informers.values(), self.quotas)
        return next(filter(None, (informer.why_incomplete(namespace) for informer in informers)), "")

    def _queue_of(self, demand: Demand, state: RunState, namespace: str) -> str:
        return state.queue or demand.queue or (namespace if namespace in self._queues.queues else DEFAULT)

    def _last_step(
        self,
        demand: Demand,
        document: Mapping[str, Any],
        state: RunState,
        batches: Iterable[Mapping[str, Any]],
        queue: str,
    ) -> Step:
        """Return the sizes that an elastic job was given last, even before they are stored; none for another job."""
        asked, of_queue = opts_in(document), self._queues.queues.get(queue, Queue()).elastic
        if not demand.pods or not demand.bounds or not (of_queue if asked is None else asked):
            return Step({})
        (uid, generation), sizes = _version(document), sizes_now(demand.bounds, state, batches)
        before = self._verdicts.get(uid)
        if state.admitted and before and before.generation == generation and before.step and before.step.sizes:
            return before.step if before.step.sizes != sizes else Step(sizes, state.why)
        return Step(sizes)

    def _entry(
        self,
        demand: Demand,
        document: Mapping[str, Any],
        state: RunState,
        observed: Observed,
        queue: str,
        *,
        blocked: bool,
    ) -> Entry:
        metadata, (uid, generation) = metadata_of(document), _version(document)
        namespace, before = text(metadata.get("namespace")), self._verdicts.get(uid)
        # Granted resources are used, even before they are stored.
        granted = before.granted if before and before.generation == generation and not before.why else {}
        released, read, since = read_amounts(state.released), [document, *observed.jobs], observed.now
        has: Amounts = {}
        if _same(self._covered.pop(uid, []), read) and state.admitted:
            asks = released
        else:
            asks = wanted(demand, sorted_by_task(demand.pods, state, observed))
        if not state.admitted:
            admitted = bool(granted) and covers(granted, asks)
            asks = granted if admitted else asks
            since = moment(metadata.get("creationTimestamp")) or LONG_AGO
        elif state.queue and not blocked and covers(released, asks):
            self._covered[uid] = read
            admitted, asks = True, released
        else:
            has = most(released if state.queue else asks, requests_of(observed.jobs), granted)
            admitted = blocked or covers(has, asks)
            asks = has if admitted else most(has, asks)
            # It waits since it requested more: by its own age it would go before all others.
            since = before.since if before and before.why else since
        return Entry(
            key=uid,
            queue=queue,
            namespace=namespace,
            demand=asks,
            since=since,
            priority=self._priority(demand.classes) if demand.priority is None else demand.priority,
            arrival=state.arrival or arrival_of(document),
            admitted=admitted,
            has=has,
        )

    def _priority(self, classes: Iterable[str]) -> int:
        """Return the value of a job's priority class: the lowest of its tasks; 0 for none."""
        values = []
        for name in classes:
            try:
                values.append(self.priorities.get(name) or 0)
            except LookupError:
                values.append(0)
        return min(values, default=0)

    def _live(self) -> Iterator[tuple[JobKey, JobKind, Mapping[str, Any]]]:
        """Yield all jobs that have not ended."""
        for plural, (kind, _, informer) in self._caches.jobs.items():
            for namespace, name in informer.keys():  # noqa: SIM118 - not a mapping
                document = informer.get(name, namespace)
                if document is None or namespace not in self._caches.territory or has_ended(kind, document):
                    continue
                yield (plural, namespace, name), kind, document

    def _limited(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the ResourceQuotas by namespace; none if they cannot be read, which the informer logs."""
        quotas: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        with suppress(LookupError):
            for namespace, name in self.quotas.keys():  # noqa: SIM118 - not a mapping
                if quota := self.quotas.get(name, namespace):
                    quotas[namespace].append(quota)
        return quotas


def _elastic_job(
    entry: Entry,
    demand: Demand,
    state: RunState,
    sizes: Mapping[str, int],
    batches: Sequence[Mapping[str, Any]],
    now: datetime,
) -> ElasticJob:
    """Return a job that runs, for a decision about its size. A decision that is not stored yet counts as made now."""
    job = elastic_job(entry.key, demand.bounds, state, sizes, batches, demand.pods)
    counted = entry.demand if entry.admitted else entry.has
    uses = sum_of((demand.pods[name], size) for name, size in demand.sizes.items())
    return replace(
        job,
        since=job.since if sizes == state.sizes else now,
        ready=job.ready and entry.admitted,
        pools=pool_keys(entry),
        leaving={name: amount - uses.get(name, Decimal(0)) for name, amount in counted.items()},
        priority=entry.priority,
        preemptible=demand.preemptible,
        arrival=entry.arrival,
    )


def _same(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(map(is_, left, right))


def ignores_queues(subject: Subject) -> bool:
    """Return whether a job is reconciled without the decision of its queue: it runs, has ended, or is stopped."""
    state = subject.state
    ended = has_ended(subject.job.kind, subject.job.document)
    return state.admitted or bool(state.held) or subject.suspended or ended


def has_ended(kind: JobKind, document: Mapping[str, Any]) -> bool:
    """Return whether a job has ended, according to its status."""
    runner = runner_of(kind)
    return runner is not None and runner.end_phase(mapping(document.get("status"))) is not None


def _is_left_alone(kind: JobKind, document: Mapping[str, Any]) -> bool:
    """Return whether nothing is created for a job: it is being deleted, or paused."""
    runner = runner_of(kind)
    paused = runner is not None and runner.is_paused(mapping(document.get("status")))
    return paused or bool(metadata_of(document).get("deletionTimestamp"))


def _quota(stored: dict[str, Any]) -> Mapping[str, Any]:
    spec, status = mapping(stored.get("spec")), mapping(stored.get("status"))
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {"spec": {"scopes": True}}
    return {"spec": {"hard": spec.get("hard")}, "status": {field: status.get(field) for field in ("hard", "used")}}


def _value(stored: dict[str, Any]) -> int:
    return int(stored.get("value") or 0)
