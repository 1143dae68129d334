"""The pods of TorchJobs: whose they are by their labels, and what torch and torchrun read in them."""

from typing import Any

import pytest

from jobgate.jobs.members import Claim
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.kinds.torchjob.operator import MEMBERS, claim
from jobgate.plugins import Crew
from tests.kinds.torchjob.jobs import container, elastic, job, task, tasks, template
from tests.plugins.crews import of_job, pod, promised, variables, wired

LABELS = {"group-name": "train.distributed.io", "job-name": "gpt", "task-type": "worker", "task-index": "3"}
OWNER = {"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob", "name": "gpt", "uid": "1-2-3"}


def of(parts: Any = None, **spec: Any) -> Crew:
    return of_job(TORCHJOB, job(tasks(worker=task(2)) if parts is None else parts, **spec))


@pytest.mark.parametrize(
    "labels, owners, expected",
    [
        ({}, [OWNER], Claim("gpt", "worker", 3, uid="1-2-3", owned=True)),
        ({}, [OWNER | {"kind": "PyTorchJob"}], Claim("gpt", "worker", 3)),
        ({}, [OWNER | {"uid": None}], Claim("gpt", "worker", 3, owned=True)),
        ({"task-index": "x"}, [], Claim("gpt", "worker", None)),
        ({"task-index": None}, None, Claim("gpt", "worker", None)),
        ({"task-type": None}, [OWNER], None),
        ({"job-name": 1}, [OWNER], None),
    ],
)
def test_whose_a_pod_is(labels: dict[str, Any], owners: Any, expected: Claim | None) -> None:
    assert claim({"metadata": {"labels": LABELS | labels, "ownerReferences": owners}}) == expected


def test_pods_are_known_by_the_labels_of_the_operator() -> None:
    assert MEMBERS.selector == {"matchLabels": {"group-name": "train.distributed.io"}}
    assert of().labels == {"group-name": "train.distributed.io", "job-name": "job"}
    assert not of().marked


def master(port: Any, name: str = "torchjob-port", of: str = "torch") -> Any:
    ports = [{"name": "other", "containerPort": 1}, {"name": name, "containerPort": port}]
    return task(template=template(container("sidecar", ports=[]), container(of, ports=ports), container()))


BOTH = {"MASTER_ADDR": "job-master-0", "MASTER_PORT": "23456", "WORLD_SIZE": "3"}
TORCHRUN = {"PET_MASTER_ADDR": "job-master-0", "PET_MASTER_PORT": "23456", "PET_NNODES": "3"}


@pytest.mark.parametrize("name, index, rank", [("master", 0, "0"), ("worker", 0, "1"), ("worker", 1, "2")])
def test_the_master_has_rank_0_and_workers_follow(name: str, index: int, rank: str) -> None:
    assert promised(of(), name, index) == BOTH | TORCHRUN | {"RANK": rank, "PET_NODE_RANK": rank}


def test_an_ai_master_does_not_train_and_is_not_counted() -> None:
    result = of(tasks(worker=task(2), AIMaster=task(2)))
    assert promised(result, "aimaster", 1) == {}
    assert promised(result, "worker", 1) == promised(of(), "worker", 1)


def test_keys_of_any_case_are_the_same_tasks() -> None:
    result = of({"MASTER": task(), "worker": task(2), "aiMaster": task()})
    assert promised(result, "worker", 1) == promised(of(), "worker", 1)


@pytest.mark.parametrize(
    "parts, port",
    [
        (tasks(master=master(29500)), "29500"),
        (tasks(master=task()), "23456"),
        (tasks(master=master(29500, name="web")), "23456"),
        (tasks(master=master(29500, of="board")), "23456"),
        ({"MASTER": master(29500), "Worker": task()}, "29500"),
        ({"Worker": task()}, None),
    ],
)
def test_the_port_is_that_of_the_masters_container_that_trains(parts: Any, port: str | None) -> None:
    assert promised(of(parts), "worker").get("MASTER_PORT") == port


@pytest.mark.parametrize(
    "policy, expected",
    [
        ({}, {"NNODES": "3:9", "NPROC_PER_NODE": "1", "RDZV_BACKEND": "c10d", "RDZV_ENDPOINT": "job-master-0:29400", "RDZV_ID": "job"}),
        ({"nprocPerNode": 4}, {"NNODES": "3:9", "NPROC_PER_NODE": "4", "RDZV_BACKEND": "c10d", "RDZV_ENDPOINT": "job-master-0:29400", "RDZV_ID": "job"}),
        ({"numWorkersPerNodePolicy": 2, "numMaxReplicas": None, "rendezvousEndpoint": None},
         {"NNODES": "3", "NPROC_PER_NODE": "2", "RDZV_BACKEND": "c10d"}),
    ],
)  # fmt: skip
def test_torchrun_gets_what_the_policy_says(policy: dict[str, Any], expected: dict[str, str]) -> None:
    result = promised(of(**elastic(**policy)), "worker")
    reported = {name.removeprefix("PET_"): value for name, value in result.items() if name.startswith("PET_")}
    assert reported == {"MASTER_ADDR": "job-master-0", "MASTER_PORT": "23456", "NODE_RANK": "1"} | expected


def test_a_policy_that_is_not_enabled_says_nothing() -> None:
    assert promised(of(**elastic() | {"enableTorchElastic": False}), "worker") == promised(of(), "worker")


def test_what_the_operator_has_set_stays_and_init_containers_get_it_too() -> None:
    parts = tasks(worker=task(2, template=template(initContainers=[container("wait")])))
    env = [{"name": "RANK", "value": "2"}, {"name": "MASTER_ADDR", "value": "localhost"}]
    after = wired(pod({"name": "torch", "env": env}, initContainers=[{"name": "wait"}]), of(parts, plugins={"env": []}))
    assert variables(after, "torch")["MASTER_ADDR"] == "localhost"
    assert variables(after, "torch")["RANK"] == "2"
    assert variables(after, "wait") | {"RANK": "1"} == variables(after, "wait")
    assert variables(after, "wait")["MASTER_ADDR"] == "job-master-0"


def test_pods_are_found_by_a_service_of_the_job() -> None:
    after = wired(pod("torch"), of(plugins={"svc": []}), "worker", 1)
    assert (after["spec"]["hostname"], after["spec"]["subdomain"]) == ("job-worker-1", "job")
    assert set(variables(after, "torch")) == {"VC_HOST"} | {
        f"VC_{name}_{what}" for name in ("MASTER", "WORKER") for what in ("HOSTS", "NUM")
    }
