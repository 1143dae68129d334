"""Jobs leave their queues: what is known of all jobs goes to `queues.admit`, and jobs that it moves are looked at."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

from jobgate.cluster import Backoff, Informer, Resource
from jobgate.kinds.common.pod.reading import mapping, metadata_of, text
from jobgate.kinds.common.priority import priority_class_of
from jobgate.kinds.common.runner import runner_of
from jobgate.runner.queues import Amounts, Entry, Memory, Queues, admit, demand_of, left_to_jobs, present_of
from jobgate.runner.queues.admission import DEFAULT
from jobgate.runner.reading import Caches
from jobgate.runner.seen import JobKey
from jobgate.runner.subject import LONG_AGO, Subject, look, moment
from webhook import Job, Kind

QUOTAS: Final = Resource("resourcequotas", "v1", "")
PRIORITIES: Final = Resource("priorityclasses", "v1", "scheduling.k8s.io")
#: Changes are waited out for so long, in seconds: one decision is made for many.
SETTLE: Final = 0.1
#: After so many seconds it is decided again, whatever has changed: jobs come to wait for too long.
RESYNC: Final = 15.0

_logger = logging.getLogger("jobgate")


class Dispatcher:
    """Decides which jobs may run. What it has decided is remembered until it is seen in the jobs."""

    def __init__(
        self,
        queues: Queues,
        caches: Caches,
        changed: asyncio.Event,
        moved: Callable[[JobKey], None],
        backoff: Backoff | None = None,
    ) -> None:
        """Decide nothing yet.

        Args:
            queues: that there are.
            caches: what is known of jobs.
            changed: is set when anything has changed of jobs and what they are made of.
            moved: told each job of which something else was decided.
            backoff: of informers, after failures.
        """
        self._queues = queues
        self._caches = caches
        self._moved = moved
        self._memory = Memory()
        self._verdicts: dict[str, str] = {}
        self._changed = changed
        self.quotas = Informer(QUOTAS, backoff, keep=_quota, changed=lambda _: changed.set())
        self.priorities = Informer(PRIORITIES, backoff, keep=_value, changed=lambda _: changed.set())

    def use(self, queues: Queues) -> None:
        """Have other queues from the next decision on. Jobs that run go on."""
        self._queues = queues
        self._changed.set()

    def verdict(self, uid: str) -> str | None:
        """Return why a job waits; empty where it may run, None where nothing was decided of it yet."""
        return self._verdicts.get(uid)

    async def run(self) -> None:
        """Decide whenever something has changed, for ever."""
        while True:
            self._changed.clear()
            try:
                self.decide()
            except Exception as error:  # noqa: BLE001  # whatever it is: it is tried again, and jobs that run go on
                reason = str(error) if isinstance(error, LookupError) else type(error).__qualname__
                _logger.warning("nothing was decided of queues, retrying", extra={"fields": {"reason": reason}})
            await asyncio.sleep(SETTLE)
            with suppress(TimeoutError):
                async with asyncio.timeout(RESYNC):
                    await self._changed.wait()

    def decide(self) -> None:
        """Decide of all jobs.

        Raises:
            LookupError: it is not known which jobs there are.
        """
        now, entries, keys = self._caches.clock(), list[Entry](), dict[str, JobKey]()
        present: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
        limited = self._limited()
        for key, subject in self._subjects():
            document = subject.job.document
            observed = self._caches.seen.observed(document["metadata"]["uid"], key[1], now)
            sight = look(subject, observed)
            runs = subject.state.admitted or any(one.batch and not one.suspended for one in sight.tasks.values())
            if not runs and not _wants(subject):
                continue
            entry = self._entry(subject, key[1], runs=runs)
            entries.append(entry)
            keys[entry.key] = key
            if key[1] in limited:
                for name, amount in present_of(subject, sight).items():
                    present[key[1]][name] = present[key[1]].get(name, Decimal(0)) + amount
        spaces: dict[str, Amounts] = {name: left_to_jobs(quotas, present[name]) for name, quotas in limited.items()}
        found = admit(self._queues, entries, spaces, self._memory, now)
        self._memory = found.memory
        before = self._verdicts
        self._verdicts = {one.key: found.waits.get(one.key, "") for one in entries}
        for uid, verdict in self._verdicts.items():
            if before.get(uid) != verdict:
                self._moved(keys[uid])

    def _entry(self, subject: Subject, namespace: str, *, runs: bool) -> Entry:
        job = subject.job
        metadata = metadata_of(job.document)
        uid = text(metadata.get("uid"))
        named = text(job.word("queue")) or (namespace if namespace in self._queues.queues else DEFAULT)
        stated = subject.runner.priority(job)
        return Entry(
            key=uid,
            queue=named,
            namespace=namespace,
            demand=demand_of(subject),
            since=moment(metadata.get("creationTimestamp")) or LONG_AGO,
            priority=self._priority(job) if stated is None else stated,
            # A job that was let go runs, even if that is not written yet.
            admitted=runs or self._verdicts.get(uid) == "",
        )

    def _priority(self, job: Job[Any]) -> int:
        """Return the value of a job's priority class: the least of its tasks', 0 where there is none."""
        values = []
        for task in job.tasks:
            try:
                values.append(self.priorities.get(priority_class_of(job, task)) or 0)
            except LookupError:
                values.append(0)
        return min(values, default=0)

    def _subjects(self) -> Iterator[tuple[JobKey, Subject]]:
        """Yield all jobs that have not ended."""
        for plural, (kind, _, informer) in self._caches.jobs.items():
            for namespace, name in informer.keys():  # noqa: SIM118 - not a mapping
                document = informer.get(name, namespace)
                if document is None or namespace not in self._caches.territory or has_ended(kind, document):
                    continue
                key = (plural, namespace, name)
                if (subject := self._caches.reader.read(key, kind, document)) is not None:
                    yield key, subject

    def _limited(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the ResourceQuotas by namespace; none where the API server does not tell, which the informer logs."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        with suppress(LookupError):
            for namespace, name in self.quotas.keys():  # noqa: SIM118 - not a mapping
                if quota := self.quotas.get(name, namespace):
                    found[namespace].append(quota)
        return found


def needs_none(subject: Subject) -> bool:
    """Tell whether a job is looked at whatever its queue says: it runs, has ended, or may not run."""
    state = subject.state
    ended = has_ended(subject.job.kind, subject.job.document)
    return state.admitted or bool(state.held) or subject.suspended or ended


def has_ended(kind: Kind, document: Mapping[str, Any]) -> bool:
    """Tell whether a job has ended, by its status."""
    runner = runner_of(kind)
    return runner is not None and runner.phase_of(mapping(document.get("status"))) is not None


def _wants(subject: Subject) -> bool:
    """Tell whether a job wants to run."""
    going = metadata_of(subject.job.document).get("deletionTimestamp")
    return not (going or subject.suspended or subject.state.held or subject.runner.paused(subject.job))


def _quota(found: dict[str, Any]) -> Mapping[str, Any]:
    return {"spec": mapping(found.get("spec")), "status": mapping(found.get("status"))}


def _value(found: dict[str, Any]) -> int:
    return int(found.get("value") or 0)
