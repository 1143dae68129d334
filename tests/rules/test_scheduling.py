"""Queue, scheduler and priority class: their names, and the priorities within a gang."""

from typing import Any

import pytest

from jobgate.rules.scheduling import scheduling_rules
from tests.messages import compare
from tests.rules.builder import Json, faults, job, notices, task, template

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
    compare("rules", faults(job(**spec), scheduling_rules), expected)


def urgent(name: str | None, replicas: int = 1, **fields: Any) -> Json:
    """Return a task with a priority class."""
    return task(name, replicas, template=template(priorityClassName="urgent"), **fields)


@pytest.mark.parametrize(
    "case, document",
    [
        ("no task has one", job(task("a"), task("b"))),
        ("all have one", job(urgent("a"), urgent("b"))),
        ("the job has one for the others", job(urgent("a"), task("b"), priorityClassName="low")),
        ("no gang: the job needs one pod at least", job(urgent("a"), task("b"), minAvailable=1)),
        ("a task without pods is no part of the gang", job(urgent("a", 2), task("b", 0))),
        ("one task only", job(task("a", 3))),
        ("a class that is empty is none", job(task("a", template=template(priorityClassName="")), task("b"))),
        ("a template that is any JSON", job(task("a", template={"spec": []}), task("b", template={"spec": {"priorityClassName": 3}}))),
    ],
)  # fmt: skip
def test_a_gang_whose_priorities_agree_gets_no_warning(case: str, document: Json) -> None:
    assert notices(document, scheduling_rules) == [], case


WAITS = "the gang waits for these pods, which get the default priority of the cluster"


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(urgent("learner"), task("actor", 4)),
         [f"spec.tasks[1].template.spec.priorityClassName: not set, but spec.tasks[0] of this gang has a priority class: "
          f"{WAITS}"]),
        (job(task("a"), urgent("b"), task("c"), urgent(None)),
         [f"spec.tasks[{index}].template.spec.priorityClassName: not set, but spec.tasks[1] of this gang has a priority class: "
          f"{WAITS}" for index in (0, 2)]),
    ],
)  # fmt: skip
def test_each_task_of_a_gang_without_a_priority_is_reported(document: Json, expected: list[str]) -> None:
    assert (faults(document, scheduling_rules), notices(document, scheduling_rules)) == ([], expected)
