"""Random histories on nodes: elastic jobs beside others, whose pods a simple scheduler places on nodes with selectors.

`python -m tests.runner.elastic.node_histories 5000` tries more histories than the tests do.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from jobgate.runner.elastic.decision import START_LIMIT, ElasticJob, Span, Step, decide
from jobgate.runner.nodes import Nodes
from tests.runner.elastic.histories import HOLD, START, TICK, main
from tests.runner.elastic.test_node_room import FULL, batch, demand, member
from tests.runner.test_nodes import asks, filled, node


@dataclass
class Pod:
    """A pod: its name and index, its node, and when it is gone and was bound."""

    name: str
    index: int
    node: str = ""
    why: str = ""
    gone: datetime | None = None
    bound: datetime | None = None


@dataclass
class Job:
    """A job: one that is not elastic has equal bounds."""

    key: str
    low: int
    high: int
    cpus: int
    zone: str
    priority: int
    preemptible: bool
    number: int
    ends: datetime
    grace: int
    size: int = 0
    since: datetime = START
    pods: list[Pod] = field(default_factory=list)
    #: The directions of its steps since the last change from outside.
    turns: list[str] = field(default_factory=list)

    @property
    def spec(self) -> Any:
        """The spec of its pods."""
        return asks(str(self.cpus), **({"nodeSelector": {"zone": self.zone}} if self.zone else {}))

    @property
    def live(self) -> list[Pod]:
        """Its pods, without those that leave."""
        return [pod for pod in self.pods if pod.gone is None]

    def waits(self) -> bool:
        """Whether pods that it needs have no node."""
        return len([pod for pod in self.live if pod.node and pod.index < self.low]) < self.low


class History:
    """Nodes and jobs without a cluster: what was reported of pods is all that a decision knows."""

    def __init__(self, seed: int) -> None:
        """Begin without jobs."""
        self.random = Random(seed)
        self.now, self.quiet = START, self.random.choice([12, 12, 60])
        zones = ["x", "y"] if self.random.random() < 0.7 else [""]
        self.nodes = {
            f"n{number}": (self.random.randint(2, 8), self.random.choice(zones))
            for number in range(self.random.randint(1, 5))
        }
        self.jobs: list[Job] = []
        self.count = 0
        self.known = Nodes()
        self.reported: dict[str, Any] = {}
        self.steps: Counter[str] = Counter()
        self.reachable_since: dict[str, datetime] = {}

    def documents(self) -> list[Any]:
        """The nodes as objects."""
        return [
            node(name, str(cpus), labels={"zone": zone} if zone else {}) for name, (cpus, zone) in self.nodes.items()
        ]

    def free(self) -> dict[str, int]:
        """The CPUs that nodes have left now."""
        free = {name: cpus for name, (cpus, _) in self.nodes.items()}
        for job in self.jobs:
            for pod in job.pods:
                if pod.node:
                    free[pod.node] -= job.cpus
        return free

    def open_to(self, job: Job) -> list[str]:
        """The nodes that take pods of a job."""
        return [name for name, (_, zone) in self.nodes.items() if job.zone in {"", zone}]

    def happen(self) -> None:
        """Let jobs come and go."""
        random = self.random
        gone = {job.key for job in self.jobs if job.ends <= self.now}
        for _ in range(random.choice([0] * self.quiet + [1, 2])):
            self.count += 1
            low = random.randint(1, 4)
            self.jobs.append(
                Job(
                    f"j{self.count}",
                    low,
                    low + random.choice([0, 0, 1, 3, 8]),
                    random.choice([1, 1, 1, 2, 4]),
                    random.choice(["", "", "x", "y"]),
                    random.randint(0, 2),
                    random.random() < 0.3,
                    self.count,
                    self.now + timedelta(seconds=TICK * random.randint(5, 10 * self.quiet)),
                    random.choice([0, 10, 40, 200]),
                    size=low,
                    since=self.now,
                )
            )
            gone.add("")
        self.jobs = [job for job in self.jobs if job.key not in gone]
        for job in self.jobs if gone else []:
            job.turns.clear()

    def run(self) -> None:
        """Create and delete pods as sizes say, and schedule: urgent jobs first, on any node with room."""
        for job in self.jobs:
            job.pods = [pod for pod in job.pods if pod.gone is None or pod.gone > self.now]
            for pod in job.live:
                if pod.index >= job.size:
                    pod.gone = self.now + timedelta(seconds=job.grace if pod.node else 0)
            indexes = {pod.index for pod in job.live}
            for index in (index for index in range(job.size) if index not in indexes):
                self.count += 1
                job.pods.append(Pod(f"p{self.count}", index))
        free = self.free()
        for job in sorted(self.jobs, key=lambda job: (-job.priority, job.number)):
            for pod in (pod for pod in sorted(job.live, key=lambda pod: pod.index) if not pod.node):
                fitting = [name for name in self.open_to(job) if free[name] >= job.cpus]
                if fitting:
                    pod.node, pod.bound = self.random.choice(fitting), self.now
                    free[pod.node] -= job.cpus
                else:
                    pod.why = FULL
        assert min(free.values()) >= 0

    async def report(self) -> None:
        """Report to the caches of nodes what has changed of pods."""
        seen = {pod.name: self.document(job, pod) for job in self.jobs for pod in job.pods}
        for key in self.reported.keys() | seen.keys():
            if seen.get(key) != self.reported.get(key):
                change = "DELETED" if key not in seen else "MODIFIED"
                await self.known.pods._take(change, seen.get(key) or self.reported[key])
        self.reported = seen

    def document(self, job: Job, pod: Pod) -> Any:
        """A pod as an object."""
        document = member(job.key, pod.index, pod.node, pod.why, job.spec)
        document["metadata"] |= {"name": pod.name, "resourceVersion": "1"}
        if pod.gone:
            document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        return document

    def has_started(self, job: Job) -> bool:
        """Whether all pods of its last step have started."""
        starts = [pod.bound for pod in job.live if pod.bound and pod.bound + timedelta(seconds=TICK) < self.now]
        return len(starts) == job.size

    def decided(self, known: Nodes, elastic: list[ElasticJob]) -> dict[str, Step]:
        """The decision as the runner comes to it."""
        order = sorted(self.jobs, key=lambda job: (-job.priority, job.number))
        listed = [(job.key, demand(job.size, job.spec), [batch(job.key)]) for job in order]
        return decide(elastic, {}, self.now, HOLD, known.places(listed, elastic))

    async def look(self) -> None:
        """Decide once as the runner does, and as another that has just begun, and carry it out."""
        await self.report()
        elastic = [
            ElasticJob(
                job.key,
                [Span("work", {}, job.size, job.low, job.high)],
                job.since,
                self.has_started(job),
                priority=job.priority,
                preemptible=job.preemptible,
                arrival=job.number,
            )
            for job in self.jobs
            if job.low < job.high
        ]
        steps = self.decided(self.known, elastic)
        if self.random.random() < 0.1:
            again = await filled(self.documents(), self.random.sample([*self.reported.values()], len(self.reported)))
            shuffled = self.random.sample(elastic, len(elastic))
            assert self.decided(again, shuffled) == steps, "another runner decides otherwise"
        self.check(steps)
        for job in self.jobs:
            if job.key in steps:
                up = steps[job.key].sizes["work"] > job.size
                self.steps["up" if up else "down"] += 1
                job.turns.append("up" if up else "down")
                assert "up,down" not in ",".join(job.turns), f"{job.key} flaps"
                job.size, job.since = steps[job.key].sizes["work"], self.now

    def check(self, steps: dict[str, Step]) -> None:
        """Check what each step must be, and that nobody waits for what others can give."""
        lacking = [job for job in self.jobs if job.waits()]
        waiting = [job for job in lacking if any(pod.why and not pod.node for pod in job.live)]
        for job in (job for job in self.jobs if job.key in steps):
            size, age = steps[job.key].sizes["work"], (self.now - job.since).total_seconds()
            assert job.low <= size <= min(job.high, 2 * job.size)
            assert age >= HOLD, f"{job.key} was resized {age} s ago"
            if size > job.size:
                assert self.has_started(job), "it grows while it starts"
                room = sum(self.free()[name] // job.cpus for name in self.open_to(job))
                assert size - job.size <= room, f"{job.key} grows beyond its nodes"
            else:
                assert self.has_started(job) or age >= START_LIMIT, "it shrinks while it starts"
                left = {pod.node for pod in job.live if pod.index >= size}
                helped = [other for other in waiting if left.intersection(self.open_to(other)) and self.fits(other)]
                assert helped, f"{job.key} shrinks for nobody"
                assert len(lacking) > 1 or not self.fits(lacking[0], spare=True), f"{job.key} shrinks again"
        for job in self.jobs:
            urgent = all((job.priority, -job.number) >= (other.priority, -other.number) for other in lacking)
            if job not in waiting or not urgent or not self.fits(job):
                self.reachable_since.pop(job.key, None)
                continue
            since = self.reachable_since.setdefault(job.key, self.now)
            # Who gives may start and rest, and its pods take their time to end.
            limit = START_LIMIT + HOLD + max(other.grace for other in self.jobs) + 5 * TICK
            assert (self.now - since).total_seconds() <= limit, f"{job.key} starves"

    def fits(self, job: Job, *, spare: bool = False) -> bool:
        """Return whether all pods that a job needs have a node once those of others beyond their minimum are gone.

        With `spare`, those of jobs stay that do not leave yet.
        """
        free = {name: cpus for name, (cpus, _) in self.nodes.items()}
        for other in self.jobs:
            for pod in other.live:
                if pod.node and (spare or pod.index < other.low):
                    free[pod.node] -= other.cpus
        bound = len([pod for pod in job.live if pod.node and pod.index < job.low])
        return sum(free[name] // job.cpus for name in self.open_to(job)) >= job.low - bound


async def play(seed: int, looks: int = 120) -> Counter[str]:
    """Play a history; return how many steps of each kind there were."""
    history = History(seed)
    history.known = await filled(history.documents(), [])
    for _ in range(looks):
        history.happen()
        history.run()
        await history.look()
        history.now += timedelta(seconds=TICK)
    return history.steps


if __name__ == "__main__":
    main(lambda seed: asyncio.run(play(seed)))
