"""Jobs leave their queues: what is known of all jobs goes to `queues.admit`, and jobs that it moves are looked at."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import is_
from typing import Any, Final

from jobgate.cluster import Informer, Resource
from jobgate.jobs.kind import JobKind
from jobgate.jobs.runner import runner_of
from jobgate.room import Room
from jobgate.runner.queues.admission import DEFAULT, Amounts, Entry, Memory, Queues, admit
from jobgate.runner.queues.demand import (
    ENTRY_BYTES,
    Demand,
    demand_of,
    left_to_jobs,
    read_amounts,
    requests_of_live_pods,
)
from jobgate.runner.queues.growth import Verdict, covers, most, placed, used_by, wanted
from jobgate.runner.reading import Caches, JobReader, is_whole
from jobgate.runner.seen import JobKey
from jobgate.runner.state import RunState
from jobgate.runner.subject import LONG_AGO, Observed, Subject, arrival_of, look, moment, sorted_by_task
from webhook.values import mapping, metadata_of, text

QUOTAS: Final = Resource("resourcequotas", "v1", "")
PRIORITIES: Final = Resource("priorityclasses", "v1", "scheduling.k8s.io")
#: Changes are waited out for so long, in seconds: one decision is made for many.
SETTLE: Final = 0.1
#: After so many seconds it is decided again, whatever has changed: jobs come to wait for too long.
RESYNC: Final = 15.0

#: What is remembered of what jobs ask for, in bytes: some 12,000 jobs of three tasks.
ROOM: Final = 64 * 1024 * 1024
NO_ROOM: Final = "the jobs of its namespace ask for more different resources than jobgate has memory for"

_logger = logging.getLogger("jobgate")


class Demands:
    """What jobs ask for. A job is read for it once, until its spec changes: reading one of 1 MiB takes up to 0.2 s."""

    def __init__(self, reader: JobReader, room: int = ROOM) -> None:
        """Know nothing yet. `room` is for what is remembered, in bytes.

        Of jobs beyond, only what they ask for in all is remembered, and of jobs beyond that nothing: they wait.
        """
        self._reader = reader
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
        demand = None if subject is None else demand_of(subject)
        if demand is not None and not self._fits(key, demand):
            demand = replace(demand, pods={})
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
    """A job that counts, or waits.

    Attributes:
        key: of the job.
        generation: of it.
        why: why it gets no room, or no more, whatever there is; empty for nothing.
    """

    key: JobKey
    generation: Any
    why: str


class Dispatcher:
    """Decides which jobs may run. What it has decided is remembered until it is seen in the jobs."""

    def __init__(
        self,
        queues: Queues,
        caches: Caches,
        changed: asyncio.Event,
        moved: Callable[[JobKey], None],
        room: Room | None = None,
    ) -> None:
        """Decide nothing yet. `changed` is set when anything has changed of jobs and what they are made of.

        `moved` is called with each job of which something else was decided; `room` is for ResourceQuotas.
        """
        self._queues = queues
        self._caches = caches
        self._moved = moved
        self._memory = Memory()
        self._demands = Demands(caches.reader)
        self._verdicts: dict[str, Verdict] = {}
        #: Jobs that ask for no more than was released, with their batch Jobs, as they were when that was compared.
        self._covered: dict[str, list[Mapping[str, Any]]] = {}
        #: Why jobs get no room, of those that lack something that they do not make themselves.
        self._lacking: dict[str, str] = {}
        self._changed = changed
        self.quotas = Informer(QUOTAS, keep=_quota, changed=lambda _: changed.set(), room=room)
        self.priorities = Informer(PRIORITIES, keep=_value, changed=lambda _: changed.set())

    def use(self, queues: Queues) -> None:
        """Have other queues from the next decision on. Jobs that run go on."""
        self._queues = queues
        self._changed.set()

    def verdict(self, uid: str) -> str | None:
        """Return why a job, or its growth, waits; empty where it may run, None where nothing was decided of it yet."""
        found = self._verdicts.get(uid)
        return None if found is None else found.why

    def placed(self, subject: Subject, observed: Observed) -> Subject:
        """Return a job with what was decided of it as it is now."""
        if subject.state.held or subject.suspended or has_ended(subject.job.kind, subject.job.document):
            return replace(subject, verdict="")
        verdict = self._verdicts.get(subject.crew.uid)
        return placed(subject, demand_of(subject), look(subject, observed), verdict)

    def lacks(self, uid: str) -> bool:
        """Return whether a job gets no room, as it lacks something."""
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
        """Decide whenever something has changed, for ever."""
        while True:
            self._changed.clear()
            try:
                await self._read_ahead()
                self.decide()
            except Exception as error:  # noqa: BLE001  # whatever it is: it is tried again, and jobs that run go on
                reason = str(error) if isinstance(error, LookupError) else type(error).__qualname__
                _logger.warning(
                    "failed to decide which jobs leave their queue, retrying", extra={"fields": {"reason": reason}}
                )
            await asyncio.sleep(SETTLE)
            with suppress(TimeoutError):
                async with asyncio.timeout(RESYNC):
                    await self._changed.wait()

    def decide(self) -> None:
        """Decide of all jobs.

        Raises:
            LookupError: it is not known which jobs there are.
        """
        now, entries, jobs = self._caches.clock(), list[Entry](), dict[str, _Counted]()
        present: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
        limited = self._limited()
        uids = set[str]()
        for key, kind, document in self._live():
            (uid, generation), state = _version(document), RunState.of(document)
            uids.add(uid)
            demand = self._demands.of(key, kind, document)
            if demand is None and state.queue:
                demand = Demand({}, {})  # it counts with what was released
            # Batch Jobs that are there, or are not suspended, prove nothing: users may have made them so.
            waits = not state.admitted
            if demand is None or (waits and (demand.suspended or state.held or _is_left_alone(kind, document))):
                continue
            unknown = self._unknown(key[1])
            # What is not known by task cannot be compared with batch Jobs.
            no_more = unknown if demand.pods else NO_ROOM
            why = demand.gate or unknown or self._lacking.get(uid, "") if waits else no_more
            jobs[uid] = _Counted(key, generation, why)
            if waits and why:
                continue
            batches = [] if unknown else self._caches.seen.batches(uid, key[1])
            entries.append(self._entry(demand, document, state, Observed(now, batches), blocked=bool(why)))
            if key[1] in limited:
                observed = Observed(now) if unknown else self._caches.seen.observed(uid, key[1], now)
                sight = sorted_by_task(demand.pods, state, observed)
                for name, amount in requests_of_live_pods(demand, sight).items():
                    present[key[1]][name] = present[key[1]].get(name, Decimal(0)) + amount
        self._demands.forget_others(uids)
        self._lacking = {uid: why for uid, why in self._lacking.items() if uid in uids}
        self._covered = {uid: seen for uid, seen in self._covered.items() if uid in uids}
        spaces: dict[str, Amounts] = {name: left_to_jobs(quotas, present[name]) for name, quotas in limited.items()}
        found = admit(self._queues, entries, spaces, self._memory, now)
        self._memory = found.memory
        self._decided(jobs, entries, found.waits)

    def _decided(self, jobs: Mapping[str, _Counted], entries: Iterable[Entry], waits: Mapping[str, str]) -> None:
        """Remember what was decided, and have jobs looked at of which it is something else."""
        before, self._verdicts = self._verdicts, {uid: Verdict(one.why, one.generation) for uid, one in jobs.items()}
        for one in entries:
            counted, why = jobs[one.key], waits.get(one.key, "")
            granted = {} if counted.why or one.key in self._covered else one.has if why else one.demand
            self._verdicts[one.key] = Verdict(why or counted.why, counted.generation, one.queue, granted, one.since)
        for uid, verdict in self._verdicts.items():
            if before.get(uid) != verdict:
                self._moved(jobs[uid].key)

    async def _read_ahead(self) -> None:
        """Read what is not known of jobs, one after the other: a decision would read all at once, and block others."""
        for key, kind, document in self._live():
            if not self._demands.knows(document):
                if (whole := await self._caches.whole(key, document)) is not None:
                    self._demands.of(key, kind, whole)
                await asyncio.sleep(0)

    def _unknown(self, namespace: str) -> str:
        """Return why it is not known what there is in a namespace, whose jobs wait then; empty if it is known."""
        jobs = (informer for _, _, informer in self._caches.jobs.values())
        informers: Iterable[Informer[Any]] = (*jobs, *self._caches.seen.informers.values(), self.quotas)
        return next(filter(None, (informer.why_incomplete(namespace) for informer in informers)), "")

    def _entry(
        self, demand: Demand, document: Mapping[str, Any], state: RunState, observed: Observed, *, blocked: bool
    ) -> Entry:
        metadata, (uid, generation) = metadata_of(document), _version(document)
        namespace, before = text(metadata.get("namespace")), self._verdicts.get(uid)
        # What was granted is used, even if that is not written yet.
        granted = before.granted if before and before.generation == generation and not before.why else {}
        released, seen, since = read_amounts(state.released), [document, *observed.jobs], observed.now
        has: Amounts = {}
        if _same(self._covered.pop(uid, []), seen) and state.admitted:
            asks = released
        else:
            asks = wanted(demand, sorted_by_task(demand.pods, state, observed))
        if not state.admitted:
            admitted = bool(granted) and covers(granted, asks)
            asks = granted if admitted else asks
            since = moment(metadata.get("creationTimestamp")) or LONG_AGO
        elif state.queue and not blocked and covers(released, asks):
            self._covered[uid] = seen
            admitted, asks = True, released
        else:
            has = most(released if state.queue else asks, used_by(observed.jobs), granted)
            admitted = blocked or covers(has, asks)
            asks = has if admitted else most(has, asks)
            # It waits since it began to ask for more: by its own age it would go before all others.
            since = before.since if before and before.why else since
        return Entry(
            key=uid,
            queue=state.queue or demand.queue or (namespace if namespace in self._queues.queues else DEFAULT),
            namespace=namespace,
            demand=asks,
            since=since,
            priority=self._priority(demand.classes) if demand.priority is None else demand.priority,
            arrival=state.arrival or arrival_of(document),
            admitted=admitted,
            has=has,
        )

    def _priority(self, classes: Iterable[str]) -> int:
        """Return the value of a job's priority class: the least of its tasks', 0 where there is none."""
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
        """Return the ResourceQuotas by namespace; none where the API server does not tell, which the informer logs."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        with suppress(LookupError):
            for namespace, name in self.quotas.keys():  # noqa: SIM118 - not a mapping
                if quota := self.quotas.get(name, namespace):
                    found[namespace].append(quota)
        return found


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def needs_none(subject: Subject) -> bool:
    """Return whether a job is looked at whatever its queue says: it runs, has ended, or may not run."""
    state = subject.state
    ended = has_ended(subject.job.kind, subject.job.document)
    return state.admitted or bool(state.held) or subject.suspended or ended


def has_ended(kind: JobKind, document: Mapping[str, Any]) -> bool:
    """Return whether a job has ended, by its status."""
    runner = runner_of(kind)
    return runner is not None and runner.end_phase(mapping(document.get("status"))) is not None


def _is_left_alone(kind: JobKind, document: Mapping[str, Any]) -> bool:
    """Return whether nothing is made of a job: it is being deleted, or paused."""
    runner = runner_of(kind)
    paused = runner is not None and runner.is_paused(mapping(document.get("status")))
    return paused or bool(metadata_of(document).get("deletionTimestamp"))


def _quota(found: dict[str, Any]) -> Mapping[str, Any]:
    spec, status = mapping(found.get("spec")), mapping(found.get("status"))
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {"spec": {"scopes": True}}
    return {"spec": {"hard": spec.get("hard")}, "status": {word: status.get(word) for word in ("hard", "used")}}


def _value(found: dict[str, Any]) -> int:
    return int(found.get("value") or 0)
