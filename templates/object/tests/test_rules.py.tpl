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
    ({"spec": {"minimum": 2, "maximum": 2}}, None, allowed()),
    ({"spec": {"minimum": 3, "maximum": 2}}, None, denied("spec.maximum: must be at least spec.minimum, 3")),
    ({"spec": {"region": ""}}, None, denied("spec.region: ")),
    ({"spec": {"maximum": 5}}, {}, allowed()),
    ({"spec": {"region": "south"}}, {}, denied("spec.region: must stay north")),
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
    assert set(verdict(KIND, MINIMAL).changes) == {"+ spec.minimum: 1", "+ spec.maximum: 1"}
