"""Which elastic jobs grow or shrink. A function of what is stored and observed: every runner decides the same."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from jobgate.runner.queues.admission import HOLD, Amounts, Pool, PoolKey, shown, sum_of

if TYPE_CHECKING:
    from jobgate.runner.placement import Places

#: Seconds after which a job may shrink although pods of its last step have not started.
START_LIMIT: Final = 300

_NOTHING: Final = Decimal(0)
#: By pool and resource, what is free; less than nothing if that is lacking.
_Free: TypeAlias = Mapping[PoolKey, dict[str, Decimal]]


@dataclass(frozen=True, slots=True)
class Step:
    """The sizes of a job's elastic tasks after a decision, with the reason for a change; empty if there is none."""

    sizes: Mapping[str, int]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """An elastic task.

    Attributes:
        name: name of the task.
        pod: what one of its pods asks for.
        size: number of pods that it was given.
        low: its minimum.
        wanted: number of pods that the job wants, within its bounds.
    """

    name: str
    pod: Amounts
    size: int
    low: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ElasticJob:
    """A job that runs, and may be resized.

    Attributes:
        key: unique among all.
        tasks: its elastic tasks.
        pools: pools that it draws on.
        since: time of its last step.
        ready: whether all pods of that step have started.
        leaving: what is counted of pods that were taken from it and may still be there.
        priority: jobs of a lower priority shrink first, of a higher one grow first.
        preemptible: whether it shrinks before all that are not.
        arrival: orders jobs that are equal otherwise; of these the lower grows first, and shrinks last.
    """

    key: str
    tasks: Sequence[Span]
    since: datetime
    ready: bool
    pools: Sequence[PoolKey] = ()
    leaving: Amounts = field(default_factory=dict)
    priority: int = 0
    preemptible: bool = False
    arrival: int = 0

    @property
    def size(self) -> int:
        """The number of pods that it was given."""
        return sum(task.size for task in self.tasks)

    def growth(self, step: Step) -> Amounts:
        """Return what the job asks for more after a step."""
        return sum_of((task.pod, max(step.sizes[task.name] - task.size, 0)) for task in self.tasks)


def decide(
    jobs: Sequence[ElasticJob],
    pools: Mapping[PoolKey, Pool],
    now: datetime,
    hold: float = HOLD,
    places: Places | None = None,
) -> dict[str, Step]:
    """Return the steps of the jobs that change their size. `places` is the room of nodes; None if it does not count.

    What jobs that wait lack, they get from those that have more than their minimum, if these have enough together.
    What is left then is for growth: a job grows at most to twice its size in a step.
    """
    ages = {job.key: (now - job.since).total_seconds() for job in jobs}
    rests = {key for key, age in ages.items() if age < hold}
    round_ = _Round(
        sizes={job.key: {task.name: task.size for task in job.tasks} for job in jobs},
        fixed=rests | {job.key for job in jobs if not job.ready and ages[job.key] < START_LIMIT},
    )
    free = {key: dict(pool.free) for key, pool in pools.items()}
    for job in jobs:
        if job.key in rests:
            _give(free, job, job.leaving, 1)
        elif job.key not in round_.fixed:
            for task in job.tasks:
                if task.wanted < task.size:
                    round_.take(free, job, task, task.size - task.wanted, "the job asks for fewer pods")
    members = defaultdict[PoolKey, list[ElasticJob]](list)
    for job in jobs:
        for key in job.pools:
            members[key].append(job)
    for key, pool in pools.items():
        round_.shrink(key, pool, free, members[key])
    if places is not None:
        round_.vacate(free, jobs, places)
    able = [job for job in jobs if job.ready and job.key not in round_.fixed and job.key not in round_.why]
    round_.grow({key: dict(pool.free) for key, pool in pools.items()}, able, pools, places)
    return {job.key: Step(round_.sizes[job.key], round_.why[job.key]) for job in jobs if job.key in round_.why}


@dataclass(slots=True)
class _Round:
    """One decision, while it is made.

    Attributes:
        sizes: by job and task, the number of pods.
        fixed: jobs that cannot change now.
        why: by job that changes, the reason.
    """

    sizes: dict[str, dict[str, int]]
    fixed: set[str]
    why: dict[str, str] = field(default_factory=dict)

    def take(self, free: _Free, job: ElasticJob, task: Span, count: int, why: str) -> None:
        """Take pods from a task."""
        self.sizes[job.key][task.name] -= count
        self.why.setdefault(job.key, why)
        _give(free, job, task.pod, count)

    def shrink(self, key: PoolKey, pool: Pool, free: _Free, jobs: Sequence[ElasticJob]) -> None:
        """Take from jobs what a pool lacks. A job whose turn it is and that is fixed gives its part later."""
        order = _by_turn(jobs)
        for name in pool.free:
            lacking = -free[key][name]
            spare = sum(
                (self.sizes[job.key][task.name] - task.low) * task.pod.get(name, _NOTHING)
                for job in jobs
                for task in job.tasks
            )
            promised = pool.promised.get(name, _NOTHING)
            if lacking > spare:
                # To shrink for a job that must wait for others in any case would only leave room unused.
                lacking, promised = lacking - promised, _NOTHING
            why = f"{pool.called} has {shown(pool.capacity[name])} of {name}, and its jobs have more"
            if promised:
                why = f"{pool.called} lacks {shown(max(lacking, _NOTHING))} of {name} for a job that waits"
            for job, task in order:
                asks = task.pod.get(name, _NOTHING)
                if lacking <= 0 or not asks:
                    continue
                needed = int((lacking / asks).to_integral_value(ROUND_CEILING))
                count = min(self.sizes[job.key][task.name] - task.low, needed)
                lacking -= count * asks
                if count > 0 and job.key not in self.fixed:
                    self.take(free, job, task, count, why)

    def vacate(self, free: _Free, jobs: Sequence[ElasticJob], places: Places) -> None:
        """Take pods from nodes that pods of other jobs need. A job that is fixed gives its part later."""
        order = _by_turn(jobs)
        keys = {(job.key, task.name): (job, task) for job, task in order}
        for (key, name), (_, task) in keys.items():
            pods = places.extra.get((key, name), [])
            while len(pods) > self.sizes[key][name] - task.low:
                places.leave(*pods.pop())
        for shapes in places.waiting:
            for victim, count in places.make_room(shapes, keys).items():
                if victim[0] not in self.fixed:
                    self.take(free, *keys[victim], count, "no node has room for pods of a job that waits")
        places.settle()

    def grow(
        self,
        free: _Free,
        jobs: Iterable[ElasticJob],
        pools: Mapping[PoolKey, Pool],
        places: Places | None,
    ) -> None:
        """Give room to jobs, pod by pod: to the higher priority first, then to the smaller job."""
        heap = [(-job.priority, job.size, job.arrival, job.key, job) for job in jobs]
        heapq.heapify(heap)
        while heap:
            priority, size, arrival, key, job = heapq.heappop(heap)
            for task in job.tasks:
                fits = self.sizes[key][task.name] < task.wanted and _fits(free, job, task.pod)
                if fits and (places is None or places.grow(key, task.name)):
                    self.sizes[key][task.name] += 1
                    queues = [pools[pool].called for pool in job.pools if pool in pools and pool[0] == "queue"]
                    self.why[key] = f"{queues[0] if queues else 'the cluster'} has room"
                    _give(free, job, task.pod, -1)
                    if size + 1 < 2 * job.size:
                        heapq.heappush(heap, (priority, size + 1, arrival, key, job))
                    break


def _by_turn(jobs: Iterable[ElasticJob]) -> list[tuple[ElasticJob, Span]]:
    """Return elastic tasks, the first that shrinks in front."""
    order = sorted(jobs, key=lambda job: (not job.preemptible, job.priority, -job.size, -job.arrival, job.key))
    return [(job, task) for job in order for task in reversed(job.tasks)]


def _give(free: _Free, job: ElasticJob, amounts: Amounts, times: int) -> None:
    for pool in (free[key] for key in job.pools if key in free):
        for name in pool:
            pool[name] += amounts.get(name, _NOTHING) * times


def _fits(free: _Free, job: ElasticJob, amounts: Amounts) -> bool:
    pools = (free[key] for key in job.pools if key in free)
    return all(not amounts.get(name) or amounts[name] <= left for pool in pools for name, left in pool.items())
