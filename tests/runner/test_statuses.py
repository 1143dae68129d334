"""Random sequences of events of jobs: their statuses stay true (`tests/runner/statuses.py`)."""

import pytest

from jobgate.jobs.runner import runner_of
from jobgate.kinds import built_in
from jobgate.kinds.dijob.runner import DIJobRunner
from tests.runner.statuses import PHASES, Trial

#: The sequences that every run of the tests tries, of each kind.
SEEDS = 6


def test_every_kind_with_a_runner_is_compared() -> None:
    assert set(PHASES) == {kind.kind for kind in built_in() if runner_of(kind)}


@pytest.mark.parametrize("kind", PHASES)
def test_a_status_equals_another_reading_of_the_pods(kind: str) -> None:
    for seed in range(SEEDS):
        assert len(Trial(kind, seed).run()) > 1


def test_a_succeeded_pod_beyond_a_new_size_does_not_count() -> None:
    assert len(Trial("DIJob", 170).run()) > 1


def test_a_wrong_status_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DIJobRunner, "counts", lambda *_: {"replicas": 3, "readyReplicas": 4, "taskStatus": {}})
    with pytest.raises(AssertionError, match="readyReplicas"):
        Trial("DIJob", 0).run()
