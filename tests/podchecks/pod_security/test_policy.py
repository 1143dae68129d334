"""The policy of a namespace by its labels, and whether a violation rejects a pod."""

import pytest

from jobgate.podchecks.pod_security.checks import Level, PodSecurityViolation
from jobgate.podchecks.pod_security.policy import (
    ENFORCE,
    WARN,
    Certainty,
    Policy,
    Standard,
    labels_of,
    policy_of,
    standard,
)
from webhook.path import Path

BASELINE, RESTRICTED = Standard(Level.BASELINE), Standard(Level.RESTRICTED)


@pytest.mark.parametrize(
    "labels, policy",
    [
        ({}, Policy()),
        ({"team": "a"}, Policy()),
        ({ENFORCE: "baseline"}, Policy(BASELINE)),
        ({ENFORCE: "privileged", WARN: "restricted"}, Policy(warn=RESTRICTED)),
        ({ENFORCE: "baseline", f"{ENFORCE}-version": "latest"}, Policy(BASELINE)),
        ({ENFORCE: "baseline", f"{ENFORCE}-version": "v1.28"}, Policy(Standard(Level.BASELINE, 28))),
        ({WARN: "baseline", f"{WARN}-version": "v1.28"}, Policy(warn=Standard(Level.BASELINE, 28))),
        # What cannot be read: as strict as can be where it is enforced, nothing where it is warned of.
        ({ENFORCE: "Baseline", WARN: "Baseline"}, Policy(RESTRICTED)),
        ({ENFORCE: "baseline", f"{ENFORCE}-version": "1.28"}, Policy(BASELINE)),
        ({f"{ENFORCE}-version": "v1.28"}, Policy()),
    ],
)
def test_labels_are_read_as_the_api_server_reads_them(labels: dict[str, str], policy: Policy) -> None:
    assert policy_of(labels) == policy


@pytest.mark.parametrize("text", ["baseline", "restricted:latest", "restricted:v1.30", "privileged"])
def test_a_standard_is_written_as_it_is_read(text: str) -> None:
    assert policy_of(labels_of(standard(text))).enforce == standard(text)


def test_a_namespace_that_pins_an_unknown_definition_is_held_to_the_oldest_known_one() -> None:
    assert Standard(Level.BASELINE, 20).violated_by(violation()) is Certainty.YES
    assert Standard(Level.BASELINE, 20).violated_by(violation(since=27)) is Certainty.NO
    # Which asked for less.
    assert Standard(Level.RESTRICTED, 20).violated_by(violation(Level.RESTRICTED)) is Certainty.BY_VERSION


@pytest.mark.parametrize("text, fault", [("strict", "must be one of privileged, baseline, restricted"),
                                         ("baseline:v1.20", "must be v1.25 or later"),
                                         ("restricted:1.30", "must be latest or a version such as v1.34")])  # fmt: skip
def test_what_is_no_standard_is_reported(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        standard(text)


def violation(level: Level = Level.BASELINE, **when: int) -> PodSecurityViolation:
    return PodSecurityViolation(Path("spec"), True, "must not be", level, **when)


@pytest.mark.parametrize(
    "held, found, certainty",
    [
        ("baseline", violation(), Certainty.YES),
        ("restricted", violation(), Certainty.YES),
        ("baseline", violation(Level.RESTRICTED), Certainty.NO),
        ("privileged", violation(), Certainty.NO),
        # Whose version the API server is, is not known: the oldest that we are installed on, or any newer one.
        ("baseline", violation(since=28), Certainty.YES),
        ("baseline", violation(since=34), Certainty.BY_VERSION),
        ("baseline", violation(until=35), Certainty.BY_VERSION),
        ("baseline", violation(until=29), Certainty.NO),
        # An older API server takes its own version's definition for that of a newer one.
        ("baseline:v1.34", violation(since=34), Certainty.BY_VERSION),
        ("baseline:v1.34", violation(until=35), Certainty.YES),
        ("baseline:v1.33", violation(since=34), Certainty.NO),
        ("baseline:v1.25", violation(), Certainty.YES),
        ("baseline:v1.25", violation(since=27), Certainty.NO),
        ("baseline:v1.25", violation(until=27), Certainty.YES),
        ("baseline:v1.25", violation(Level.RESTRICTED), Certainty.NO),
    ],
)
def test_a_violation_rejects_by_level_and_version(held: str, found: PodSecurityViolation, certainty: Certainty) -> None:
    assert standard(held).violated_by(found) is certainty
