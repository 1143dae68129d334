"""The worker of a controller, and its queue."""

import asyncio
from collections.abc import Iterator

import pytest

from jobgate.cluster import Backoff
from jobgate.controller import ControllerMetrics
from jobgate.controller.queue import ReconcileResult, WorkQueue
from jobgate.controller.work import Work

Key = tuple[str, str, str]


def keys(count: int) -> Iterator[Key]:
    """Jobs to look at."""
    return (("dijobs", "lab", f"job-{number}") for number in range(count))


@pytest.mark.parametrize(("workers", "jobs", "at_once"), [(1, 5, 1), (3, 5, 3), (8, 5, 5)])
async def test_so_many_jobs_are_looked_at_at_once_and_no_more(workers: int, jobs: int, at_once: int) -> None:
    queue: WorkQueue[Key] = WorkQueue(Backoff(first=3600.0, most=3600.0))
    looking = most = 0
    begun, ended, go_on = asyncio.Queue[Key](), asyncio.Queue[Key](), asyncio.Event()

    async def reconcile(key: Key) -> ReconcileResult:
        nonlocal looking, most
        looking += 1
        most = max(most, looking)
        begun.put_nowait(key)
        await go_on.wait()
        looking -= 1
        ended.put_nowait(key)
        if key[2] == "job-0":
            raise OSError("no answer")
        return ReconcileResult.FINE

    for key in keys(jobs):
        queue.add(key)
    work = Work("test", queue, reconcile, list, 3600.0, workers, ControllerMetrics(), ())
    async with asyncio.timeout(10.0):
        task = asyncio.create_task(work.run())
        for _ in range(at_once):
            await begun.get()
        go_on.set()
        seen = [await ended.get() for _ in range(jobs)]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (sorted(seen), most) == (sorted(keys(jobs)), at_once)
