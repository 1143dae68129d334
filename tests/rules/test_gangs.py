"""Gangs: minima that can be reached pass, others are rejected with both numbers and what to do."""

import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job
from jobgate.rules.gangs import gang_rules
from tests.messages import compare
from tests.rules.builder import GANG, GangSpec, Json, faults, job, notices, task

MOST = 10_000


@pytest.mark.parametrize(
    "document, least",
    [
        (job(task("a", 4), task("b", 2)), 6),
        (job(task("a", 4, minAvailable=1), task("b", 2)), 3),
        (job(task("a", 4, minAvailable=1), task("b", 2), minAvailable=5), 5),
        (job(task("a", 4), minAvailable=0), 0),
        (job(task("a", 4, minAvailable=0)), 0),
    ],
)
def test_the_minimum_is_the_jobs_or_the_sum_of_the_tasks(document: Json, least: int) -> None:
    assert gang_minimum(Job(GANG, document, GangSpec.model_validate(document["spec"]))) == least


@pytest.mark.parametrize(
    "case, document",
    [
        ("no minimum", job(task("a", 3))),
        ("all pods", job(task("a", 3), task("b", 3), minAvailable=6)),
        ("a task's minimum is its replicas", job(task("a", 3, minAvailable=3))),
        ("no pods at all", job(task("a", 0), minAvailable=0)),
        ("as many pods as a job may have", job(task("a", MOST), task("b", 0))),
    ],
)
def test_what_can_be_reached_is_allowed(case: str, document: Json) -> None:
    assert (faults(document, gang_rules), notices(document, gang_rules)) == ([], []), case


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(task("a", 3), task("b", 2), minAvailable=6), ["spec.minAvailable: Invalid value"]),
        (job(task("a", 3, minAvailable=4), task("b", minAvailable=1), task("c", 0, minAvailable=1)),
         ["spec.tasks[0].minAvailable: Invalid value", "spec.tasks[2].minAvailable: Invalid value"]),
        (job(task("a", MOST - 1), task("b", 2), task("c", 2**31 - 1)), ["spec.tasks[1].replicas: Invalid value"]),
        (job(task("a", "3"), task("b", minAvailable=2), minAvailable=9),
         ["spec.tasks[0].replicas: Invalid value", "spec.tasks[1].minAvailable: Invalid value"]),
    ],
)  # fmt: skip
def test_what_cannot_be_reached_is_rejected(document: Json, expected: list[str]) -> None:
    compare("rules", faults(document, gang_rules), expected)


@pytest.mark.parametrize(
    "case, document, expected",
    [
        ("the job's minimum is the sum", job(task("a", 4, minAvailable=2), task("b"), minAvailable=3), []),
        ("no task has a minimum", job(task("a", 4), minAvailable=3), []),
        ("the job has none", job(task("a", 4, minAvailable=2)), []),
        ("the job asks for no gang", job(task("a", 4, minAvailable=2), minAvailable=0), []),
        ("a minimum that is refused has no sum", job(task("a", 4, minAvailable=5), minAvailable=3), []),
        ("below", job(task("a", 4, minAvailable=2), task("b", 2, minAvailable=2), minAvailable=3),
         ["spec.minAvailable:"]),
        ("minima that defaults may have made", job(task("a", 4, minAvailable=4), task("b", 2, minAvailable=2), minAvailable=3), []),
        ("one minimum that is meant, one that a default may have made",
         job(task("a", 4, minAvailable=2), task("b", 2, minAvailable=2), minAvailable=3), ["spec.minAvailable:"]),
        ("above", job(task("a", 4, minAvailable=1), task("b", 2), minAvailable=5), ["spec.minAvailable:"]),
    ],
)  # fmt: skip
def test_minima_that_differ_are_explained(case: str, document: Json, expected: list[str]) -> None:
    compare("rules", notices(document, gang_rules), expected)


LARGE = job(task("a", MOST + 5), task("b", 5), task("c", 1))


@pytest.mark.parametrize(
    "case, document, denied, warnings",
    [
        ("it is changed otherwise", job(*LARGE["spec"]["tasks"], queue="research"), 0, 1),
        ("pods move from one task to another", job(task("a", MOST + 4), task("b", 6), task("c", 1)), 0, 1),
        ("it shrinks", job(task("a", MOST + 5), task("b", 1), task("c", 1)), 0, 1),
        ("it shrinks to what jobs may have", job(task("a", MOST - 2), task("b", 1), task("c", 1)), 0, 0),
        ("the task grows", job(task("a", MOST + 6), task("b", 5), task("c", 1)), 1, 0),
        ("a task after it grows", job(task("a", MOST + 5), task("b", 5), task("c", 1000)), 1, 0),
        ("a task is added", job(*LARGE["spec"]["tasks"], task("d", 1)), 1, 0),
    ],
)
def test_a_stored_job_that_is_too_large_may_shrink_and_not_grow(
    case: str, document: Json, denied: int, warnings: int
) -> None:
    result = faults(document, gang_rules, LARGE), notices(document, gang_rules, LARGE)
    assert tuple(map(len, result)) == (denied, warnings), case


def test_an_installation_sets_the_most_pods() -> None:
    document = job(task("a", 4), task("b", 3))
    assert [faults(document, gang_rules, settings=Settings(job_pods=most)) for most in (7, 6)] == [
        [],
        [
            "spec.tasks[1].replicas: Invalid value: 3: the tasks have 7 pods in all, and jobs may have at most 6: "
            "use fewer pods, or have jobgate's setting job-pods raised"
        ],
    ]
