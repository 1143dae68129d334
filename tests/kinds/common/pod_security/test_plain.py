"""What a level surely does not mind: skipping it overlooks nothing."""

from copy import deepcopy
from typing import Any

import pytest

from bench.differential.pods.pod_security import PODS, plain, restricted
from jobgate.kinds.common.pod_security.checks import CHECKS, Level, PodSecurityViolation
from jobgate.kinds.common.pod_security.levels import keeps_to, violations
from tests.kinds.common.pod.templates import PLAIN
from tests.kinds.common.pod_security.test_levels import places
from webhook.path import Path

LEVELS = [Level.BASELINE, Level.RESTRICTED]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    "",
    "x",
    "Localhost",
    "ALL",
    "SYS_ADMIN",
    [],
    ["ALL"],
    [{}],
    [[]],
    {},
    {"": "x"},
]


def minded(level: Level, pod: dict[str, Any]) -> list[PodSecurityViolation]:
    """Return what all families together find that this level minds."""
    return [one for check in CHECKS for one in check(pod, Path()) if one.level <= level]


def assert_nothing_is_overlooked(level: Level, pod: dict[str, Any]) -> None:
    expected = minded(level, pod)
    assert [one for one in violations(pod, Path(), level) if one.level <= level] == expected
    assert not (keeps_to(level, pod) and expected)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.word)
@pytest.mark.parametrize("name", PODS)
def test_nothing_is_overlooked_however_a_pod_is_changed(level: Level, name: str) -> None:
    pod = deepcopy(PODS[name])
    assert_nothing_is_overlooked(level, pod)
    for parent, key in list(places(pod)):
        before = parent[key]
        for value in VALUES:
            parent[key] = value
            assert_nothing_is_overlooked(level, pod)
        parent[key] = before


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.word)
@pytest.mark.parametrize("name", PLAIN)
def test_nothing_is_overlooked_in_what_people_write(level: Level, name: str) -> None:
    assert_nothing_is_overlooked(level, deepcopy(PLAIN[name]))


@pytest.mark.parametrize(
    ("level", "pod", "expected"),
    [
        (Level.PRIVILEGED, PLAIN["a privileged container"], True),
        (Level.BASELINE, plain(), True),
        (Level.BASELINE, restricted(), True),
        (Level.BASELINE, PLAIN["a directory of the host"], False),
        (Level.RESTRICTED, plain(), False),
        (Level.RESTRICTED, restricted(), True),
        (Level.RESTRICTED, PLAIN["security contexts"], False),  # seLinuxOptions are looked at
    ],
)
def test_a_sound_pod_is_not_looked_at(level: Level, pod: dict[str, Any], expected: bool) -> None:
    assert keeps_to(level, pod) is expected
