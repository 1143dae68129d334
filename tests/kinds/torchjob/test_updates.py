"""Updates of stored TorchJobs."""

import copy
from typing import Any

import pytest

from tests.kinds.torchjob.jobs import (
    TASKS,
    container,
    elastic,
    faults,
    job,
    master,
    output,
    task,
    tasks,
    template,
    validate,
)
from tests.messages import compare

GENERATION = "distributed.io/generation-to-increase"


@pytest.mark.parametrize(
    "case, old, new",
    [
        ("the number of workers", job(), job(tasks(task(2)))),
        ("of workers in another case", job({"Master": task(), "worker": task(1)}), job({"Master": task(), "worker": task(2)})),
        ("the case of a key", job(), job({"master": master(), "WORKER": task(4)})),
        ("the case of a key and the number of its pods", job(), job({"master": master(), "worker": task(5)})),
        ("spot pods", job(), job(tasks(task(4, spotTaskSpec={"numSpotTasks": 2})))),
        ("dependencies, which the operator erases", job(tasks(task(4, dependsOn=[{"dependsOn": "Master"}]))), job()),
        ("minima", job(minMembers={"Worker": 1}), job(minMembers={"Worker": 2})),
        ("the run policy", job(), job(clenPodPolicy="Running", TTLSecondsAfterFinished=1, activeDurations=1, backoffLimit=1)),
        ("the run policy, spelled well", job(), job(cleanPodPolicy="All", ttlSecondsAfterFinished=1, activeDeadlineSeconds=1)),
        ("the priority", job(schedulingPolicy={"queue": "q"}), job(schedulingPolicy={"queue": "q", "priority": 9, "minAvailable": 2})),
        ("the bounds of scaling", job(**elastic()), job(**elastic(numMinReplicas=1, numMaxReplicas=4))),
        ("the operator's own annotation",
         job(), job(tasks(master=master(template=template() | {"metadata": {"annotations": {GENERATION: "2"}}})))),
        ("what typed clients write for nothing",
         job(), job(tasks(task(4, template={"metadata": {"labels": {}},
                                            "spec": {"containers": [container(resources={})]}})))),
        ("fields that the operator's types lack",
         job(tasks(task(4, template=template(container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]))))), job()),
    ],
)  # fmt: skip
def test_what_may_change_is_let_through(case: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert faults(validate(new, old)) == [], case


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (job({"Master": task()}), job({"Master": task(), "worker": task(2)}), [f"{TASKS}[worker]: Forbidden"]),
        (job(), job({"Master": master()}), [f"{TASKS}[Worker]: Forbidden"]),
        (job(), job({"Master": master(), "worker": task(4, template=template(container(image="other")))}),
         [f"{TASKS}[worker].template.spec.containers[0].image: Forbidden"]),
        (job(tasks(AIMaster=task())), job(tasks(AIMaster=task(2))), [f"{TASKS}[AIMaster].numTasks: Forbidden"]),
        (job(), job(tasks(task(4, restartPolicy="Always"))), [f"{TASKS}[Worker].restartPolicy: Forbidden"]),
        (job(), job(schedulingPolicy={"queue": "q"}), ["spec.schedulingPolicy.queue: Forbidden"]),
        (job(**elastic()), job(**elastic(rendezvousBackend="etcd")),
         ["spec.torchElasticPolicy.rendezvousBackend: Forbidden"]),
        (job(**elastic()), job(**elastic() | {"enableTorchElastic": False}), ["spec.enableTorchElastic: Forbidden"]),
        (job(**output()), job(**output(imageTag="v2")), ["spec.modelVersion.spec.imageTag: Forbidden"]),
    ],
)  # fmt: skip
def test_what_may_not_is_rejected(old: dict[str, Any], new: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/torchjob", faults(validate(new, old)), expected)


def test_a_job_that_is_applied_again_is_let_through_and_left_alone() -> None:
    document = job({"master": task(), "Worker": task(4)}, **output())
    assert faults(validate(document, copy.deepcopy(document) | {"spec": {**document["spec"], "backoffLimit": 1}})) == []
