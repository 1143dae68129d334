"""The objects that mxnet-operator creates for an MxJob, and how they follow its changes."""

import random
from typing import Any

import pytest

from controlplane.operators.mxjob import MXNetOperator, fault_of, pod_template, variables
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.operators.conftest import env_of, example, stored

GROUP = "mxnet.mlkube.io/v1beta1"
TIMEOUT = 60.0


def role(kind: str, replicas: int = 1, env: int = 0, **fields: Any) -> dict[str, Any]:
    own = [{"name": f"OWN_{index}", "value": "x"} for index in range(env)]
    containers: list[dict[str, Any]] = [{"name": "side"}, {"name": "mxnet", "env": own}]
    return {"mxReplicaType": kind, "replicas": replicas, "template": {"spec": {"containers": containers}}, **fields}


def job(*roles: dict[str, Any], mode: str = "dist", **spec: Any) -> dict[str, Any]:
    return stored({"metadata": {"name": "mnist"}, "spec": {"jobMode": mode, **spec, "replicaSpecs": list(roles)}})


SCHEDULER, SERVER, WORKER = role("SCHEDULER", PsRootPort=9000), role("SERVER", 2), role("WORKER", 3)
LABELS = {"mxnet.mlkube.io": "", "job_type": "WORKER", "runtime_id": "a1b2", "task_index": "2"}


def test_the_container_that_trains_is_told_where_the_scheduler_is() -> None:
    dist = job(SCHEDULER, SERVER, WORKER, RuntimeId="a1b2")
    assert {variable["name"]: variable["value"] for variable in variables(dist, WORKER)} == {
        "DMLC_PS_ROOT_PORT": "9000",
        "DMLC_PS_ROOT_URI": "mnist-scheduler-a1b2-0",
        "DMLC_NUM_SERVER": "2",
        "DMLC_NUM_WORKER": "3",
        "DMLC_ROLE": "worker",
    }
    side, main = pod_template(dist, WORKER, 0, keeps_variables=False)["spec"]["containers"]
    assert "DMLC_ROLE" in env_of(main)
    assert "env" not in side


@pytest.mark.parametrize(
    ("case", "made", "fault"),
    [
        ("a whole job", job(SCHEDULER, SERVER, WORKER), ""),
        ("a local job has other roles", job(WORKER, mode="local"), ""),
        ("no mode", job(WORKER, mode=""), "unknown job mode ''"),
        ("a role is missing", job(SCHEDULER, WORKER), "no SERVER"),
        ("too few variables", job(SCHEDULER, SERVER, role("WORKER", env=4)), "4 variables of its own"),
        ("enough variables", job(SCHEDULER, SERVER, role("WORKER", env=5)), ""),
    ],
)
def test_what_the_operator_cannot_make(case: str, made: dict[str, Any], fault: str) -> None:
    reported = fault_of(made, keeps_variables=False)
    assert reported.startswith(fault), case
    assert bool(reported) == bool(fault), case


def scale(space: Space, name: str, replicas: int) -> None:
    roles = space.get("mxjobs", name, GROUP)["spec"]["replicaSpecs"]
    roles[-1]["replicas"] = replicas
    space.patch("mxjobs", name, {"spec": {"replicaSpecs": roles}}, GROUP)


def batch_jobs(space: Space) -> list[str]:
    return space.names("jobs", "batch/v1")


def test_a_job_runs_through_batch_jobs_is_scaled_and_goes(space: Space) -> None:
    operator = MXNetOperator(space.api, space.name, ids=random.Random(1))
    space.create("mxjobs", example("mxjob/dist.yaml"), GROUP)

    assert operator.sync().refused == {}

    made_up = space.get("mxjobs", "mnist-dist", GROUP)["spec"]["RuntimeId"]
    names = [f"mnist-dist-{kind}-{made_up}-{index}" for kind, index in (("scheduler", 0), ("server", 0), ("worker", 0))]
    assert batch_jobs(space) == [*names, f"mnist-dist-worker-{made_up}-1"]
    assert space.names("services") == names[:1]
    wait_for(lambda: space.phases() == ["Running"] * 4, TIMEOUT, what="all pods run")
    owners = {item["metadata"]["ownerReferences"][0]["kind"] for item in space.items("pods")}
    assert owners == {"Job"}
    assert all(set(each["metadata"]["labels"]) >= set(LABELS) for each in space.items("pods"))
    assert not any("ownerReferences" in entry["metadata"] for entry in space.items("jobs", "batch/v1"))
    assert operator.sync().idle

    scale(space, "mnist-dist", 1)
    assert operator.sync().deleted == [f"jobs/mnist-dist-worker-{made_up}-1"]
    wait_for(lambda: len(space.items("pods")) == 3, TIMEOUT, what="the pod is gone")
    scale(space, "mnist-dist", 3)
    assert len(operator.sync().created) == 2

    space.delete("mxjobs", "mnist-dist", GROUP)
    assert len(operator.sync().deleted) == 6
    wait_for(lambda: not batch_jobs(space) and not space.items("pods"), TIMEOUT, what="all is gone")


def test_a_local_job_is_one_batch_job_that_ends(space: Space) -> None:
    space.create("mxjobs", example("mxjob/local.yaml"), GROUP)
    MXNetOperator(space.api, space.name).sync()
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the pod runs")
    (pod,) = space.names("pods")
    end_pod(space.api, space.name, pod)
    wait_for(lambda: space.phases() == ["Succeeded"], TIMEOUT, what="the pod ended")
    (batch,) = space.items("jobs", "batch/v1")
    wait_for(
        lambda: space.get("jobs", batch["metadata"]["name"], "batch/v1")["status"].get("succeeded") == 1,
        TIMEOUT,
        what="the batch job counts it",
    )
