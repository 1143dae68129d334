"""Queue, scheduler and priority class: names that can be pass, others are refused with the reason."""

import pytest

from jobgate.kinds.common.scheduling import scheduling_rules
from tests.kinds.common.gangs import faults, job

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
        ({"queue": "Research"}, [f'spec.queue: Invalid value: "Research": {SUBDOMAIN}']),
        ({"queue": "a..b"}, [f'spec.queue: Invalid value: "a..b": {SUBDOMAIN}']),
        ({"queue": "default\n"}, [f'spec.queue: Invalid value: "default\\n": {SUBDOMAIN}']),
        ({"queue": "q" * 254}, [f'spec.queue: Too long: "{"q" * 120}…": may not be more than 253 characters']),
        ({"schedulerName": "my_scheduler"}, [f'spec.schedulerName: Invalid value: "my_scheduler": {SUBDOMAIN}']),
        ({"schedulerName": "s" * 64}, [f'spec.schedulerName: Too long: "{"s" * 64}": may not be more than 63 characters']),
        ({"priorityClassName": "-high"}, [f'spec.priorityClassName: Invalid value: "-high": {SUBDOMAIN}']),
        ({"priorityClassName": "p" * 254},
         [f'spec.priorityClassName: Too long: "{"p" * 120}…": may not be more than 253 characters']),
        ({"queue": 3, "schedulerName": "A"},
         ["spec.queue: Invalid value: 3: must be a string", f'spec.schedulerName: Invalid value: "A": {SUBDOMAIN}']),
    ],
)  # fmt: skip
def test_names_that_cannot_be_are_refused(spec: dict[str, object], expected: list[str]) -> None:
    assert faults(job(**spec), scheduling_rules) == expected
