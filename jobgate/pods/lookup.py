"""Whether there is the job that a pod says it belongs to, and such a pod of it.

A cache knows almost always. Where it does not (no such job, another uid, an index beyond the replicas that it knows),
it may be behind: then the cluster is asked once, within a budget. What it says is true: a pod that names the uid of a
job that is not there is never wired, and the next of its kind is refused without asking.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from jobgate.kinds.common.members import Claim
from jobgate.names import LABEL_LIMIT, dns_subdomain
from jobgate.plugins import Crew, Member, Part
from jobgate.plugins.crew import RUN_LABEL
from jobgate.pods.budget import Budget
from jobgate.pods.digest import Digest, Read, TooLarge, Unreadable
from jobgate.pods.forgeries import Forgeries
from jobgate.pods.turns import Turns

#: How long a question may wait for its turn, in seconds: it and the answer, which takes 2 s at most, are in time then
#: for the API server, which waits 5 s.
WAIT = 2.0
#: Longest uid that is looked up, in characters: they are UUIDs, and what is remembered must be small.
UID = 64

_logger = logging.getLogger("jobgate")


class Known(Protocol):
    """A cache of digests. Looking into it costs no call."""

    def get(self, name: str, namespace: str = "") -> Digest | None:
        """Return the digest of a job, or None where there is no such job.

        Raises:
            LookupError: nothing is known.
        """


#: Asks the cluster for a job, by its name and namespace; None where there is none. It ends within seconds, and may
#: raise anything.
Fetch: TypeAlias = Callable[[str, str], Coroutine[None, None, Read | None]]


@dataclass(frozen=True, slots=True)
class Found:
    """The pod is this one."""

    member: Member


@dataclass(frozen=True, slots=True)
class Unasked:
    """The job asks for nothing that we would put into its pods."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no such job, and the pod has no owner reference: labels alone prove nothing."""


@dataclass(frozen=True, slots=True)
class Later:
    """It cannot be told yet: why, as a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The pod can never be wired: why, as a sentence."""

    reason: str


Verdict: TypeAlias = Found | Unasked | Unknown | Later | Refused


class Lookup:
    """Looks up the jobs of one kind."""

    def __init__(
        self,
        kind: str,
        known: Known,
        fetch: Fetch,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make one.

        Args:
            kind: what messages call the jobs.
            known: the cache.
            fetch: asks the cluster.
            budget: how often.
            clock: gives seconds.
        """
        self._kind = kind
        self._known = known
        self._fetch = fetch
        self._budget = budget or Budget(clock)
        self._turns = Turns()
        self._flights: dict[tuple[str, str, str], asyncio.Task[Read | Later | None]] = {}
        self._forged = Forgeries(clock)

    def part(self, namespace: str, claim: Claim) -> Part | None:
        """Return the task that a claim names, where the cache knows it; the cluster is not asked."""
        try:
            known = self._known.get(claim.job, namespace)
        except LookupError:
            return None
        return known.part(claim.task) if isinstance(known, Crew) and not _is_another(known, claim) else None

    async def find(self, namespace: str, claim: Claim) -> Verdict:
        """Return what is to be made of a pod's claim, asking the cluster at most once."""
        try:
            known = self._known.get(claim.job, namespace)
        except LookupError:
            known = None
        if isinstance(known, Unreadable | TooLarge) and not _is_another(known, claim):
            return self._unusable(known, claim)
        # Of a job that is not kept nothing is known, as of one that is not there.
        if isinstance(known, Crew) and (verdict := _judged(known, claim)):
            return verdict
        if claim.owned and self._forged.has(namespace, claim.job, claim.uid):
            return self._refused(claim)
        if dns_subdomain(claim.job) or len(claim.uid) > UID:
            return self._refused(claim) if claim.owned else Unknown()  # nothing is called so
        return await self._ask(namespace, claim)

    async def _ask(self, namespace: str, claim: Claim) -> Verdict:
        """Ask the cluster: what the cache says would be wrong, or half the truth."""
        # By the uid too: a lookup before the job was created again does not apply to the new one.
        key = namespace, claim.job, claim.uid
        flight = self._flights.get(key)
        if flight is None:
            if not self._budget.take(namespace) or (turn := self._turns.ask(namespace)) is None:
                return self._too_many(claim)
            flight = self._flights[key] = asyncio.create_task(self._fly(turn, namespace, claim))
            flight.add_done_callback(lambda done: self._landed(key, done))
        try:
            # Others may wait for the same answer: who goes away does not take it with him.
            found = await asyncio.shield(flight)
        except Exception as error:  # noqa: BLE001  # of a network: whatever it is, nothing is known
            reason = type(error).__qualname__
            _logger.warning(
                "failed to look up the job", extra={"fields": {"kind": self._kind, "reason": f"{reason}: {error}"}}
            )
            return Later(f"failed to look up {self._job(claim)}")
        if isinstance(found, Later):
            return found
        if found is None or _is_another(found, claim):
            return self._absent(namespace, claim)
        if isinstance(found, Unreadable | TooLarge):
            return self._unusable(found, claim)
        return _judged(found, claim) or Later(self._behind(claim))

    async def _fly(self, turn: asyncio.Future[None], namespace: str, claim: Claim) -> Read | Later | None:
        """Wait for the turn, and ask."""
        await asyncio.wait({turn}, timeout=WAIT)
        if not turn.done():
            turn.cancel()
            return self._too_many(claim)
        try:
            return await self._fetch(claim.job, namespace)
        finally:
            self._turns.done(namespace)

    def _too_many(self, claim: Claim) -> Later:
        return Later(f"too many lookups in progress; {self._job(claim)} is not known yet")

    def _behind(self, claim: Claim) -> str:
        """Return why a pod cannot be found in its job, as it is now; its operator may be ahead of that."""
        task = claim.task[:LABEL_LIMIT]
        if claim.index is None:
            return f"cannot determine the index of the pod in task {task} of {self._job(claim)}"
        return f"{self._job(claim)} has no pod {claim.index} of task {task} yet"

    def _landed(self, key: tuple[str, str, str], flight: asyncio.Task[Read | Later | None]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # else asyncio logs an unretrieved exception

    def _absent(self, namespace: str, claim: Claim) -> Verdict:
        """Return the verdict on a claim to a job that is not there. An owner's uid is never given to another job."""
        if not claim.owned:
            return Unknown()
        self._forged.add(namespace, claim.job, claim.uid)
        return self._refused(claim)

    def _refused(self, claim: Claim) -> Refused:
        return Refused(f"no {self._job(claim)} with this uid exists in the namespace")

    def _unusable(self, job: Unreadable | TooLarge, claim: Claim) -> Refused:
        if isinstance(job, TooLarge):
            why = "is too large for plugins: use fewer tasks with more replicas each, or remove plugins"
            return Refused(f"{self._job(claim)} {why}")
        return Refused(f"jobgate cannot read {self._job(claim)}; see its log")

    def _job(self, claim: Claim) -> str:
        return f"{self._kind} {claim.job[:253]}"


def _judged(crew: Crew, claim: Claim) -> Verdict | None:
    """Return what a job says to a claim, or None where it may not be known as it is by now."""
    if _is_another(crew, claim):
        return None
    if claim.facts.get(RUN_LABEL, "") != crew.facts.get(RUN_LABEL, ""):
        return None  # the runner has taken the job over since
    if not crew.asks:
        return Unasked()
    part = crew.part(claim.task)
    if part is None or claim.index is None or claim.index >= part.replicas:
        return None
    if any(key not in crew.facts for key in claim.facts):
        return None
    return Found(Member(crew, part, claim.index))


def _is_another(job: Read, claim: Claim) -> bool:
    """Return whether a job is another one of the same name."""
    if claim.uid and job.uid != claim.uid:
        return True
    return isinstance(job, Crew) and any(job.facts.get(key, value) != value for key, value in claim.facts.items())
