"""The verdicts on $name objects: without a cluster, and the same by a real API server."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jobgate.testing import Cluster, allowed, changed, denied, verdict

from $package import KIND

MINIMAL = Path(__file__).parents[1] / "examples" / "minimal.yaml"
Changes: TypeAlias = dict[str, Any]

#: Changes of the minimal object; those of the stored object, for an update; and what becomes of it.
CASES: list[tuple[Changes, Changes | None, object]] = [
    ({}, None, allowed()),
    ({"spec": {"checkpointEvery": 10}}, None, allowed()),
    ({"spec": {"checkpointEvery": 11}}, None, denied("spec.checkpointEvery: must be at most spec.epochs, 10")),
    ({"spec": {"checkpointEvery": 0}}, None, denied("spec.checkpointEvery: must be at least 1")),
    ({"spec": {"suspend": True}}, {}, allowed()),
    ({"spec": {"checkpointEvery": 5}}, {}, denied("spec.checkpointEvery: may not change after the job is created")),
]


@pytest.mark.parametrize(("changes", "stored", "expected"), CASES)
def test_verdicts(changes: Changes, stored: Changes | None, expected: object) -> None:
    """Objects are allowed, or denied for these fields only."""
    old = None if stored is None else changed(MINIMAL, stored)
    assert verdict(KIND, changed(MINIMAL, changes), old=old) == expected


@pytest.mark.parametrize(("changes", "stored", "expected"), CASES)
def test_verdicts_in_a_cluster(cluster: Cluster, changes: Changes, stored: Changes | None, expected: object) -> None:
    """An API server with the webhook answers the same."""
    old = None if stored is None else changed(MINIMAL, stored)
    assert cluster.verdict(changed(MINIMAL, changes), old=old) == expected


def test_defaults() -> None:
    """What is absent is added."""
    assert set(verdict(KIND, MINIMAL).changes) == {"+ spec.tasks[0].replicas: 1", "+ spec.checkpointEvery: 10"}
