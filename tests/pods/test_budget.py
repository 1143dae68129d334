"""Bounds on requests to the API server: how often, whose turn it is, and which answers are kept."""

import asyncio

import pytest

from jobgate.pods import budget
from jobgate.pods.budget import AnswerCache, Budget, FairQueue
from tests.pods.pods import Clock


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    clock = Clock()
    found = Budget(clock, rate=2.0, burst=3.0)
    assert [found.take("a") for _ in range(5)] == [True, True, True, False, False]
    clock.now += 0.5
    assert [found.take("a") for _ in range(2)] == [True, False]
    clock.now += 3600
    assert [found.take("a") for _ in range(5)] == [True, True, True, False, False]


def test_one_namespace_does_not_use_up_the_budget_of_another() -> None:
    found = Budget(Clock(), rate=1.0, burst=1.0)
    assert found.take("a")
    assert not found.take("a")
    assert found.take("b")


def test_the_memory_of_namespaces_is_bounded() -> None:
    found = Budget(Clock(), rate=1.0, burst=1.0)
    for number in range(2 * budget.NAMESPACES):
        found.take(f"n{number}")
    assert len(found._left) == budget.NAMESPACES


async def asked(queue: FairQueue, *namespaces: str) -> list[asyncio.Future[None] | None]:
    return [queue.ask(namespace) for namespace in namespaces]


@pytest.mark.parametrize(
    "namespaces, begun",
    [
        ("a", "a"),
        ("aa", "aa"),
        ("aaa", "aa"),
        ("aaab", "aab"),
        ("aaabbb", "aabb"),
        ("aaabbbc", "aabb"),
        ("abcdef", "abcd"),
    ],
)
async def test_a_namespace_has_its_share_and_no_more(namespaces: str, begun: str) -> None:
    queue = FairQueue(at_once=4, share=2, waiting=3)
    found = await asked(queue, *namespaces)
    assert [one for one, turn in zip(namespaces, found, strict=True) if turn and turn.done()] == list(begun)


async def test_what_is_given_back_goes_to_who_waits_in_turn() -> None:
    queue = FairQueue(at_once=2, share=2, waiting=3)
    begun = await asked(queue, *"aa")
    waiting = dict(zip(["a1", "a2", "b1", "b2", "c1"], await asked(queue, *"aabbc"), strict=True))
    assert all(turn and turn.done() for turn in begun)
    order = []
    for namespace in "aaabcc":
        queue.done(namespace if namespace != "c" else "a")
        order += [name for name, turn in waiting.items() if turn and turn.done() and name not in order]
    assert order[:3] == ["a1", "b1", "c1"]


async def test_so_many_of_a_namespace_wait() -> None:
    queue = FairQueue(at_once=1, share=1, waiting=2)
    found = await asked(queue, *"aaaab")
    assert [one is not None for one in found] == [True, True, True, False, True]


async def test_who_does_not_wait_any_longer_takes_no_turn() -> None:
    queue = FairQueue(at_once=1, share=1, waiting=2)
    first, second, third = await asked(queue, *"aab")
    assert second
    assert third
    second.cancel()
    queue.done("a")
    assert third.done()
    queue.done("b")
    assert (queue.ask("a") or asyncio.Future()).done()
    assert first


def test_an_answer_is_kept_for_a_while() -> None:
    clock = Clock()
    found = AnswerCache[bool](clock)
    found.keep("a", answer=False, seconds=30.0)
    assert (found.get("a"), found.get("a", ahead=29.0), found.get("b")) == (False, False, None)
    assert found.get("a", ahead=30.0) is None
    clock.now += 30.0
    assert found.get("a") is None


def test_there_are_so_many_at_most_the_oldest_goes_and_one_twice_counts_once() -> None:
    found = AnswerCache[int](Clock(), most=10)
    for number in range(50):
        found.keep(number % 20, number, 30.0)
    assert len(found) == 10
    assert [number for number in range(20) if found.get(number)] == list(range(10))
