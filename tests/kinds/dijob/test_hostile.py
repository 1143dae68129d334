"""Jobs that were written to hurt: they are answered, in time, and tell nobody what they should not."""

import time
from typing import Any

import pytest

from jobgate.jobs.context import Context
from jobgate.kinds.dijob import DIJOB
from jobgate.limits import ENTRIES_LIMIT
from tests.kinds.dijob.jobs import faults, job, mutate, task, template, validate
from webhook.review import defaulted

SECRET = "hunter2"


def with_container(**fields: Any) -> dict[str, Any]:
    """Return a job with one container that has these fields."""
    return job(task("learner", template=template(containers=[{"name": "main", "image": "ding", **fields}])))


@pytest.mark.parametrize(
    "document",
    [
        with_container(env=[{"name": "PASSWORD", "value": [SECRET]}]),
        with_container(env=[SECRET]),
        with_container(env={"PASSWORD": SECRET}),
        with_container(command=f"login --password {SECRET}"),
        with_container(args=[{"password": SECRET}]),
        job(task("learner", template=template(containers={"env": [{"name": "PASSWORD", "value": SECRET}]}))),
        job([{"template": SECRET}]),
    ],
)
def test_a_value_of_the_wrong_type_is_not_shown_where_it_may_be_a_secret(document: dict[str, Any]) -> None:
    reported = faults(validate(document))
    assert reported
    assert SECRET not in str(reported)


def test_of_a_numeric_password_the_type_is_shown() -> None:
    document = with_container(env=[{"name": "PASSWORD", "value": 123456}])
    assert faults(validate(document)) == [
        'spec.tasks[0].template.spec.containers[0].env[0].value: Invalid value: "integer": must be a string'
    ]


@pytest.mark.parametrize("depth", [900, 20_000])
def test_an_update_survives_any_nesting(depth: int) -> None:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    assert not validate(job(nested), job(task("learner"))).allowed
    assert not mutate(job(nested, task("learner")), job(nested)).patch


def test_the_volumes_of_a_job_are_judged_once_and_not_with_every_task() -> None:
    volumes = [{"name": f"v{index}", "emptyDir": {}} for index in range(400)]
    tasks = [task(name=f"t{index}") for index in range(400)]

    def seconds(*documents: Any) -> float:
        """Return the least CPU time of this thread for reviews that find nothing: others, and garbage, do not count."""
        spent = []
        for _ in range(3):
            start = time.thread_time()
            assert [fault for document in documents for fault in faults(validate(document))] == []
            spent.append(time.thread_time() - start)
        return min(spent)

    # The product of both costs some thirty times as much as both apart.
    apart = seconds(job(*tasks), job(tasks[0], volumes=volumes))
    assert seconds(job(*tasks, volumes=volumes)) < 12 * apart


def test_a_flood_of_faults_ends_the_review_early() -> None:
    document = job(*({"replicas": "x", "minAvailable": "x"} for _ in range(ENTRIES_LIMIT)))
    for ask in (mutate, validate):
        response = ask(document)
        assert not response.allowed
        assert len(response.causes) == 1000
        assert len(response.status()["details"]["causes"]) == 201


def test_a_wrong_request_of_a_device_is_not_written_a_second_time_as_its_limit() -> None:
    container = {"name": "main", "image": "ding", "resources": {"requests": {"nvidia.com/gpu": "1.5"}}}
    result = faults(validate(job(task("learner", template=template(containers=[container])))))
    assert [fault for fault in result if 'Invalid value: "1.5"' in fault] == [
        'spec.tasks[0].template.spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "1.5": '
        "must be a whole number: extended resources cannot be divided"
    ]


def test_a_job_of_more_tasks_than_there_may_be_gets_no_defaults() -> None:
    document, most = (job(*[task("learner")] * count) for count in (ENTRIES_LIMIT + 1, ENTRIES_LIMIT))
    assert not defaulted(DIJOB, document, Context()).patch
    assert defaulted(DIJOB, most, Context()).patch
    assert faults(validate(document))[0] == "spec.tasks: Too many: 1001: must have at most 1000 items"
