"""The objects that Volcano creates for its Job, and how they follow its changes."""

import random
from typing import Any

from controlplane.operators.vcjob import Volcano, pod
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.operators.conftest import example, stored

GROUP = "batch.volcano.sh/v1alpha1"
TIMEOUT = 60.0


def task(name: str, replicas: int = 1, **fields: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "main"}]}}
    return {"name": name, "replicas": replicas, "template": template, **fields}


def job(*tasks: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return stored({"metadata": {"name": "tf"}, "spec": {**spec, "tasks": list(tasks)}})


def test_a_pod_is_labelled_and_owned_as_volcano_does() -> None:
    worker = task("worker", 3)
    worker["template"]["metadata"] = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    metadata = pod(job(worker, queue="research"), worker, 2, [])["metadata"]
    assert metadata == {
        "labels": {
            "team": "a",
            "volcano.sh/task-index": "2",
            "volcano.sh/task-spec": "worker",
            "volcano.sh/job-name": "tf",
            "volcano.sh/job-namespace": "lab",
            "volcano.sh/queue-name": "research",
        },
        "annotations": {
            "note": "b",
            "volcano.sh/task-index": "2",
            "volcano.sh/task-spec": "worker",
            "volcano.sh/job-name": "tf",
            "volcano.sh/queue-name": "research",
            "volcano.sh/job-version": "0",
            "volcano.sh/job-retry-count": "0",
            "volcano.sh/template-uid": "tf-worker",
            "scheduling.k8s.io/group-name": "tf-0123",
        },
        "ownerReferences": [
            {
                "apiVersion": GROUP,
                "kind": "Job",
                "name": "tf",
                "uid": "0123",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def scale(space: Space, name: str, replicas: int) -> None:
    tasks = space.get("jobs", name, GROUP)["spec"]["tasks"]
    tasks[-1]["replicas"] = replicas
    space.patch("jobs", name, {"spec": {"tasks": tasks}}, GROUP)


def test_a_job_runs_and_is_scaled(space: Space) -> None:
    operator = Volcano(space.api, space.name)
    space.create("jobs", example("vcjob/tensorflow.yaml"), GROUP)

    assert operator.sync().refused == {}

    assert space.names("pods") == ["tf-job-ps-0", *(f"tf-job-worker-{index}" for index in range(5))]
    wait_for(lambda: space.phases() == ["Running"] * 6, TIMEOUT, what="all pods run")
    assert operator.sync().idle
    scale(space, "tf-job", 2)
    assert sorted(operator.sync().deleted) == [f"pods/tf-job-worker-{index}" for index in (2, 3, 4)]
    wait_for(lambda: len(space.items("pods")) == 3, TIMEOUT, what="the pods are gone")
    scale(space, "tf-job", 3)
    assert operator.sync().created == ["pods/tf-job-worker-2"]
    assert space.names("secrets") == []


def test_plugins_are_carried_out_if_it_is_asked_for(space: Space) -> None:
    operator = Volcano(space.api, space.name, plugins=True)
    space.create("jobs", example("vcjob/tensorflow.yaml"), GROUP)

    assert operator.sync().refused == {}

    assert space.names("secrets") == ["tf-job-ssh"]
    assert space.names("services") == ["tf-job"]
    assert space.names("networkpolicies", "networking.k8s.io/v1") == ["tf-job"]
    wait_for(lambda: space.phases() == ["Running"] * 6, TIMEOUT, what="all pods run")
    keys = space.get("secrets", "tf-job-ssh")["data"]
    assert operator.sync().idle
    scale(space, "tf-job", 1)
    assert operator.sync().rewritten == ["configmaps/tf-job-svc"]
    assert space.get("configmaps", "tf-job-svc")["data"]["VC_WORKER_HOSTS"] == "tf-job-worker-0.tf-job"
    assert space.get("secrets", "tf-job-ssh")["data"] == keys


def test_a_claim_is_made_and_named_in_the_job(space: Space) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    whole = example("vcjob/tensorflow.yaml")
    whole["spec"]["volumes"] = [{"mountPath": "/data", "volumeClaim": claim}]
    space.create("jobs", whole, GROUP)

    operator = Volcano(space.api, space.name, names=random.Random(1))
    assert operator.sync().refused == {}
    assert operator.sync().idle

    name = space.get("jobs", "tf-job", GROUP)["spec"]["volumes"][0]["volumeClaimName"]
    assert name.startswith("tf-job-pvc-")
    assert space.names("persistentvolumeclaims") == [name]


def test_a_task_is_made_when_the_one_before_it_runs(space: Space) -> None:
    operator = Volcano(space.api, space.name)
    space.create("jobs", example("vcjob/mpi.yaml"), GROUP)
    assert operator.sync().created == ["pods/mpi-worker-0", "pods/mpi-worker-1"]
    wait_for(lambda: space.phases() == ["Running"] * 2, TIMEOUT, what="the workers run")
    assert operator.sync().created == ["pods/mpi-master-0"]
    end_pod(space.api, space.name, "mpi-worker-0", exit_code=1)
    wait_for(lambda: "Failed" in space.phases(), TIMEOUT, what="a worker failed")
    assert operator.sync().idle, "what has started stays"
