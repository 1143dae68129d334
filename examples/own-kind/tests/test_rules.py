"""The verdicts on sweeps: without a cluster, and the same by a real API server."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jobgate.testing import Cluster, allowed, changed, check_ratchet, denied, verdict

from sweepjob import KIND

EXAMPLES = Path(__file__).parents[1] / "examples"
MINIMAL = EXAMPLES / "minimal.yaml"
Changes: TypeAlias = dict[str, Any]

SAME = {"spec": {"trials": {1: {"parameters": {"rate": "0.001"}}}}}
#: Changes of the minimal sweep; those of the stored one, for an update; and what becomes of it.
CASES: list[tuple[Changes, Changes | None, object]] = [
    ({}, None, allowed()),
    (SAME, None, denied("spec.trials[1].parameters: spec.trials[0] tries the same: change a value")),
    ({"spec": {"parallelism": 3}}, None, allowed(warnings=["spec.parallelism: must be at most the number of trials"])),
    ({"spec": {"parallelism": 2}}, {}, allowed()),
    ({"spec": {"metric": "loss"}}, {}, denied("spec.metric: may not change")),
]


@pytest.mark.parametrize(("changes", "stored", "expected"), CASES)
def test_verdicts(changes: Changes, stored: Changes | None, expected: object) -> None:
    """Sweeps are allowed, or denied for these fields only."""
    old = None if stored is None else changed(MINIMAL, stored)
    assert verdict(KIND, changed(MINIMAL, changes), old=old) == expected


@pytest.mark.parametrize(("changes", "stored", "expected"), CASES)
def test_verdicts_in_a_cluster(cluster: Cluster, changes: Changes, stored: Changes | None, expected: object) -> None:
    """An API server with the webhook answers the same."""
    old = None if stored is None else changed(MINIMAL, stored)
    assert cluster.verdict(changed(MINIMAL, changes), old=old) == expected


def test_a_stored_sweep_with_faults_can_be_changed() -> None:
    """A rule that is added later denies no update of a stored sweep."""
    check_ratchet(KIND, changed(MINIMAL, SAME), changed(changed(MINIMAL, SAME), {"spec": {"parallelism": 2}}))
