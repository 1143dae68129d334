"""A pod that reaches the rules may be any JSON: whatever is wrong with it, a rule answers."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobgate.podchecks import FAMILIES
from jobgate.podchecks.family import Family
from tests.podchecks import (
    test_affinity,
    test_containers,
    test_dns,
    test_env,
    test_host,
    test_metadata,
    test_ports,
    test_scheduling,
    test_selectors,
    test_spread,
    test_tolerations,
)
from tests.podchecks.templates import PLAIN
from tests.podchecks.verdict import findings

#: Pods with what valid templates hardly ever have, for families that have no plain type for it.
CASES = [
    *(test_affinity.CASES + test_containers.CASES + test_dns.CASES + test_env.CASES + test_host.CASES),
    *(test_metadata.CASES + test_ports.CASES + test_scheduling.CASES + test_selectors.CASES),
    *(test_spread.CASES + test_tolerations.CASES),
]
PODS: list[Any] = [*PLAIN.values(), *(of for _, of, _ in CASES)]

ANYTHING: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    "\ud800",
    "a/b/c",
    [],
    [None],
    [[]],
    ["x"],
    [{}],
    {},
    {"x": None},
    {"": "x"},
]


@pytest.mark.parametrize("family", list(FAMILIES), ids=lambda family: family.check.__module__.rpartition(".")[2])
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_json_makes_a_rule_fail(family: Family, data: st.DataObject) -> None:
    keys = family.metadata.keys() | family.spec.keys() | family.container.keys()
    of = data.draw(st.sampled_from([pod for pod in PODS if not keys.isdisjoint(_keys(pod))]))
    for mangled in _mangled(of, data.draw(st.sampled_from(ANYTHING))):
        for says in findings(family.check, mangled):
            assert ": " in says


def _keys(pod: Any) -> set[str]:
    """Return the keys of a pod that families have."""
    parts = [pod.get("metadata") or {}, pod["spec"], *pod["spec"].get("containers", ())]
    return {key for part in parts for key in part}


def _mangled(value: Any, instead: Any) -> list[Any]:
    """Return the value with each of its parts, and itself, replaced by something else."""
    result = [instead]
    if isinstance(value, dict):
        result += [{**value, key: part} for key in value for part in _mangled(value[key], instead)]
    elif isinstance(value, list) and len(value) < 5:
        result += [
            [*value[:index], part, *value[index + 1 :]]
            for index in range(len(value))
            for part in _mangled(value[index], instead)
        ]
    return result
