"""A pod that reaches the levels may be any JSON."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from bench.differential.pods.pod_security import PODS, restricted
from jobgate.kinds.common.pod_security.checks import violations
from webhook.path import Path

ANYTHING: list[Any] = [None, True, -1, "x", [[]], {"": "x"}]
#: Enough of them: each field is in at least one.
SOME = list(PODS.values())[::3]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list within a value with each key or place in it."""
    for key, child in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(child, dict | list):
            yield from places(child)


@pytest.mark.parametrize("anything", ANYTHING, ids=repr)
def test_no_json_makes_a_check_fail(anything: Any) -> None:
    for pod in SOME:
        changed = deepcopy(pod)
        for parent, key in places(changed):
            before, parent[key] = parent[key], anything
            for violation in violations(changed, Path("template")):
                assert str(violation.path).startswith("template.")
            parent[key] = before


def test_a_sound_pod_violates_nothing() -> None:
    assert not list(violations(restricted(), Path()))
