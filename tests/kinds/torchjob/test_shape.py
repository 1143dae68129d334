"""The shape of a TorchJob: what its CRD takes, keeps and shows, and what it costs to judge hostile ones."""

import copy
import time
from typing import Any

import jsonpatch
import pytest

from crdgen import crd
from crdgen.evaluate import Evaluator
from jobgate.installation.definitions import resource_of
from jobgate.kinds.torchjob import TORCHJOB
from tests.kinds.torchjob.jobs import container, faults, job, mutate, task, tasks, template, validate

VERSION = crd(resource_of(TORCHJOB))["spec"]["versions"][0]
EVALUATOR = Evaluator(VERSION["schema"]["openAPIV3Schema"])
STATUS: dict[str, Any] = {
    "conditions": [
        {
            "type": "Running",
            "status": "True",
            "reason": "JobRunning",
            "message": "runs",
            "lastUpdateTime": "2026-01-01T00:00:00Z",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ],
    "taskStatuses": {"Worker": {"active": 2, "succeed": 1, "failed": 1, "evicted": 1}},
    "elasticScalingStatues": {
        "Worker": {
            "elasticCondition": "Continue",
            "continue": True,
            "curReplicas": 4,
            "lastReplicas": 2,
            "lastUpdateTime": "2026-01-01T00:00:00Z",
            "message": "goes on",
        }
    },
    "startTime": "2026-01-01T00:00:00Z",
    "completionTime": "2026-01-01T01:00:00Z",
    "modelVersionName": "mv-job-abcde",
}


@pytest.mark.parametrize(
    "status", [STATUS, {}, {"taskStatuses": {"Worker": {"succeeded": 1}}, "elasticScalingStatuses": {}}]
)
def test_the_status_of_the_operator_is_kept_whole(status: dict[str, Any]) -> None:
    document = job() | {"status": status}
    assert EVALUATOR.prune(document)["status"] == status
    assert EVALUATOR.validate(document) == []


def test_every_printed_column_is_a_field() -> None:
    properties = VERSION["schema"]["openAPIV3Schema"]["properties"]
    for column in VERSION["additionalPrinterColumns"]:
        _, room, field = column["jsonPath"].replace("[-1:]", "").split(".")[:3]
        assert room == "metadata" or field in properties[room]["properties"], column


@pytest.mark.parametrize(
    "parts", [tasks(), {"master": task(), "WORKER": task(4)}, {"Master": task(template=template(container(ports=[])))}]
)
def test_a_file_that_is_applied_twice_gives_the_same_object(parts: dict[str, Any]) -> None:
    document = job(parts)
    stored = jsonpatch.apply_patch(document, list(mutate(document).patch))
    again = copy.deepcopy(document)
    assert jsonpatch.apply_patch(again, list(mutate(again, stored).patch)) == stored
    assert list(stored["spec"]["torchTaskSpecs"]) == list(parts)
    assert validate(stored, again).allowed


@pytest.mark.parametrize("field", ["torchTaskSpecs", "minMembers", "dependsOn", "labels"])
def test_hostile_jobs_cost_linear_time(field: str) -> None:
    def cost(count: int) -> float:
        names = [f"task{index}" for index in range(count)]
        worker = task(1, spotTaskSpec={"labels": dict.fromkeys(names, "v")} if field == "labels" else {})
        if field == "dependsOn":
            worker["dependsOn"] = [{"dependsOn": "Master"} for _ in names]
        parts = tasks(worker, **({name: {"template": {}} for name in names} if field == "torchTaskSpecs" else {}))
        document = job(parts)
        if field == "minMembers":
            document["spec"]["minMembers"] = dict.fromkeys(names, 1)
        old = copy.deepcopy(document) | {"spec": {**document["spec"], "backoffLimit": 1}}
        start = time.process_time()
        faults(validate(document, old))
        return time.process_time() - start

    for count in (100, 1600):  # what is compiled for sound jobs, and for those that are not
        cost(count)
    # Eight times as many would cost 64 times as much if it were the square.
    # The least of three: a collection of garbage that other tests left is no cost of a job.
    assert min(cost(1600) for _ in range(3)) < 40 * max(cost(200), 0.01)
