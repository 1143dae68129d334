"""Whether there is the job that a pod says it belongs to, and such a pod of it.

A cache knows almost always. Where it does not (no such job, another uid, an index beyond the replicas that it knows),
it may be behind: then the API server is asked once, within a budget. A pod that names the uid of a job that does not
exist is never wired.
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

#: Most seconds that a request waits for its turn: with the answer, which takes at most 2 s, that is in time for the API
#: server, which waits 5 s.
TIMEOUT = 2.0
#: Longest uid that is looked up, in characters: they are UUIDs.
UID = 64

_logger = logging.getLogger("jobgate")


class DigestCache(Protocol):
    """A cache of digests. Looking into it costs no request."""

    def get(self, name: str, namespace: str = "") -> Digest | None:
        """Return the digest of a job, or None where there is no such job.

        Raises:
            LookupError: nothing is known.
        """


#: Reads a job by its name and namespace; None where there is none. It ends within seconds, and may raise anything.
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
    """What a lookup found out about a pod.

    Attributes:
        result: UNASKED where the job asks for nothing that goes into pods; UNKNOWN where there is no such job and the
            pod has no owner reference, as labels alone prove nothing; DENIED where the pod can never be wired.
        member: the pod that was found.
        reason: why it is later or denied, as a sentence.
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
        """Return the task that a claim names if there is one in the cache; no request is made.

        Raises:
            LookupError: the jobs are not known yet.
        """
        try:
            known = self._known.get(claim.job, namespace)
        except NotInstalled:
            return None
        return known.part(claim.task) if isinstance(known, Crew) and not _is_another(known, claim) else None

    async def find(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Return the verdict on a pod's claim, with at most one request."""
        try:
            known = self._known.get(claim.job, namespace)
        except LookupError:
            known = None
        if isinstance(known, UnusableJob) and not _is_another(known, claim):
            return self._unusable(known, claim)
        # A job that is not kept is unknown, as one that does not exist.
        if isinstance(known, Crew) and (verdict := _judged(known, claim)):
            return verdict
        if dns_subdomain(claim.job) or len(claim.uid) > UID:
            return self._denied(claim) if claim.owned else UNKNOWN
        return await self._ask(namespace, claim)

    async def _ask(self, namespace: str, claim: Claim) -> LookupVerdict:
        """Read the job, because the cache does not know it or may be behind."""
        # By the uid too: a lookup before the job was created again does not apply to the new one.
        key = namespace, claim.job, claim.uid
        flight = self._flights.get(key)
        if flight is None:
            if not self._budget.take(namespace):
                return self._too_many(claim)
            flight = self._flights[key] = asyncio.create_task(self._fly(namespace, claim))
            flight.add_done_callback(lambda done: self._landed(key, done))
        try:
            # Others may wait for the same answer, also if this request is cancelled.
            found = await asyncio.shield(flight)
        except Exception as error:  # noqa: BLE001  # of a network: whatever it is, nothing is known
            fields = {"kind": self._kind, "reason": f"{type(error).__qualname__}: {error}"}
            _logger.warning("failed to look up the job", extra={"fields": fields})
            return LookupVerdict(LookupResult.LATER, reason=f"failed to look up {self._job(claim)}")
        if isinstance(found, LookupVerdict):
            return found
        if found is None or _is_another(found, claim):
            return self._denied(claim) if claim.owned else UNKNOWN
        if isinstance(found, UnusableJob):
            return self._unusable(found, claim)
        return _judged(found, claim) or LookupVerdict(LookupResult.LATER, reason=self._behind(claim))

    async def _fly(self, namespace: str, claim: Claim) -> Read | LookupVerdict | None:
        """Wait for a turn of the namespace, of which it has no more than its share, and read the job."""
        share = self._shares.setdefault(namespace, asyncio.Semaphore(SHARE))
        first = self._firsts.setdefault(namespace, asyncio.Lock())
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(TIMEOUT):
                    await turn.enter_async_context(share)
                    async with first:  # of each namespace one waits, so that namespaces take turns
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
        """Return why the job, as it is stored, has no such pod; its operator may be ahead of that."""
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


def _judged(crew: Crew, claim: Claim) -> LookupVerdict | None:
    """Return the verdict of a job on a claim, or None where the job may have changed since it was read."""
    if _is_another(crew, claim):
        return None
    if claim.facts.get(RUN_LABEL, "") != crew.facts.get(RUN_LABEL, ""):
        return None  # the runner has taken the job over since
    if not crew.asks:
        return UNASKED
    part = crew.part(claim.task)
    if part is None or claim.index is None or claim.index >= part.replicas:
        return None
    if any(key not in crew.facts for key in claim.facts):
        return None
    return LookupVerdict(LookupResult.FOUND, Member(crew, part, claim.index))


def _is_another(job: Read, claim: Claim) -> bool:
    """Return whether a job is another one of the same name."""
    if claim.uid and job.uid != claim.uid:
        return True
    return isinstance(job, Crew) and any(job.facts.get(key, value) != value for key, value in claim.facts.items())
