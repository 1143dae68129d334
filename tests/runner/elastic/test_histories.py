"""What must hold holds in random histories, and the check of it finds faults."""

from collections import Counter

import pytest

from jobgate.runner.elastic.decision import Step
from tests.runner.elastic.histories import START, History, Job, play


def test_what_must_hold_holds_in_random_histories() -> None:
    steps = sum((play(seed) for seed in range(400)), Counter())
    assert min(steps["up"], steps["down"]) > 300


def test_the_check_finds_a_decision_that_ignores_the_hold_time() -> None:
    history = History(0)
    history.jobs.append(Job("j", "a", "hall", 1, 4, 0, False, START, 600, size=1, admitted=True))
    with pytest.raises(AssertionError, match=r"was resized 0\.0 s ago"):
        history.check({"j": Step({"work": 2})}, set())
