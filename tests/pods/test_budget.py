"""How often the cluster is asked at most."""

from jobgate.pods import budget
from jobgate.pods.budget import Budget
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
