"""The rules of a TorchJob's gangs."""

from typing import Any

import pytest
from msgspec.structs import replace

from jobgate.kinds.torchjob import TORCHJOB
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from tests.kinds.torchjob.jobs import faults, job, task, tasks, validate
from tests.messages import compare
from tests.plugins.crews import of_job


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(minMembers={"Worker": 5}), ["spec.minMembers[Worker]: Invalid value"]),
        (job(minMembers={"WORKER": 5}), ["spec.minMembers[WORKER]: Invalid value"]),
        (job(minMembers={"Worker": 0}), ["spec.minMembers[Worker]: Invalid value"]),
        (job({"Master": task()}, minMembers={"Worker": 1}), ["spec.minMembers[Worker]: Invalid value"]),
        (job(minMembers={"Evaluator": 1}), ["spec.minMembers[Evaluator]: Unsupported value"]),
        (job(tasks(AIMaster=task()), minMembers={"AIMaster": 1}), ["spec.minMembers[AIMaster]: Unsupported value"]),
        (job(minMembers={"Worker": 1, "worker": 2}), ["spec.minMembers[worker]: Duplicate value"]),
        (job(tasks(AIMaster=task()), schedulingPolicy={"minAvailable": 6}),
         ["spec.schedulingPolicy.minAvailable: Invalid value"]),
        (job(schedulingPolicy={"minAvailable": -1}), ["spec.schedulingPolicy.minAvailable: Invalid value"]),
        (job(schedulingPolicy={"minAvailable": 0}), []),
        (job(minMembers={}), []),
    ],
)  # fmt: skip
def test_a_gang_needs_no_more_pods_than_there_are(document: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/torchjob", faults(validate(document)), expected)


def test_a_gang_gets_a_pod_group_from_the_installation() -> None:
    """As published, torch-on-k8s makes none."""
    arguments = QueueingArguments(system=System.COSCHEDULING)
    result = replace(of_job(TORCHJOB, job(schedulingPolicy={"minAvailable": 3})), plugins={Queueing.name: arguments})
    assert Queueing.name in result.ours
    (declared,) = Queueing().objects(result, arguments)
    assert (declared.manifest["kind"], declared.manifest["spec"]) == ("PodGroup", {"minMember": 3})
