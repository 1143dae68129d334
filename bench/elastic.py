"""Jobs that scale themselves beside jobs of a fixed size: 200 jobs in three queues, for an hour of simulated time.

    python -m bench.elastic --write

The same jobs run with a fixed size and elastic. The decisions are those of the runner (`queues.admission`,
`elastic.decision`); pods start after 20 seconds, and a step stops the work of a job for 30 seconds, as torchrun starts
all processes again. Nothing is timed, so the result is the same on every machine. `--write` puts the table into
docs/explanation/elasticity.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from statistics import fmean, quantiles

from bench.page import piped, renew
from jobgate.runner.elastic.decision import ElasticJob, Span, decide
from jobgate.runner.queues.admission import Entry, Memory, Queue, Queues, admit, pool_keys

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "elasticity.md"
START = datetime(2026, 1, 1, tzinfo=UTC)
#: Seconds: of the simulation, between two looks, until pods have started, and for which a step stops the work.
HOUR, TICK, STARTS, PAUSE = 3600, 5, 20, 30
#: GPUs of each queue, and of all.
QUOTAS = {"research": 96, "production": 64, "students": 40}
WHOLE = 160
JOBS = 200


@dataclass
class Job:
    """A job of GPUs: its size if it is fixed, its bounds, and the seconds of work that one GPU has with it."""

    key: str
    queue: str
    size: int
    low: int
    high: int
    work: float
    created: datetime
    priority: int
    begun: datetime | None = None
    ended: datetime | None = None
    given: int = 0
    since: datetime = START


def jobs(seed: int) -> list[Job]:
    """Return the jobs of a run, in the order in which they come. Three of four are elastic."""
    random, jobs = Random(seed), list[Job]()
    for number in range(JOBS):
        size = random.choice([1, 2, 2, 4, 4, 8])
        low, high = (max(size // 2, 1), 2 * size) if random.random() < 0.75 else (size, size)
        queue = random.choices([*QUOTAS], [5, 3, 2])[0]
        created = START + timedelta(seconds=random.uniform(0, HOUR * 0.7))
        work = size * random.uniform(120, 1000)
        jobs.append(Job(f"j{number}", queue, size, low, high, work, created, random.choice([0, 0, 1])))
    return sorted(jobs, key=lambda job: job.created)


def amounts(gpus: int) -> dict[str, Decimal]:
    """Return a number of GPUs as resources."""
    return {"requests.nvidia.com/gpu": Decimal(gpus)}


@dataclass(frozen=True)
class Result:
    """What came of a run: used GPUs and jobs done in the hour, and the seconds until jobs began, and had ended."""

    used: float
    done: int
    waits: list[float]
    took: list[float]
    steps: int


def simulated(seed: int, *, elastic: bool) -> Result:
    """Run the jobs until all have ended; GPUs count for an hour."""
    queues = Queues({name: Queue(quota=amounts(quota)) for name, quota in QUOTAS.items()}, quota=amounts(WHOLE))
    waiting = jobs(seed) if elastic else [replace(job, low=job.size, high=job.size) for job in jobs(seed)]
    every, now, memory, used, steps = list(waiting), START, Memory(), 0.0, 0
    while any(job.ended is None for job in every):
        live = [job for job in every if job.ended is None and job.created <= now]
        entries = [_entry(job) for job in live]
        admission = admit(queues, entries, {}, memory, now)
        memory = admission.memory
        running = [(job, entry) for job, entry in zip(live, entries, strict=True) if job.begun and job.low < job.high]
        decided = decide([_elastic(job, entry, now) for job, entry in running], admission.pools, now)
        for job in live:
            if job.key in admission.released:
                job.begun, job.given, job.since = now, job.low, now
            elif job.key in decided:
                job.given, job.since, steps = decided[job.key].sizes[""], now, steps + 1
        total = sum(job.given for job in live)
        assert total <= WHOLE
        used += total * TICK if now < START + timedelta(seconds=HOUR) else 0
        now += timedelta(seconds=TICK)
        for job in live:
            if job.begun and (now - job.since).total_seconds() > (STARTS if job.since == job.begun else PAUSE):
                job.work -= job.given * TICK
                if job.work <= 0:
                    job.ended, job.given = now, 0
    end = START + timedelta(seconds=HOUR)
    waits = [(job.begun - job.created).total_seconds() for job in every if job.begun]
    took = [(job.ended - job.created).total_seconds() for job in every if job.ended]
    return Result(
        used / WHOLE / HOUR, sum(job.ended is not None and job.ended <= end for job in every), waits, took, steps
    )


def _entry(job: Job) -> Entry:
    asked = job.given if job.begun else job.low
    return Entry(job.key, job.queue, "lab", amounts(asked), job.created, job.priority, admitted=job.begun is not None)


def _elastic(job: Job, entry: Entry, now: datetime) -> ElasticJob:
    span = Span("", amounts(1), job.given, job.low, job.high)
    ready = (now - job.since).total_seconds() >= STARTS
    return ElasticJob(job.key, [span], job.since, ready, pool_keys(entry), priority=job.priority)


def table(seeds: range) -> str:
    """Return the means over runs of these seeds as a table."""
    rows = [["", "fixed size", "elastic"]]
    results = [[simulated(seed, elastic=elastic) for seed in seeds] for elastic in (False, True)]
    figures: list[tuple[str, Callable[[list[Result]], str]]] = [
        (
            "GPUs in use, of those of all queues, in the hour",
            lambda each: f"{fmean(result.used for result in each):.0%}",
        ),
        (f"jobs done in the hour, of {JOBS}", lambda each: f"{fmean(result.done for result in each):.0f}"),
        ("until a job began: mean", lambda each: f"{fmean(fmean(result.waits) for result in each):.0f} s"),
        (
            "until a job began: 95 of 100",
            lambda each: f"{fmean(quantiles(result.waits, n=20)[18] for result in each):.0f} s",
        ),
        (
            "until a job began: the longest of all runs",
            lambda each: f"{max(max(result.waits) for result in each):.0f} s",
        ),
        ("from its creation to its end: mean", lambda each: f"{fmean(fmean(result.took) for result in each):.0f} s"),
        ("steps of all jobs", lambda each: f"{fmean(result.steps for result in each):.0f}"),
    ]
    return piped([*rows, *([title, *(figure(each) for each in results)] for title, figure in figures)])


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs, each with other jobs")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    text = table(range(options.runs))
    print(text)
    if options.write:
        renew("elastic", text, PAGE)


if __name__ == "__main__":
    main()
