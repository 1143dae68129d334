"""Queue, scheduler and priority class: names that can be pass, others are rejected with the reason."""

import pytest

from jobgate.kinds.common.scheduling import scheduling_rules
from tests.kinds.common.gangs import faults, job
from tests.kinds.messages import compare

SUBDOMAIN = (
    "must consist of lower case letters, digits, '-' and '.', and each part between dots must begin and end with a "
    "letter or a digit"
)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"queue": "research.vision", "schedulerName": "volcano", "priorityClassName": "urgent"},
        {"queue": "", "schedulerName": "", "priorityClassName": ""},
        {"priorityClassName": "system-cluster-critical"},
        {"priorityClassName": "system-node-critical"},
        {"queue": "q" * 253, "schedulerName": "s" * 63, "priorityClassName": "p" * 253},
    ],
)
def test_names_that_can_be_are_allowed(spec: dict[str, object]) -> None:
    assert faults(job(**spec), scheduling_rules) == []


@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"queue": "Research"}, ["spec.queue: Invalid value"]),
        ({"queue": "a..b"}, ["spec.queue: Invalid value"]),
        ({"queue": "default\n"}, ["spec.queue: Invalid value"]),
        ({"queue": "q" * 254}, ["spec.queue: Too long"]),
        ({"schedulerName": "my_scheduler"}, ["spec.schedulerName: Invalid value"]),
        ({"schedulerName": "s" * 64}, ["spec.schedulerName: Too long"]),
        ({"priorityClassName": "-high"}, ["spec.priorityClassName: Invalid value"]),
        ({"priorityClassName": "p" * 254}, ["spec.priorityClassName: Too long"]),
        ({"queue": 3, "schedulerName": "A"}, ["spec.queue: Invalid value", "spec.schedulerName: Invalid value"]),
    ],
)  # fmt: skip
def test_names_that_cannot_be_are_rejected(spec: dict[str, object], expected: list[str]) -> None:
    compare("common", faults(job(**spec), scheduling_rules), expected)
