"""The objects that torch-on-k8s creates for a TorchJob, and how they follow its changes."""

from typing import Any

import pytest

from controlplane.operators.torchjob import TorchOnK8s, defaulted, pod
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.operators.conftest import env_of, example, stored

GROUP = "train.distributed.io/v1alpha1"
TIMEOUT = 60.0


def task(tasks: int = 1, container: str = "torch", **fields: Any) -> dict[str, Any]:
    return {"numTasks": tasks, "template": {"spec": {"containers": [{"name": container}]}}, **fields}


def job(annotations: dict[str, str] | None = None, spec: dict[str, Any] | None = None, **tasks: Any) -> dict[str, Any]:
    metadata = {"name": "bert", "annotations": annotations or {}}
    return defaulted(stored({"metadata": metadata, "spec": {**(spec or {}), "torchTaskSpecs": tasks}}))


def made(job: dict[str, Any], kind: str, index: int = 0) -> dict[str, Any]:
    return pod(job, kind, index).body


def test_a_pod_is_named_labelled_and_owned_as_the_operator_does() -> None:
    worker = task(2)
    worker["template"]["metadata"] = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    metadata = made(job(Master=task(), Worker=worker), "Worker", 1)["metadata"]
    assert metadata == {
        "name": "bert-worker-1",
        "namespace": "lab",
        "labels": {
            "team": "a",
            "group-name": "train.distributed.io",
            "job-name": "bert",
            "task-type": "worker",
            "task-index": "1",
        },
        "annotations": {"note": "b"},
        "ownerReferences": [
            {
                "apiVersion": GROUP,
                "kind": "TorchJob",
                "name": "bert",
                "uid": "0123",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


@pytest.mark.parametrize(
    ("kind", "index", "address", "rank"),
    [
        ("Master", 0, "localhost", "0"),
        ("Worker", 1, "bert-master-0", "2"),
        ("AIMaster", 0, "bert-master-0", "1"),
    ],
)
def test_each_task_is_told_its_rank_and_the_masters_address(kind: str, index: int, address: str, rank: str) -> None:
    whole = job(AIMaster=task(container="ai"), Master=task(), Worker=task(3))
    assert env_of(made(whole, kind, index)["spec"]["containers"][0]) == {
        "MASTER_ADDR": address,
        "MASTER_PORT": "23456",
        "RANK": rank,
        "WORLD_SIZE": "4",
        "PYTHONUNBUFFERED": "0",
    }


def scale(space: Space, name: str, tasks: int) -> None:
    space.patch("torchjobs", name, {"spec": {"torchTaskSpecs": {"Worker": {"numTasks": tasks}}}}, GROUP)


def test_a_job_runs_master_first_and_is_scaled(space: Space) -> None:
    operator = TorchOnK8s(space.api, space.name)
    space.create("torchjobs", example("torchjob/queued-gang.yaml"), GROUP)

    assert operator.sync().created == ["pods/resnet-master-0", "services/resnet-master-0"]
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the master runs")
    assert operator.sync().created == [f"pods/resnet-worker-{index}" for index in range(4)]
    wait_for(lambda: space.phases() == ["Running"] * 5, TIMEOUT, what="all pods run")
    assert operator.sync().idle

    scale(space, "resnet", 1)
    assert sorted(operator.sync().deleted) == [f"pods/resnet-worker-{index}" for index in (1, 2, 3)]
    wait_for(lambda: len(space.items("pods")) == 2, TIMEOUT, what="the pods are gone")
    scale(space, "resnet", 2)
    assert operator.sync().created == ["pods/resnet-worker-1"]


def test_with_an_aimaster_all_wait_until_it_is_ready(space: Space) -> None:
    operator = TorchOnK8s(space.api, space.name)
    whole = example("torchjob/spot-workers.yaml")
    del whole["spec"]["torchTaskSpecs"]["Worker"]["spotTaskSpec"]["priorityClassName"]
    space.create("torchjobs", whole, GROUP)
    assert operator.sync().created == ["pods/gpt-aimaster-0"]
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the AIMaster runs")
    assert operator.sync().idle
    space.patch("torchjobs", "gpt", {"metadata": {"annotations": {"aimaster": "ready"}}}, GROUP)
    assert operator.sync().created == ["pods/gpt-master-0", "services/gpt-master-0"]
    # The finalizer of its pods is the operator's to take off.
    scale(space, "gpt", 0)
    wait_for(lambda: space.phases() == ["Running"] * 2, TIMEOUT, what="the master runs")
    scale(space, "gpt", 1)
    assert operator.sync().created == ["pods/gpt-worker-0"]
    scale(space, "gpt", 0)
    assert operator.sync().deleted == ["pods/gpt-worker-0"]
    wait_for(lambda: not space.exists("pods", "gpt-worker-0"), TIMEOUT, what="the worker is gone")

    space.delete("pods", "gpt-master-0")
    assert space.exists("pods", "gpt-master-0")
    operator.sync()
    wait_for(lambda: not space.exists("pods", "gpt-master-0"), TIMEOUT, what="the master is gone")
    # Nothing must be in the way of the namespace's end.
    space.delete("torchjobs", "gpt", GROUP)
    space.delete("pods", "gpt-aimaster-0")
    operator.sync()


@pytest.mark.parametrize(("code", "deleted"), [(137, ["pods/minimal-master-0"]), (1, [])])
def test_a_failed_pod_is_replaced_if_its_exit_code_may_go_away(space: Space, code: int, deleted: list[str]) -> None:
    operator = TorchOnK8s(space.api, space.name)
    space.create("torchjobs", example("torchjob/minimal.yaml"), GROUP)
    operator.sync()
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the master runs")
    end_pod(space.api, space.name, "minimal-master-0", code)
    wait_for(lambda: space.phases() == ["Failed"], TIMEOUT, what="the master failed")
    assert operator.sync().deleted == deleted
