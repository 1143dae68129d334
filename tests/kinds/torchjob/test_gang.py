"""The rules of a TorchJob's gangs."""

from typing import Any

import pytest

from tests.kinds.torchjob.jobs import faults, job, task, tasks, validate


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(minMembers={"Worker": 5}), ["spec.minMembers[Worker]: Invalid value: 5: must be at most 4, the replicas of the task"]),
        (job(minMembers={"WORKER": 5}), ["spec.minMembers[WORKER]: Invalid value: 5: must be at most 4, the replicas of the task"]),
        (job(minMembers={"Worker": 0}), ["spec.minMembers[Worker]: Invalid value: 0: must be at least 1"]),
        (job({"Master": task()}, minMembers={"Worker": 1}),
         ['spec.minMembers[Worker]: Invalid value: "Worker": the job has no Worker task: remove the key, or add the task']),
        (job(minMembers={"Evaluator": 1}),
         ['spec.minMembers[Evaluator]: Unsupported value: "Evaluator": supported values: "Master", "Worker"']),
        (job(tasks(AIMaster=task()), minMembers={"AIMaster": 1}),
         ['spec.minMembers[AIMaster]: Unsupported value: "AIMaster": supported values: "Master", "Worker"']),
        (job(minMembers={"Worker": 1, "worker": 2}),
         ['spec.minMembers[worker]: Duplicate value: "worker": same task as spec.minMembers[Worker]: keys are case-insensitive']),
        (job(tasks(AIMaster=task()), schedulingPolicy={"minAvailable": 6}),
         ["spec.schedulingPolicy.minAvailable: Invalid value: 6: must be at most 5, the total replicas of the Master and the Worker"]),
        (job(schedulingPolicy={"minAvailable": -1}),
         ["spec.schedulingPolicy.minAvailable: Invalid value: -1: must be at least 0"]),
        (job(schedulingPolicy={"minAvailable": 0}), []),
        (job(minMembers={}), []),
    ],
)  # fmt: skip
def test_a_gang_needs_no_more_pods_than_there_are(document: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(document)) == expected
