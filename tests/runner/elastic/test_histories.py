"""What must hold holds in random histories, and the check of it finds faults."""

import time
from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest

from jobgate.runner.elastic.decision import ElasticJob, Span, Step, decide
from jobgate.runner.queues.admission import Pool
from tests.runner.elastic import node_histories
from tests.runner.elastic.histories import START, TICK, History, Job, play


def test_what_must_hold_holds_in_random_histories() -> None:
    steps = sum((play(seed) for seed in range(400)), Counter())
    assert min(steps["up"], steps["down"]) > 300


async def test_what_must_hold_on_nodes_holds_in_random_histories() -> None:
    steps = sum([await node_histories.play(seed) for seed in range(80)], Counter[str]())
    assert min(steps["up"], steps["down"]) > 100


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


def seconds_for(count: int) -> float:
    """The CPU time of a decision about so many jobs, each in a namespace with a ResourceQuota."""
    pools = {
        ("namespace", f"n{number}"): Pool("quota", {"pods": Decimal(9)}, {"pods": Decimal(1)})
        for number in range(count)
    }
    span = Span("work", {"pods": Decimal(1)}, 2, 1, 4)
    jobs = [ElasticJob(key[1], [span], START - timedelta(hours=1), ready=True, pools=[key]) for key in pools]
    before = time.process_time()
    assert len(decide(jobs, pools, START)) == count
    return time.process_time() - before


def test_the_time_of_a_decision_grows_with_the_jobs_and_not_with_their_square() -> None:
    # Six times the jobs: a square would be 36 times the time.
    assert min(seconds_for(3000) for _ in range(3)) < 20 * min(seconds_for(500) for _ in range(3))
