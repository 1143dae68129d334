"""What torch-on-k8s makes of a TorchJob, and how it follows the job."""

from typing import Any

import pytest

from controlplane.operators.torchjob import TorchOnK8s, defaulted, pod, port_of, service
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


def test_a_master_is_labelled_as_one() -> None:
    assert made(job(Master=task()), "Master")["metadata"]["labels"]["task-role"] == "master"


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


def test_the_variables_come_after_the_users_own_and_not_into_init_containers() -> None:
    master = task()
    master["template"]["spec"] |= {
        "containers": [{"name": "torch", "env": [{"name": "RANK", "value": "7"}]}],
        "initContainers": [{"name": "before"}],
    }
    spec = made(job(Master=master), "Master")["spec"]
    assert [one["value"] for one in spec["containers"][0]["env"] if one["name"] == "RANK"] == ["7", "0"]
    assert "env" not in spec["initContainers"][0]


def test_what_a_job_leaves_out_is_filled_in() -> None:
    master, worker = ({"template": {"spec": {"containers": [{"name": "torch"}]}}} for _ in range(2))
    tasks = job(master=master, Worker=worker)["spec"]["torchTaskSpecs"]
    assert {kind: (one["numTasks"], one["restartPolicy"]) for kind, one in tasks.items()} == {
        "Master": (1, "ExitCode"),
        "Worker": (1, "OnFailure"),
    }
    assert (port_of(tasks["Master"]), port_of(tasks["Worker"])) == (23456, 0)
    container = tasks["Worker"]["template"]["spec"]["containers"][0]
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"


@pytest.mark.parametrize(
    ("policy", "expected"), [("ExitCode", "Never"), ("OnFailure", "OnFailure"), ("Always", "Always")]
)
def test_the_restart_policy_is_the_tasks_and_not_the_templates(policy: str, expected: str) -> None:
    worker = task(restartPolicy=policy)
    worker["template"]["spec"]["restartPolicy"] = "mine"
    assert made(job(Master=task(), Worker=worker), "Worker")["spec"]["restartPolicy"] == expected


@pytest.mark.parametrize(("index", "is_spot"), [(0, False), (1, False), (2, True)])
def test_the_last_tasks_are_spot(index: int, is_spot: bool) -> None:
    worker = task(3, spotTaskSpec={"numSpotTasks": 1, "priorityClassName": "spot", "labels": {"pool": "spot"}})
    worker["template"]["spec"]["priorityClassName"] = "usual"
    body = made(job(Master=task(), Worker=worker), "Worker", index)
    assert body["spec"]["priorityClassName"] == ("spot" if is_spot else "usual")
    assert ("pool" in body["metadata"]["labels"]) == is_spot


def test_an_elastic_job_has_arguments_before_the_users_own() -> None:
    policy = {"numMinReplicas": 2, "numMaxReplicas": 8, "rendezvousBackend": "c10d", "rendezvousEndpoint": "host:29400"}
    master = task()
    master["template"]["spec"]["containers"][0]["args"] = ["train.py"]
    whole = job(spec={"enableTorchElastic": True, "torchElasticPolicy": policy}, Master=master)
    assert made(whole, "Master")["spec"]["containers"][0]["args"] == [
        "--rdzv_backend=c10d",
        "--rdzv_endpoint=host:29400",
        "--rdzv_id=bert",
        "--nproc_per_node=1",
        "--nnodes=2:8",
        "train.py",
    ]


def test_a_job_that_an_aimaster_scales_tells_its_size_by_annotation() -> None:
    body = made(job({"distributed.io/enable-elastic-training": "true"}, Master=task(), Worker=task(2)), "Worker")
    assert body["metadata"]["annotations"] == {"distributed.io/world-size": "3"}
    assert body["metadata"]["labels"]["distributed.io/job-generation"] == "1"
    assert body["metadata"]["finalizers"] == ["distributed.io/preempt-protector"]
    assert body["spec"]["restartPolicy"] == "OnFailure"
    assert [one["name"] for one in body["spec"]["initContainers"]] == ["master-waiter"]
    size = next(one for one in body["spec"]["containers"][0]["env"] if one["name"] == "WORLD_SIZE")
    assert size["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.annotations['distributed.io/world-size']"}}


@pytest.mark.parametrize(
    ("storage", "source"),
    [
        (
            {"nfs": {"server": "nfs", "path": "/m", "mountPath": "/model"}},
            {"nfs": {"server": "nfs", "path": "/m"}},
        ),
        ({"localStorage": {"path": "/m", "mountPath": "/model"}}, {"hostPath": {"path": "/m"}}),
    ],
)
def test_a_model_has_a_place_in_every_container(storage: dict[str, Any], source: dict[str, Any]) -> None:
    whole = job(spec={"modelVersion": {"spec": {"storage": storage}}}, Master=task())
    spec = made(whole, "Master")["spec"]
    assert spec["volumes"] == [{"name": "modelvolume", **source}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "modelvolume", "mountPath": "/model"}]
    assert env_of(spec["containers"][0])["TORCH_ON_K8S_MODEL_PATH"] == "/model"


def test_a_service_is_headless_and_finds_one_task() -> None:
    body = service(job(Master=task()), "Master", 0, 23456).body
    labels = {"group-name": "train.distributed.io", "job-name": "bert", "task-type": "master", "task-index": "0"}
    assert body["metadata"]["name"] == "bert-master-0"
    assert body["spec"] == {
        "clusterIP": "None",
        "selector": labels,
        "ports": [{"name": "torchjob-port", "port": 23456}],
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


def test_all_types_start_at_once_where_none_waits(space: Space) -> None:
    space.create("torchjobs", example("torchjob/queued-gang.yaml"), GROUP)
    assert len(TorchOnK8s(space.api, space.name, dag=False).sync().created) == 6


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
def test_a_failed_pod_is_replaced_where_its_exit_code_may_go_away(space: Space, code: int, deleted: list[str]) -> None:
    operator = TorchOnK8s(space.api, space.name)
    space.create("torchjobs", example("torchjob/minimal.yaml"), GROUP)
    operator.sync()
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the master runs")
    end_pod(space.api, space.name, "minimal-master-0", code)
    wait_for(lambda: space.phases() == ["Failed"], TIMEOUT, what="the master failed")
    assert operator.sync().deleted == deleted
