"""Random histories of elastic and other jobs, each step checked by a second reading of what must always hold.

`python -m tests.runner.elastic.histories 20000` tries more histories than the tests do.
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from jobgate.runner.elastic.decision import START_LIMIT, ElasticJob, Span, Step, decide
from jobgate.runner.queues.admission import Amounts, Entry, Memory, Queue, Queues, admit, pool_keys

START = datetime.fromisoformat("2026-01-01T00:00:00Z")
HOLD = 60
#: Seconds between two looks.
TICK = 10


def pods(number: int) -> Amounts:
    """So many pods."""
    return {"pods": Decimal(number)}


@dataclass
class Job:
    """A job: its bounds, and what is stored of it. One that is not elastic has equal bounds."""

    key: str
    queue: str
    namespace: str
    low: int
    high: int
    priority: int
    preemptible: bool
    created: datetime
    runs_for: int
    wish: int | None = None
    size: int = 0
    since: datetime = START
    starts_at: datetime = START
    admitted: bool = False
    #: Pods that were taken from it and still end.
    leaves: list[tuple[datetime, int]] = field(default_factory=list)

    @property
    def wanted(self) -> int:
        """The size that it wants, within its bounds."""
        return self.high if self.wish is None else max(self.low, min(self.wish, self.high))

    def counted(self, now: datetime) -> int:
        """The pods that it is counted with."""
        return self.size + sum(count for until, count in self.leaves if until > now)


class History:
    """A cluster without objects: jobs come, go and wish, quotas change, and the runner is restarted."""

    def __init__(self, seed: int) -> None:
        """Begin without jobs."""
        self.random = Random(seed)
        self.quiet = self.random.choice([8, 8, 30])
        self.now = START
        self.jobs: list[Job] = []
        self.memory = Memory()
        self.quotas = {name: self.random.randint(4, 16) for name in "ab"}
        self.whole, self.space = self.random.randint(8, 24), self.random.randint(6, 24)
        self.lowered = START
        self.count = 0
        self.steps: Counter[str] = Counter()
        self.coverable: dict[str, datetime] = {}

    def queues(self) -> Queues:
        """The queues as they are now."""
        return Queues({name: Queue(quota=pods(quota)) for name, quota in self.quotas.items()}, quota=pods(self.whole))

    def happen(self) -> None:
        """Let something happen."""
        random = self.random
        for _ in range(random.choice([0] * self.quiet + [1, 2])):
            self.count += 1
            low = random.randint(1, 4)
            self.jobs.append(
                Job(
                    f"j{self.count}",
                    random.choice("ab"),
                    random.choice(["lab", "hall"]),
                    low,
                    low + random.choice([0, 0, 1, 3, 8]),
                    random.randint(0, 2),
                    random.random() < 0.3,
                    self.now,
                    random.randint(3, 4 * self.quiet) * TICK,
                )
            )
        for job in list(self.jobs):
            if job.admitted and self.now >= job.starts_at + timedelta(seconds=job.runs_for):
                self.jobs.remove(job)
            elif random.random() < 0.05:
                job.wish = random.choice([None, 0, 2, 99])
        if random.random() < 0.03:
            name = random.choice("ab")
            before, self.quotas[name] = self.quotas[name], random.randint(2, 16)
            self.lowered = self.now if self.quotas[name] < before else self.lowered
        if random.random() < 0.1:
            self.memory = Memory()  # another runner leads

    def look(self) -> None:
        """Decide once as the runner does, twice to compare, and carry it out."""
        entries = [
            Entry(
                job.key,
                job.queue,
                job.namespace,
                pods(job.counted(self.now) if job.admitted else job.low),
                job.created,
                job.priority,
                admitted=job.admitted,
            )
            for job in self.jobs
        ]
        admission = admit(self.queues(), entries, {"lab": pods(self.space)}, self.memory, self.now)
        self.memory = admission.memory
        elastic = [
            ElasticJob(
                job.key,
                [Span("work", pods(1), job.size, job.low, job.wanted)],
                job.since,
                self.now >= job.starts_at,
                pool_keys(entry),
                pods(job.counted(self.now) - job.size),
                job.priority,
                job.preemptible,
            )
            for job, entry in zip(self.jobs, entries, strict=True)
            if job.admitted and job.low < job.high
        ]
        steps = decide(elastic, admission.pools, self.now, HOLD)
        shuffled = self.random.sample(elastic, len(elastic))
        assert decide(shuffled, admission.pools, self.now, HOLD) == steps, "another order, another decision"
        self.check(steps, set(admission.waits))
        for job in self.jobs:
            if job.key in admission.released:
                job.admitted, job.since = True, self.now
                self.resize(job, job.low)
            elif job.key in steps:
                self.steps["up" if steps[job.key].sizes["work"] > job.size else "down"] += 1
                job.since = self.now
                self.resize(job, steps[job.key].sizes["work"])
        self.within_quotas()

    def resize(self, job: Job, size: int) -> None:
        """Give a job another size: pods take a while to start, and to end."""
        if size < job.size:
            job.leaves.append((self.now + timedelta(seconds=self.random.choice([0, 10, 40])), job.size - size))
        else:
            job.starts_at = self.now + timedelta(seconds=self.random.choice([0, 5, 30, 90, 900]))
        job.size = size

    def check(self, steps: dict[str, Step], waits: set[str]) -> None:
        """Check what each step must be."""
        by_key = {job.key: job for job in self.jobs}
        for key, step in steps.items():
            job, size = by_key[key], step.sizes["work"]
            age = (self.now - job.since).total_seconds()
            assert job.low <= size <= job.high
            assert age >= HOLD, f"{key} was resized {age} s ago"
            assert size != job.size
            if size > job.size:
                assert self.now >= job.starts_at, "it grows while it starts"
                assert size <= min(2 * job.size, job.wanted)
            else:
                assert self.now >= job.starts_at or age >= START_LIMIT, "it shrinks while it starts"
                wished = job.wish is not None and job.wanted < job.size
                assert wished or waits or self.over(), "it shrinks for nobody"
                self.check_order(job, steps, by_key, wished=wished)
        for job in self.jobs:
            self.check_waiting(job, waits)

    def check_order(self, job: Job, steps: dict[str, Step], by_key: dict[str, Job], *, wished: bool) -> None:
        """Check that nobody who should shrink before a job keeps what it could give to the same queue."""
        for other in by_key.values():
            first = (not other.preemptible, other.priority) < (not job.preemptible, job.priority)
            after = steps[other.key].sizes["work"] if other.key in steps else other.size
            rests = (self.now - other.since).total_seconds() < HOLD or self.now < other.starts_at
            same = (other.queue, other.namespace) == (job.queue, job.namespace)
            if not wished and first and same and other.admitted and other.low < other.high:
                assert after == other.low or rests, f"{job.key} shrinks before {other.key}"

    def check_waiting(self, job: Job, waits: set[str]) -> None:
        """Check that the first job of its pools is not left waiting while others could give it what it lacks."""
        alone = not any(other.key in waits for other in self.jobs if other is not job)
        if job.key not in waits or not alone or not self.reachable(job):
            self.coverable.pop(job.key, None)
            return
        since = self.coverable.setdefault(job.key, self.now)
        # Each job that gives may rest, and its pods may start and end for a while.
        assert (self.now - since).total_seconds() <= START_LIMIT + HOLD + 5 * TICK, f"{job.key} starves"

    def reachable(self, job: Job) -> bool:
        """Return whether a job fits if all others have their minimum."""
        return all(
            sum(other.low for other in members if other.admitted and other is not job) + job.low <= quota
            for members, quota in self.pools()
            if job in members
        )

    def pools(self) -> list[tuple[list[Job], int]]:
        """The jobs of each pool, and its quota."""
        found = [(self.jobs, self.whole), ([job for job in self.jobs if job.namespace == "lab"], self.space)]
        return found + [([job for job in self.jobs if job.queue == name], quota) for name, quota in self.quotas.items()]

    def over(self) -> bool:
        """Return whether a pool has more pods than its quota."""
        return any(
            sum(job.counted(self.now) for job in members if job.admitted) > quota for members, quota in self.pools()
        )

    def within_quotas(self) -> None:
        """Check that the pods that count fit into each quota, unless it was lowered below them."""
        if self.now == self.lowered:
            self.was_over = self.over()
        self.was_over = getattr(self, "was_over", False) and self.over()
        assert self.was_over or not self.over(), "more pods than the quota has"


def play(seed: int, looks: int = 100) -> Counter[str]:
    """Play a history; return how many steps of each kind there were."""
    history = History(seed)
    for _ in range(looks):
        history.happen()
        history.look()
        history.now += timedelta(seconds=TICK)
    return history.steps


def main(play: Callable[[int], Counter[str]] = play) -> None:
    """Play as many histories as the argument says."""
    total: Counter[str] = Counter()
    for seed in range(int(sys.argv[1])):
        try:
            total += play(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    sys.stdout.write(f"{sys.argv[1]} histories, steps: {dict(total)}\n")


if __name__ == "__main__":
    main()
