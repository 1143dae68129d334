"""Bounds on requests to the API server: how often, and which answers are kept."""

from jobgate.pods import budget
from jobgate.pods.budget import AnswerCache, Budget
from tests.pods.pods import Clock


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    clock = Clock()
    result = Budget(clock, rate=2.0, burst=3.0)
    assert [result.take("a") for _ in range(5)] == [True, True, True, False, False]
    clock.now += 0.5
    assert [result.take("a") for _ in range(2)] == [True, False]
    clock.now += 3600
    assert [result.take("a") for _ in range(5)] == [True, True, True, False, False]


def test_one_namespace_does_not_use_up_the_budget_of_another() -> None:
    result = Budget(Clock(), rate=1.0, burst=1.0)
    assert result.take("a")
    assert not result.take("a")
    assert result.take("b")


def test_the_memory_of_namespaces_is_bounded() -> None:
    result = Budget(Clock(), rate=1.0, burst=1.0)
    for number in range(2 * budget.NAMESPACES):
        result.take(f"n{number}")
    assert len(result._left) == budget.NAMESPACES


def test_an_answer_is_kept_for_a_while() -> None:
    clock = Clock()
    result = AnswerCache[bool](clock)
    result.keep("a", answer=False, seconds=30.0)
    assert (result.get("a"), result.get("a", ahead=29.0), result.get("b")) == (False, False, None)
    assert result.get("a", ahead=30.0) is None
    clock.now += 30.0
    assert result.get("a") is None


def test_there_are_so_many_at_most_the_oldest_goes_and_one_twice_counts_once() -> None:
    result = AnswerCache[int](Clock(), most=10)
    for number in range(50):
        result.keep(number % 20, number, 30.0)
    assert len(result) == 10
    assert [number for number in range(20) if result.get(number)] == list(range(10))
