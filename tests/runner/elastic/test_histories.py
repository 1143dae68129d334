"""What must hold holds in random histories, and the check of it finds faults."""

from collections import Counter
from datetime import timedelta

import pytest

from jobgate.runner.elastic.decision import Step
from tests.runner.elastic.histories import START, TICK, History, Job, play


def test_what_must_hold_holds_in_random_histories() -> None:
    steps = sum((play(seed) for seed in range(400)), Counter())
    assert min(steps["up"], steps["down"]) > 300


def test_the_check_finds_a_decision_that_ignores_the_hold_time() -> None:
    history = History(0)
    history.jobs.append(Job("j", "a", "hall", 1, 4, 0, False, START, 600, size=1, admitted=True))
    with pytest.raises(AssertionError, match=r"was resized 0\.0 s ago"):
        history.check({"j": Step({"work": 2})}, set())


@pytest.mark.parametrize("seed", range(40))
def test_a_job_that_waits_gets_what_others_have_beyond_their_minimum(seed: int) -> None:
    history = History(seed)
    history.jobs = [
        Job(f"j{number}", "a", "hall", 1, 9, seed % 3, number % 2 == 0, START, 9999, admitted=True, size=1)
        for number in range(3)
    ]
    history.quotas["a"], history.whole = 12, 12
    for turn in range(450):
        if turn == 400:
            assert sum(job.size for job in history.jobs) == 12
            history.jobs.append(Job("waits", "b", "hall", 1 + seed % 5, 1 + seed % 5, 0, False, history.now, 9999))
        history.quotas["b"] = 16
        history.look()
        history.now += timedelta(seconds=TICK)
    assert history.jobs[-1].admitted
