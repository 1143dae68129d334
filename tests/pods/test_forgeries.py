"""References to jobs that are not there."""

from jobgate.pods import forgeries
from jobgate.pods.forgeries import Forgeries
from tests.pods.pods import Clock


def test_one_is_remembered_for_a_while() -> None:
    clock = Clock()
    found = Forgeries(clock)
    found.add("a", "train", "1")
    assert found.has("a", "train", "1")
    assert not any((found.has("a", "train", "2"), found.has("a", "other", "1"), found.has("b", "train", "1")))
    clock.now += forgeries.SECONDS
    assert not found.has("a", "train", "1")


def test_there_are_so_many_at_most_and_one_twice_counts_once() -> None:
    found = Forgeries(Clock(), most=10)
    for number in range(50):
        found.add("a", "train", str(number % 20))
    assert len(found) == 10
    assert [number for number in range(20) if found.has("a", "train", str(number))] == list(range(10))


def test_who_has_most_loses_the_oldest() -> None:
    found = Forgeries(Clock(), most=10)
    found.add("victim", "train", "1")
    for number in range(50):
        found.add("attacker", "train", str(number))
    assert found.has("victim", "train", "1")
    assert len(found) == 10
