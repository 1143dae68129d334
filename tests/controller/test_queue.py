"""The work queue, by a clock of the test's own."""

import asyncio
from contextlib import suppress
from itertools import pairwise

import pytest

from jobgate.cluster import Backoff
from jobgate.controller.queue import ReconcileResult, WorkQueue


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> WorkQueue[str]:
    return WorkQueue(Backoff(first=2.0, most=16.0), clock)


async def due(queue: WorkQueue[str]) -> str | None:
    """The key that is due now, or None."""
    task = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    if task.done():
        return task.result()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return None


async def test_what_is_asked_for_often_is_done_once(queue: WorkQueue[str]) -> None:
    for key in "abaab":
        queue.add(key)
    assert [await due(queue) for _ in range(3)] == ["a", "b", None]


async def test_what_is_asked_for_later_waits_and_the_earliest_time_holds(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a", 5)
    queue.add("a", 3)
    queue.add("a", 8)
    assert await due(queue) is None
    clock.now += 3
    assert await due(queue) == "a"
    queue.done("a", ReconcileResult.FINE)
    clock.now += 10
    assert await due(queue) is None


async def test_what_is_being_done_is_not_given_to_another_and_is_done_again_after(queue: WorkQueue[str]) -> None:
    queue.add("a")
    assert await due(queue) == "a"
    queue.add("a")
    assert await due(queue) is None
    queue.done("a", ReconcileResult.FINE)
    assert await due(queue) == "a"


async def test_what_failed_comes_again_by_itself_later_each_time_up_to_a_limit(
    queue: WorkQueue[str], clock: Clock
) -> None:
    queue.add("a")
    waits = []
    for _ in range(6):
        began = clock.now
        while await due(queue) is None:
            clock.now += 1
        waits.append(clock.now - began)
        queue.done("a", ReconcileResult.AGAIN)
    assert waits == [0, 2, 4, 8, 16, 16]


async def test_news_of_what_failed_is_looked_at_soon_but_not_at_once(queue: WorkQueue[str], clock: Clock) -> None:
    for _ in range(4):
        queue.add("a", -100)
        clock.now += 20
        assert await due(queue) == "a"
        queue.done("a", ReconcileResult.AGAIN)
    queue.add("a")
    assert await due(queue) is None
    clock.now += 1
    assert await due(queue) == "a"


async def test_what_is_undone_again_and_again_is_done_later_each_time(queue: WorkQueue[str], clock: Clock) -> None:
    waits = []
    for _ in range(4):
        queue.add("a")
        began = clock.now
        while await due(queue) is None:
            clock.now += 1
        waits.append(clock.now - began)
        queue.done("a", ReconcileResult.WROTE)
    assert waits == [0, 2, 4, 8]


@pytest.mark.parametrize(
    ("outcome", "waits"),
    [
        (ReconcileResult.WROTE, [0, 3, 3, 3]),
        (ReconcileResult.STATUS, [0, 1, 1, 1]),
        (ReconcileResult.FINE, [0, 0, 0, 0]),
    ],
)
async def test_if_nobody_undoes_what_is_done_a_rest_is_enough(
    clock: Clock, outcome: ReconcileResult, waits: list[float]
) -> None:
    queue: WorkQueue[str] = WorkQueue(Backoff(first=2.0, most=16.0), clock, rest=3.0)
    waited = []
    for _ in range(4):
        queue.add("a")
        began = clock.now
        while await due(queue) is None:
            clock.now += 0.5
        waited.append(clock.now - began)
        queue.done("a", outcome)
    assert waited == waits


async def writes(queue: WorkQueue[str], clock: Clock, seconds: float, *, every: float = 0.0) -> int:
    """How often a key is written in so many seconds; it is asked for after so many, and after its own write."""
    result, end, written, undone = 0, clock.now + seconds, False, clock.now
    while clock.now < end:
        if clock.now >= undone:
            queue.add("a")
        if await due(queue) is not None:
            written = clock.now >= undone
            queue.done("a", ReconcileResult.WROTE if written else ReconcileResult.FINE)
            if written:
                result, undone = result + 1, clock.now + every
                queue.add("a", 0.05)
        clock.now += 0.05
    return result


@pytest.mark.parametrize("every", [0.05, 0.3, 2.0])
async def test_what_another_client_undoes_again_and_again_is_written_ever_less(clock: Clock, every: float) -> None:
    queue: WorkQueue[str] = WorkQueue(Backoff(first=0.2, most=30.0), clock, rest=0.1)
    assert await writes(queue, clock, 60, every=every) < 22
    assert await writes(queue, clock, 60, every=every) <= 3


async def test_the_first_writes_are_not_slowed_and_again_not_after_a_quiet_while(clock: Clock) -> None:
    queue: WorkQueue[str] = WorkQueue(Backoff(first=0.2, most=30.0), clock, rest=0.1)
    for _ in range(3):
        assert await writes(queue, clock, 1.0) >= 7
        clock.now += 5
    assert await writes(queue, clock, 120, every=4) == 30


async def test_keys_that_no_longer_write_are_forgotten(clock: Clock) -> None:
    queue: WorkQueue[str] = WorkQueue(clock=clock, rest=0.1)
    for key in "abcdefghij":
        queue.add(key)
        assert await due(queue) == key
        queue.done(key, ReconcileResult.WROTE)
        clock.now += 2
    assert list(queue._writes) == ["i", "j"]


async def test_statuses_of_a_key_are_a_second_apart_whatever_is_looked_at_between(clock: Clock) -> None:
    queue: WorkQueue[str] = WorkQueue(Backoff(first=0.2, most=30.0), clock, rest=0.1)
    statuses, written, start = [], -1, clock.now
    for tick in range(200):
        clock.now = start + tick / 20
        pods = tick // 7  # one more every 0.35 s
        if tick % 7 == 0:
            queue.add("a", 0.1)
        if await due(queue) is None:
            continue
        queue.done("a", ReconcileResult.STATUS if written < pods else ReconcileResult.FINE)
        if written < pods:
            statuses.append(clock.now)
            written = pods
            queue.add("a", 0.05)  # its own watch event
    assert len(statuses) >= 6
    assert min(after - before for before, after in pairwise(statuses)) >= 1.0 - 1e-6


async def test_what_was_done_does_not_come_again_by_itself(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a")
    assert await due(queue) == "a"
    queue.done("a", ReconcileResult.WROTE)
    clock.now += 1000
    assert await due(queue) is None
    assert len(queue) == 0


async def test_what_is_fine_is_forgotten(queue: WorkQueue[str], clock: Clock) -> None:
    for outcome in (ReconcileResult.AGAIN, ReconcileResult.WROTE, ReconcileResult.FINE):
        queue.add("a")
        clock.now += 20
        assert await due(queue) == "a"
        queue.done("a", outcome)
    assert queue.struggling == 0
    assert not any((queue._due, queue._working, queue._meanwhile, queue._strikes, queue._not_before))
    queue.add("a")
    assert await due(queue) == "a"


async def test_a_waiting_worker_is_woken() -> None:
    queue: WorkQueue[str] = WorkQueue()
    tasks = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in "abc":
        queue.add(key, 0.01)
    assert sorted(await asyncio.gather(*tasks)) == ["a", "b", "c"]


async def test_what_is_asked_for_ever_earlier_does_not_pile_up() -> None:
    queue: WorkQueue[str] = WorkQueue(clock=lambda: 0.0)
    for _ in range(1000):  # a deadline of the job, and each time what happens before it
        queue.add("a", 86_400)
        queue.add("a")
        queue.done(await queue.get(), ReconcileResult.FINE)
    assert len(queue._heap) < 100


async def test_namespaces_take_turns_and_none_has_all_workers(clock: Clock) -> None:
    queue: WorkQueue[str] = WorkQueue(clock=clock, namespace=lambda key: key[0], share=2)
    for key in ("a1", "a2", "a3", "a4", "b1", "c1", "c2"):
        queue.add(key)
    assert [await due(queue) for _ in range(6)] == ["a1", "b1", "c1", "a2", "c2", None]
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.done("b1", ReconcileResult.FINE)
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.done("a2", ReconcileResult.FINE)
    assert await waiting == "a3"
    assert len(queue) == 1


async def test_a_key_is_ready_once_if_two_of_its_times_are_the_same(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a", 3)
    queue.add("a", 1)
    clock.now += 1
    assert await due(queue) == "a"
    queue.done("a", ReconcileResult.FINE)
    queue.add("a", 2)
    clock.now += 2
    assert [await due(queue) for _ in range(2)] == ["a", None]
