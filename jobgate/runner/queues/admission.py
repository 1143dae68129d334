"""Which jobs are released to run, and why the others wait. Pure.

A job draws on three pools: what all queues share, what its queue has, and what the ResourceQuotas of its namespace
leave. It is released whole, when it fits into all three. One that does not fit at its turn claims the pools that lack
room: what it waits for is kept for it, so that smaller jobs do not overtake it for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeAlias

from jobgate.runner.queues.selectors import SELECTORS, SelectorName, SelectorState

#: By resource, as a ResourceQuota names it in full: `pods`, `requests.cpu`, `limits.memory`.
Amounts: TypeAlias = Mapping[str, Decimal]
#: A pool of resources: what shares it, and its name.
PoolKey: TypeAlias = tuple[str, str]
#: Jobs of one queue and one namespace wait in one line.
Line: TypeAlias = tuple[str, str]

#: The queue of jobs that name none and whose namespace has none.
DEFAULT: Final = "default"
#: Seconds after which a job goes before all that came later, whatever their priority.
MAX_WAIT: Final = 3600
#: Seconds between two steps of an elastic job.
HOLD: Final = 60

_NOTHING: Final = Decimal(0)
#: The pool of all queues.
_ALL: Final[PoolKey] = ("all", "")


class Order(StrEnum):
    """Who is next in a queue."""

    PRIORITY = "priority"
    FIFO = "fifo"


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue.

    Attributes:
        weight: its share of the turns.
        quota: the most that its jobs may use together; of a resource that is not named there is no limit.
        order: who is next.
        max_wait: seconds after which a job goes before all that came later.
        elastic: whether its jobs with bounds are scaled, unless they refuse.
        notify: address that the end of its jobs is reported to; empty for that of the installation.
    """

    weight: int = 1
    quota: Amounts = field(default_factory=dict)
    order: Order = Order.PRIORITY
    max_wait: float = MAX_WAIT
    elastic: bool = False
    notify: str = ""


@dataclass(frozen=True, slots=True)
class Queues:
    """All queues.

    Attributes:
        queues: by name, in their order.
        selector: whose turn it is.
        quota: the most that the jobs of all queues may use together.
        hold: seconds between two steps of an elastic job.
    """

    queues: Mapping[str, Queue] = field(default_factory=lambda: {DEFAULT: Queue()})
    selector: SelectorName = SelectorName.SMOOTH_WRR
    quota: Amounts = field(default_factory=dict)
    hold: float = HOLD


@dataclass(frozen=True, slots=True)
class Entry:
    """A job that runs or wants to.

    Attributes:
        key: unique among all.
        queue: that it is in.
        namespace: that it is in.
        demand: what all its pods ask for.
        since: when it was made, or began to ask for more than it has.
        priority: the higher goes first.
        arrival: orders entries of the same time, which has a resolution of a second; the lower goes first.
        admitted: whether it was released, for all that it asks for.
        has: what it was released for, if that is less; it waits for the rest.
    """

    key: str
    queue: str
    namespace: str
    demand: Amounts
    since: datetime
    priority: int = 0
    arrival: int = 0
    admitted: bool = False
    has: Amounts = field(default_factory=dict)

    @property
    def more(self) -> Amounts:
        """What it waits for."""
        return {name: amount - self.has.get(name, _NOTHING) for name, amount in self.demand.items()}


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered from decision to decision. A runner that begins without it is as fair from then on.

    Attributes:
        turns: of the queues.
        claims: lines whose first job was chosen and did not fit, the first that was chosen first.
    """

    turns: SelectorState = field(default_factory=SelectorState)
    claims: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Admission:
    """What was decided.

    Attributes:
        released: the keys of jobs that may run now, in order.
        waits: by key, why the others wait.
        memory: for the next decision.
        pools: what is left.
    """

    released: tuple[str, ...]
    waits: Mapping[str, str]
    memory: Memory
    pools: Mapping[PoolKey, Pool] = field(default_factory=dict)


@dataclass(slots=True)
class Pool:
    """Resources that jobs share.

    Attributes:
        called: the name for messages.
        capacity: the resources for jobs.
        free: the part that is neither used nor claimed; less than nothing if that is lacking.
        claimed: whether a job waits for room in it, or waits behind a job that does.
        promised: what jobs that wait have claimed.
    """

    called: str
    capacity: Amounts
    free: dict[str, Decimal]
    claimed: bool = False
    promised: dict[str, Decimal] = field(default_factory=dict)

    def take(self, demand: Amounts) -> None:
        """Count what a job uses, or claims."""
        for name in self.free:
            self.free[name] -= demand.get(name, _NOTHING)

    def promise(self, demand: Amounts) -> None:
        """Keep what a job waits for."""
        self.take(demand)
        for name in self.free:
            self.promised[name] = self.promised.get(name, _NOTHING) + demand.get(name, _NOTHING)

    def lacks(self, demand: Amounts) -> bool:
        """Return whether a demand does not fit."""
        return any(demand.get(name, _NOTHING) > max(free, _NOTHING) for name, free in self.free.items())

    def too_small(self, demand: Amounts) -> str:
        """Return why a job never fits; empty if it would fit alone."""
        for name, most in self.capacity.items():
            if demand.get(name, _NOTHING) > max(most, _NOTHING):
                return f"{self.called} has {shown(most)} of {name}, and the job asks for {shown(demand[name])}"
        return ""

    def full(self, job: Entry) -> str:
        """Return why a job does not fit now: each resource that is short."""
        more, free = job.more, {name: max(amount, _NOTHING) for name, amount in self.free.items()}
        return "; ".join(
            f"{self.called} has {shown(self.capacity[name])} of {name}, the job asks for {shown(job.demand[name])}, "
            f"and the jobs before it leave {shown(amount)}"
            for name, amount in free.items()
            if more.get(name, _NOTHING) > amount
        )


def admit(
    queues: Queues, entries: Iterable[Entry], namespaces: Mapping[str, Amounts], memory: Memory, now: datetime
) -> Admission:
    """Decide which jobs are released, of all that run or want to.

    `namespaces` is what the ResourceQuotas of a namespace leave to these jobs, those that run included.
    """
    jobs = list(entries)
    decision = _Round(_pools(queues, namespaces))
    for job in jobs:
        decision.take(job, job.demand if job.admitted else job.has)
    waits: dict[str, str] = {}
    for job in sorted((job for job in jobs if not job.admitted), key=lambda job: rank(queues, job, now)):
        if job.queue not in queues.queues:
            waits[job.key] = f"there is no queue {job.queue}; the queues are: {', '.join(queues.queues)}"
        elif why := next(filter(None, (pool.too_small(job.demand) for pool in decision.pools_of(job))), ""):
            waits[job.key] = why
        else:
            decision.lines.setdefault((job.queue, job.namespace), []).append(job)
    turns = decision.run(queues, memory, now)
    first = {waiting[0].key: decision.blocked[line] for line, waiting in decision.lines.items() if waiting}
    before = Counter[str]()
    for job in sorted(
        (job for line in decision.lines.values() for job in line), key=lambda job: rank(queues, job, now)
    ):
        place = _place(before[job.queue], job.queue)
        waits[job.key] = "; ".join(filter(None, (first.get(job.key), place)))
        before[job.queue] += 1
    return Admission(tuple(decision.released), waits, Memory(turns, tuple(decision.claims)), decision.pools)


@dataclass(slots=True)
class _Round:
    """One decision, while it is made: jobs are taken out of their lines as long as any fits.

    Attributes:
        pools: what jobs use together (`_pools`).
        lines: jobs that wait, the first in front.
        released: the keys of jobs that were taken out.
        claims: lines whose first job claims room.
        blocked: why the first job of a line does not fit.
    """

    pools: Mapping[PoolKey, Pool]
    lines: dict[Line, list[Entry]] = field(default_factory=dict)
    released: list[str] = field(default_factory=list)
    claims: list[Line] = field(default_factory=list)
    blocked: dict[Line, str] = field(default_factory=dict)

    def pools_of(self, job: Entry) -> list[Pool]:
        """Return the pools that a job draws on."""
        return [self.pools[key] for key in pool_keys(job) if key in self.pools]

    def take(self, job: Entry, amounts: Amounts) -> None:
        """Count what a job uses in all of its pools."""
        for pool in self.pools_of(job):
            pool.take(amounts)

    def serve(self, line: Line) -> bool:
        """Release the first job of a line, or let it claim what it lacks; return whether either was done."""
        job = self.lines[line][0]
        lacking = [pool for pool in self.pools_of(job) if pool.lacks(job.more)]
        if not lacking:
            self.take(job, job.more)
            self.released.append(self.lines[line].pop(0).key)
            return True
        self.blocked[line] = "; ".join(pool.full(job) for pool in lacking)
        contested = any(pool.claimed for pool in lacking)
        for pool in lacking:
            pool.claimed = True  # by this job, or for it: nobody who comes later claims what it waits for
        if contested:
            return False
        for pool in self.pools_of(job):
            pool.promise(job.more)
        self.claims.append(line)
        return True

    def run(self, queues: Queues, memory: Memory, now: datetime) -> SelectorState:
        """Serve those who claimed room before, then queue after queue; return the turns."""
        for line in memory.claims:
            if self.lines.get(line):
                self.serve(line)
        weights = {name: queue.weight for name, queue in queues.queues.items()}
        select, turns = SELECTORS[queues.selector], memory.turns
        kept: SelectorState | None = None  # at who could not even claim: it is next in the next round
        while True:
            heads: dict[str, Line] = {}
            ready = [line for line, waiting in self.lines.items() if waiting and line not in self.blocked]
            for line in sorted(ready, key=lambda line: rank(queues, self.lines[line][0], now)):
                heads.setdefault(line[0], line)
            chosen, after = select(weights, heads.keys(), turns)
            if chosen is None:
                return turns if kept is None else kept
            if not self.serve(heads[chosen]):
                kept = kept or turns
            turns = after


def pool_keys(job: Entry) -> tuple[PoolKey, ...]:
    """Return the pools that a job draws on, if they exist."""
    return _ALL, ("queue", job.queue), ("namespace", job.namespace)


def _pools(queues: Queues, namespaces: Mapping[str, Amounts]) -> dict[PoolKey, Pool]:
    """Return the pools by what shares them and its name."""
    pools = {_ALL: _pool("the quota of all queues", queues.quota)}
    pools |= {("queue", name): _pool(f"queue {name}", queue.quota) for name, queue in queues.queues.items()}
    whose = "the ResourceQuota of namespace {}, without what others use,"
    return pools | {("namespace", name): _pool(whose.format(name), quota) for name, quota in namespaces.items()}


def _pool(called: str, capacity: Amounts) -> Pool:
    return Pool(called, capacity, dict(capacity))


def rank(queues: Queues, job: Entry, now: datetime) -> tuple[bool, int, datetime, int, str]:
    """Return the place of a job in its queue; the least is the first.

    Priorities alone would let a job wait for ever while others of a higher one keep coming.
    """
    queue = queues.queues.get(job.queue, Queue())
    plain = queue.order is Order.FIFO or (now - job.since).total_seconds() > queue.max_wait
    overdue = plain and queue.order is not Order.FIFO
    return not overdue, 0 if plain else -job.priority, job.since, job.arrival, job.key


def _place(before: int, queue: str) -> str:
    """Return how many jobs are before one in its queue, less exactly for more: each change is written to the job."""
    step = 10 ** (len(str(before)) - 1)
    count = f"{before}" if step == 1 else f"at least {before // step * step}"
    return f"{count} other job{'s are' if before > 1 else ' is'} before it in queue {queue}" if before else ""


def sum_of(parts: Iterable[tuple[Amounts, int]]) -> Amounts:
    """Return the sum of requests, each with its number of pods."""
    total: dict[str, Decimal] = {}
    for amounts, times in parts:
        for name, amount in amounts.items():
            total[name] = total.get(name, Decimal(0)) + amount * times
    return total


def shown(amount: Decimal) -> str:
    """Return an amount for a message."""
    return f"{amount.normalize():f}" if amount else "0"
