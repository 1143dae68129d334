"""Looks up the job that a pod claims to belong to, and the pod's place in it.

Nearly always a cache has the job. If it lacks the job, or has another uid or too few replicas, it may be behind: then
the API server is asked once, within a budget. A pod that names the uid of a missing job is never wired.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias
from weakref import WeakValueDictionary

from jobgate.jobs.members import Claim
from jobgate.names import LABEL_LIMIT, dns_subdomain
from jobgate.plugins import Crew, Member, Part
from jobgate.plugins.crew import RUN_LABEL
from jobgate.pods.budget import AT_ONCE, SHARE, Budget
from jobgate.pods.digest import Digest, Read, UnusableJob
from webhook import NotInstalled

#: Maximum seconds that a request waits for its turn. The answer takes at most 2 s more, and the API server waits 5 s.
TIMEOUT = 2.0
#: Maximum length of a uid, in characters; real ones are UUIDs.
UID = 64

_logger = logging.getLogger("jobgate")


class DigestCache(Protocol):
    """A cache of digests. It makes no requests."""

    def get(self, name: str, namespace: str = "") -> Digest | None:
        """Return the digest of a job, or None if there is no such job.

        Raises:
            LookupError: the jobs are not known yet.
        """


#: Reads a job by its name and namespace; None if it does not exist. It ends within seconds, and may raise anything.
Fetch: TypeAlias = Callable[[str, str], Coroutine[None, None, Read | None]]


class LookupResult(StrEnum):
    """The result of a lookup, as the metric names it."""

    FOUND = "found"
    UNASKED = "unasked"
    UNKNOWN = "unknown"
    LATER = "later"
    DENIED = "refused"


@dataclass(frozen=True, slots=True)
class LookupVerdict:
    """The result of a lookup for a pod.

    Attributes:
        result: UNASKED if the job requests nothing for its pods; UNKNOWN if there is no such job and the pod has no
            owner reference, because labels alone prove nothing; DENIED if the pod can never be wired.
        member: the pod's place in its job.
        reason: the reason for LATER or DENIED, as a sentence.
    """

    result: LookupResult
    member: Member | None = None
    reason: str = ""


UNASKED, UNKNOWN = LookupVerdict(LookupResult.UNASKED), LookupVerdict(LookupResult.UNKNOWN)


class Lookup:
    """Looks up the jobs of one kind."""

    def __init__(
        self,
        kind: str,
        known: DigestCache,
        fetch: Fetch,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kind = kind
        self._known = known
        self._fetch = fetch
        self._budget = budget or Budget(clock)
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._firsts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._flights: dict[tuple[str, str, str], asyncio.Task[Read | LookupVerdict | None]] = {}

    def part(self, namespace: str, claim: Claim) -> Part | None:
        """Return the task that a claim names, if the cache has it; no request is made.

        Raises:
            LookupError: the jobs are not known yet.
        """
        try:
            job = self._known.get(claim.job, namespace)
        except NotInstalled:
            return None
        return job.part(claim.task) if isinstance(job, Crew) and not _is_another(job, claim) else None

    async def find(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Return the verdict on a pod's claim, with at most one request."""
        try:
            job = self._known.get(claim.job, namespace)
        except LookupError:
            job = None
        if isinstance(job, UnusableJob) and not _is_another(job, claim):
            return self._unusable(job, claim)
        # An `UncachedJob` is looked up like a missing job.
        if isinstance(job, Crew) and (verdict := _verdict(job, claim)):
            return verdict
        if dns_subdomain(claim.job) or len(claim.uid) > UID:
            return self._denied(claim) if claim.owned else UNKNOWN
        return await self._ask(namespace, claim)

    async def _ask(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Read the job, because the cache lacks it or may be behind."""
        # The key contains the uid, because a job may be deleted and created again with its name.
        key = namespace, claim.job, claim.uid
        flight = self._flights.get(key)
        if flight is None:
            if not self._budget.take(namespace):
                return self._too_many(claim)
            flight = self._flights[key] = asyncio.create_task(self._fly(namespace, claim))
            flight.add_done_callback(lambda done: self._landed(key, done))
        try:
            # Other requests may wait for the same answer, even if this request is cancelled.
            job = await asyncio.shield(flight)
        except Exception as error:  # noqa: BLE001  # a request can fail in any way
            fields = {"kind": self._kind, "reason": f"{type(error).__qualname__}: {error}"}
            _logger.warning("failed to look up the job", extra={"fields": fields})
            return LookupVerdict(LookupResult.LATER, reason=f"failed to look up {self._job(claim)}")
        if isinstance(job, LookupVerdict):
            return job
        if job is None or _is_another(job, claim):
            return self._denied(claim) if claim.owned else UNKNOWN
        if isinstance(job, UnusableJob):
            return self._unusable(job, claim)
        return _verdict(job, claim) or LookupVerdict(LookupResult.LATER, reason=self._behind(claim))

    async def _fly(self, namespace: str, claim: Claim) -> Read | LookupVerdict | None:
        """Wait for a turn of the namespace, within its share of all requests, and read the job."""
        share = self._shares.setdefault(namespace, asyncio.Semaphore(SHARE))
        first = self._firsts.setdefault(namespace, asyncio.Lock())
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(TIMEOUT):
                    await turn.enter_async_context(share)
                    async with first:  # one request of each namespace waits, so that namespaces take turns
                        await turn.enter_async_context(self._turns)
            except TimeoutError:
                return self._too_many(claim)
            return await self._fetch(claim.job, namespace)

    def _landed(self, key: tuple[str, str, str], flight: asyncio.Task[Read | LookupVerdict | None]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # else asyncio logs an unretrieved exception

    def _too_many(self, claim: Claim) -> LookupVerdict:
        return LookupVerdict(
            LookupResult.LATER, reason=f"too many lookups in progress; {self._job(claim)} is not known yet"
        )

    def _behind(self, claim: Claim) -> str:
        """Return why the stored job has no such pod; its operator may know a newer version."""
        task = claim.task[:LABEL_LIMIT]
        if claim.index is None:
            return f"cannot determine the index of the pod in task {task} of {self._job(claim)}"
        return f"{self._job(claim)} has no pod {claim.index} of task {task} yet"

    def _denied(self, claim: Claim) -> LookupVerdict:
        return LookupVerdict(LookupResult.DENIED, reason=f"no {self._job(claim)} with this uid exists in the namespace")

    def _unusable(self, job: UnusableJob, claim: Claim) -> LookupVerdict:
        return LookupVerdict(LookupResult.DENIED, reason=f"{self._job(claim)} {job.reason}")

    def _job(self, claim: Claim) -> str:
        return f"{self._kind} {claim.job[:253]}"


def _verdict(crew: Crew, claim: Claim) -> LookupVerdict | None:
    """Return the verdict on a claim by its job, or None if the job may have changed since it was read."""
    if _is_another(crew, claim):
        return None
    if claim.facts.get(RUN_LABEL, "") != crew.facts.get(RUN_LABEL, ""):
        return None  # the runner has taken over the job meanwhile
    if not crew.asks:
        return UNASKED
    part = crew.part(claim.task)
    if part is None or any(key not in crew.facts for key in claim.facts):
        return None
    # Operators write no index into the only pod of a task, and prerequisites need none.
    needs_index = claim.index is not None or (crew.ours and part.replicas != 1)
    if needs_index and (claim.index is None or claim.index >= part.replicas):
        return None
    return LookupVerdict(LookupResult.FOUND, Member(crew, part, claim.index or 0))


def _is_another(job: Read, claim: Claim) -> bool:
    """Return whether a job only has the same name as the claimed one."""
    if claim.uid and job.uid != claim.uid:
        return True
    return isinstance(job, Crew) and any(job.facts.get(key, value) != value for key, value in claim.facts.items())
