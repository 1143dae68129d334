"""Jobs as users of DI-orchestrator write them, and the slips that they make."""

from typing import Any

import pytest

from tests.kinds.dijob.jobs import faults, job, mutate, task, template, validate
from tests.messages import compare

POD = "spec.tasks[0].template.spec"
IMAGE = {"name": "data", "image": {"reference": "data"}}


def main_container(resources: dict[str, Any]) -> dict[str, Any]:
    """Return a job whose main container has these resources."""
    container = {"name": "di-container", "image": "ding", "resources": resources}
    return job(task("learner", template=template(containers=[container])))


@pytest.mark.parametrize(
    "limits, fault",
    [
        ({"cpu": "-1"}, 'limits[cpu]: Invalid value: "-1": must not be negative'),
        ({"nvidia.com/gpu": "1.5"}, 'limits[nvidia.com/gpu]: Invalid value: "1.5": must be a whole number: extended resources cannot be divided'),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_one_fault_though_requests_follow_limits(limits: dict[str, Any], fault: str) -> None:
    document = main_container({"limits": limits})
    assert [operation["path"] for operation in mutate(document).patch if "requests" in operation["path"]] == []
    assert faults(validate(document)) == [f"{POD}.containers[0].resources.{fault}"]


@pytest.mark.parametrize(
    "metadata, expected",
    [
        ({"labels": {"version": 1}}, ["metadata.labels[version]: Invalid value"]),
        ({"labels": []}, ["metadata.labels: Invalid value"]),
        ({"labels": {"team": "a b"}}, ["metadata.labels[team]: Invalid value"]),
        ({"annotations": {"token": 5}}, ["metadata.annotations[token]: Invalid value"]),
        ({"finalizers": "x"}, ["metadata.finalizers: Invalid value"]),
        ({"namespace": 5}, ["metadata.namespace: Invalid value"]),
        ({"labels": {"a": None}, "annotations": None, "finalizers": None, "creationTimestamp": None}, []),
        ({"labels": {"example.com/team": "rl", "empty": ""}, "annotations": {"Example.com/Note": "a b"}}, []),
    ],
)  # fmt: skip
def test_metadata_is_held_to_what_the_api_server_takes(metadata: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/dijob", faults(validate(job(task("learner"), metadata={"name": "job", **metadata}))), expected)


@pytest.mark.parametrize("metadata", [[], "job", 5])
def test_metadata_that_is_no_object_is_one_fault(metadata: Any) -> None:
    (fault,) = faults(validate(job(task("learner")) | {"metadata": metadata}))
    assert fault.endswith("must be an object")


def test_a_volume_of_the_job_that_the_operator_would_empty_is_rejected_once() -> None:
    reported = faults(validate(job(task("learner"), task("collector"), volumes=[IMAGE])))
    assert [fault.split(": ")[:2] for fault in reported] == [["spec.volumes[0].image", "Forbidden"]]


def test_volumes_of_the_job_are_known_to_every_template() -> None:
    mount = template(containers=[{"name": "main", "image": "i", "volumeMounts": [{"name": "b", "mountPath": "/b"}]}])
    twice = template(volumes=[{"name": "c", "emptyDir": {}}])
    volumes = [{"name": name, "emptyDir": {}} for name in "abc"]
    document = job(
        task("learner"), task("collector", template=mount), task("evaluator", template=twice), volumes=volumes
    )
    assert faults(validate(document)) == [
        'spec.volumes[2].name: Duplicate value: "c": already used by spec.tasks[2].template.spec.volumes[0]'
    ]
