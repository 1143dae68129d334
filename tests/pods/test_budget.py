"""Bounds on requests to the API server: how often, and which answers are kept."""

from jobgate.pods import budget
from jobgate.pods.budget import AnswerCache, Budget
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
