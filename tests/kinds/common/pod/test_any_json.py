"""A pod that reaches the rules may be any JSON: whatever is wrong with it, a rule answers."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobgate.kinds.common.pod import host, metadata, placement, scheduling
from tests.kinds.common.pod import (
    test_affinity,
    test_dns,
    test_host,
    test_metadata,
    test_scheduling,
    test_selectors,
    test_spread,
    test_tolerations,
)
from tests.kinds.common.pod.verdict import Check, findings

FAMILIES: list[tuple[str, Check, Any]] = [
    ("affinity", placement.FAMILY.check, test_affinity.CASES),
    ("dns", host.FAMILY.check, test_dns.CASES),
    ("host", host.FAMILY.check, test_host.CASES),
    ("metadata", metadata.FAMILY.check, test_metadata.CASES),
    ("scheduling", scheduling.FAMILY.check, test_scheduling.CASES),
    ("selectors", placement.FAMILY.check, test_selectors.CASES),
    ("spread", placement.FAMILY.check, test_spread.CASES),
    ("tolerations", placement.FAMILY.check, test_tolerations.CASES),
]

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


@pytest.mark.parametrize(
    ("check", "cases"), [family[1:] for family in FAMILIES], ids=[family[0] for family in FAMILIES]
)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_json_makes_a_rule_fail(check: Check, cases: Any, data: st.DataObject) -> None:
    _, of, _ = data.draw(st.sampled_from(cases))
    for mangled in _mangled(of, data.draw(st.sampled_from(ANYTHING))):
        for says in findings(check, mangled):
            assert ": " in says


def _mangled(value: Any, instead: Any) -> list[Any]:
    """Return the value with each of its parts, and itself, replaced by something else."""
    found = [instead]
    if isinstance(value, dict):
        found += [{**value, key: part} for key in value for part in _mangled(value[key], instead)]
    elif isinstance(value, list) and len(value) < 5:
        found += [
            [*value[:index], part, *value[index + 1 :]]
            for index in range(len(value))
            for part in _mangled(value[index], instead)
        ]
    return found
