"""Which jobs are released, and why others wait."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobgate.runner.queues.admission import Admission, Amounts, Entry, Memory, Order, Queue, Queues, admit
from jobgate.runner.queues.selectors import SelectorName
from tests.runner.world import START


def pods(number: int) -> Amounts:
    """So many pods."""
    return {"pods": Decimal(number)}


def entry(key: str, size: int = 1, queue: str = "a", namespace: str = "lab", at: float = 0, priority: int = 0) -> Entry:
    """A job, made so many seconds after the start as `at` says."""
    return Entry(key, queue, namespace, pods(size), START + timedelta(seconds=at), priority)


def grown(key: str, has: int, size: int, at: float = 0) -> Entry:
    """A job that was released for less than it asks for."""
    return replace(entry(key, size, at=at), has=pods(has))


def decided(queues: Queues, *entries: Entry, seconds: float = 0, **namespaces: int) -> Admission:
    """The decisions about jobs, with so many pods in the quotas of namespaces."""
    quotas = {name: pods(number) for name, number in namespaces.items()}
    return admit(queues, entries, quotas, Memory(), START + timedelta(seconds=seconds))


def one(quota: int, order: Order = Order.PRIORITY) -> Queues:
    """The queue `a`, with so many pods."""
    return Queues({"a": Queue(quota=pods(quota), order=order)})


@pytest.mark.parametrize(
    ("case", "found", "released"),
    [
        ("all that fit", decided(one(3), entry("x", 1), entry("y", 2)), "x y"),
        ("none beside what runs", decided(one(3), replace(entry("x", 3), admitted=True), entry("y")), ""),
        ("the oldest first", decided(one(1), entry("x", at=2), entry("y", at=1)), "y"),
        (
            "of one second, the first that was stored",
            decided(one(1), replace(entry("x"), arrival=10), replace(entry("y"), arrival=9)),
            "y",
        ),
        ("the higher priority first", decided(one(1), entry("x"), entry("y", at=1, priority=1)), "y"),
        ("not by priority", decided(one(1, order=Order.FIFO), entry("x"), entry("y", at=1, priority=1)), "x"),
        ("who waited long", decided(one(1), entry("x"), entry("y", at=3000, priority=1), seconds=3601), "x"),
        ("none past the first", decided(one(3), replace(entry("r", 2), admitted=True), entry("x", 2), entry("y")), ""),
        ("past one that never fits", decided(one(3), entry("x", 4), entry("y", at=1)), "y"),
        ("as the namespace has", decided(one(3), entry("x"), entry("y", at=1), lab=1), "x"),
        ("of another namespace", decided(one(9), entry("x", 2), entry("y", 1, "a", "b", at=1), lab=1), "y"),
        ("none of no queue", decided(one(3), entry("x", queue="b")), ""),
        ("growth, by what it lacks", decided(one(3), entry("y"), grown("x", 2, 3, at=1)), "y"),
        ("growth that fits", decided(one(4), entry("y"), grown("x", 2, 3, at=1)), "y x"),
        ("growth before who came later", decided(one(3), grown("x", 2, 3), entry("y", at=1)), "x"),
        (
            "none past growth",
            decided(one(4), replace(entry("r"), admitted=True), grown("x", 1, 4), entry("y", 2, at=1)),
            "",
        ),
        ("past growth that never fits", decided(one(3), grown("x", 1, 4), entry("y", 2, at=1)), "y"),
        ("as all queues have", decided(replace(one(3), quota=pods(1)), entry("x"), entry("y", at=1)), "x"),
    ],
)
def test_released_are(case: str, found: Admission, released: str) -> None:
    assert list(found.released) == released.split(), case


def test_who_waits_in_a_namespace_holds_up_no_other_namespace() -> None:
    runs = replace(entry("r", 2), admitted=True)
    assert decided(one(9), runs, entry("x", 2), entry("y", 1, "a", "b", at=1), lab=3).released == ("y",)


def test_reasons_name_the_quota_and_what_is_asked_for() -> None:
    runs = replace(entry("r", 2), admitted=True)
    queues = Queues({"a": Queue(quota=pods(3)), "b": Queue()})
    jobs = [runs, entry("x", 2), entry("y", at=1), entry("z", 5), entry("n", queue="none"), entry("m", 9, "b", "lab")]
    result = decided(queues, *jobs, lab=8)
    assert result.waits == {
        "x": "queue a has 3 of pods, the job asks for 2, and the jobs before it leave 1",
        "y": "1 other job is before it in queue a",
        "z": "queue a has 3 of pods, and the job asks for 5",
        "n": "there is no queue none; the queues are: a, b",
        "m": "the ResourceQuota of namespace lab, without what others use, has 8 of pods, and the job asks for 9",
    }


def test_a_job_that_waits_knows_its_place_less_exactly_the_more_are_before_it() -> None:
    runs = replace(entry("r"), admitted=True)
    jobs = [entry(f"x{at:03}", namespace="lab" if at % 2 else "home", at=at) for at in range(130)]
    waits = decided(one(1), runs, *jobs).waits
    assert waits["x000"] == "queue a has 1 of pods, the job asks for 1, and the jobs before it leave 0"
    assert waits["x001"] == f"{waits['x000']}; 1 other job is before it in queue a"
    for at, count_ in ((4, "4"), (39, "at least 30"), (49, "at least 40"), (129, "at least 100")):
        assert waits[f"x{at:03}"] == f"{count_} other jobs are before it in queue a"


def test_jobs_of_one_size_are_released_by_the_weights() -> None:
    queues = Queues({"a": Queue(5), "b": Queue(1), "c": Queue(1)}, quota=pods(1))
    waiting = [entry(f"{queue}{number}", queue=queue, at=number) for queue in "abc" for number in range(14)]
    assert "".join(key[0] for key in ended(queues, waiting, turns=14)) == "aabacaa" * 2


def ended(queues: Queues, waiting: list[Entry], turns: int) -> list[str]:
    """The order in which jobs run where of those that run the oldest always ends."""
    memory, running, order = Memory(), list[Entry](), list[str]()
    while len(order) < turns:
        result = admit(queues, [*running, *waiting], {}, memory, START)
        memory = result.memory
        running += [replace(job, admitted=True) for key in result.released for job in waiting if job.key == key]
        waiting = [job for job in waiting if job.key not in result.released]
        order += result.released
        running = running[1:]
    return order[:turns]


sizes = st.integers(0, 4)
jobs = st.lists(
    st.tuples(sizes, st.sampled_from("abc"), st.sampled_from(["lab", "hall"]), st.integers(0, 3), st.integers(0, 50)),
    max_size=14,
)
many_queues = st.builds(
    lambda weights, quotas, orders, selector, whole: Queues(
        {
            name: Queue(weight, pods(quota), order)
            for name, weight, quota, order in zip("abc", weights, quotas, orders, strict=True)
        },
        selector,
        pods(whole),
    ),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.tuples(*[sizes] * 3),
    st.tuples(*[st.sampled_from(list(Order))] * 3),
    st.sampled_from(list(SelectorName)),
    st.integers(1, 6),
)


@given(many_queues, jobs, st.integers(1, 5), st.randoms(use_true_random=False))
def test_every_job_that_fits_alone_is_released_after_finitely_many_ends(
    queues: Queues, made: list[tuple[int, str, str, int, int]], room: int, random: Random
) -> None:
    spaces = {"lab": pods(room)}
    waiting = {
        str(n): entry(str(n), size, queue, namespace, priority=priority, at=at)
        for n, (size, queue, namespace, priority, at) in enumerate(made)
    }
    alone = {
        key for key, job in waiting.items() if admit(queues, [job], spaces, Memory(), START).released == (job.key,)
    }
    running: dict[str, Entry] = {}
    memory = Memory()
    for _ in range(len(made) + 1):
        result = admit(queues, [*running.values(), *waiting.values()], spaces, memory, START + timedelta(seconds=60))
        memory = result.memory
        assert result.waits.keys() == waiting.keys() - set(result.released)
        for key in result.released:
            running[key] = replace(waiting.pop(key), admitted=True)
        within(queues, spaces, running)
        if running:
            del running[random.choice(sorted(running))]
    assert not waiting.keys() & alone


def test_a_queue_with_a_quota_of_its_own_does_not_keep_another_from_its_turn() -> None:
    # Jobs of b wait for two pools, those of a and c for one of these.
    queues = Queues({"a": Queue(), "b": Queue(quota=pods(1)), "c": Queue()}, SelectorName.RR, pods(1))
    running: list[Entry] = []
    waiting, memory = {"first": entry("first", 1, "a")}, Memory()
    for turn in range(12):
        for queue, namespace in (("b", "lab"), ("b", "hall"), ("c", "lab")):
            key = f"{queue}-{namespace}-{turn}"
            waiting[key] = entry(key, 1, queue, namespace, at=turn)
        result = admit(queues, [*running, *waiting.values()], {}, memory, START + timedelta(seconds=turn))
        memory = result.memory
        running = [replace(waiting.pop(key), admitted=True) for key in result.released]
        if turn == 0:
            assert result.released == ("first",)
            waiting["second"] = entry("second", 1, "a", at=turn)
    assert "second" not in waiting


def within(queues: Queues, spaces: dict[str, Amounts], running: dict[str, Entry]) -> None:
    """See that what runs is within all quotas."""
    used: Counter[str] = Counter()
    for job in running.values():
        for name in ("", job.queue, job.namespace):
            used[name] += int(job.demand["pods"])
    assert used[""] <= queues.quota["pods"]
    assert all(used[name] <= queue.quota["pods"] for name, queue in queues.queues.items())
    assert all(used[name] <= space["pods"] for name, space in spaces.items())


@settings(deadline=None)
@given(many_queues, st.integers(1, 4), st.data())
def test_a_large_job_is_released_however_many_small_ones_keep_coming(
    queues: Queues, room: int, data: st.DataObject
) -> None:
    spaces = {"lab": pods(room)}
    most = min(room, int(queues.quota["pods"]), int(queues.queues["a"].quota["pods"]))
    large = entry("large", most, priority=0)
    running: dict[str, Entry] = {}
    waiting, memory, numbers = {"large": large}, Memory(), count()
    for turn in range(120):
        now = START + timedelta(seconds=100 * turn)
        for _ in range(3):
            key = f"small{next(numbers)}"
            queue, namespace = data.draw(st.sampled_from("abc")), data.draw(st.sampled_from(["lab", "hall"]))
            waiting[key] = entry(key, 1, queue, namespace, at=100 * turn, priority=9)
        result = admit(queues, [*running.values(), *waiting.values()], spaces, memory, now)
        memory = result.memory
        for key in result.released:
            running[key] = replace(waiting.pop(key), admitted=True)
        if "large" in running:
            return
        if running:
            del running[next(iter(running))]
    raise AssertionError("it starves")
