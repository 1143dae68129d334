"""What Volcano makes of its Job, and how it follows the job."""

import random
from typing import Any

import pytest

from controlplane.operators.vcjob import Volcano, is_ready_to_start, pod
from controlplane.operators.vcjob_plugins import change, hosts_data, key_pair, plugins_of, ssh_config
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


def test_what_a_task_says_of_its_place_is_put_on_its_pods() -> None:
    placed = task("t", 4, topologyPolicy="restricted", partitionPolicy={"totalPartitions": 2, "partitionSize": 2})
    metadata = pod(job(placed), placed, 3, [])["metadata"]
    assert metadata["labels"]["volcano.sh/partition-id"] == "1"
    assert metadata["annotations"]["volcano.sh/numa-topology-policy"] == "restricted"


def test_what_a_job_says_of_its_end_is_copied_to_its_pods() -> None:
    worker = task("worker")
    whole = job(worker)
    whole["metadata"] |= {
        "labels": {"volcano.sh/preemptable": "true", "other": "x"},
        "annotations": {"volcano.sh/cooldown-time": "10s", "volcano.sh/jdb-min-available": "1", "other": "x"},
    }
    metadata = pod(whole, worker, 0, [])["metadata"]
    assert metadata["labels"]["volcano.sh/preemptable"] == "true"
    assert metadata["annotations"]["volcano.sh/cooldown-time"] == "10s"
    assert metadata["annotations"]["volcano.sh/jdb-min-available"] == "1"
    assert "other" not in {**metadata["labels"], **metadata["annotations"]}


@pytest.mark.parametrize(("own", "expected"), [(None, "job's"), ("own", "own")])
@pytest.mark.parametrize("name", ["schedulerName", "priorityClassName"])
def test_a_pod_inherits_what_its_template_does_not_say(name: str, own: str | None, expected: str) -> None:
    worker = task("worker")
    if own:
        worker["template"]["spec"][name] = own
    assert pod(job(worker, **{name: "job's"}), worker, 0, [])["spec"][name] == expected


def test_the_jobs_claims_are_mounted_in_every_container_each_once() -> None:
    worker = task("worker")
    worker["template"]["spec"]["initContainers"] = [{"name": "before"}]
    claims = [{"mountPath": "/a", "volumeClaimName": "data"}, {"mountPath": "/b", "volumeClaimName": "data"}]
    spec = pod(job(worker, volumes=claims), worker, 0, ["tf-x"])["spec"]
    assert spec["volumes"] == [{"name": "tf-x", "persistentVolumeClaim": {"claimName": "data"}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "tf-x", "mountPath": "/a"}]
    assert "volumeMounts" not in spec["initContainers"][0]


def running(name: str, index: int) -> dict[str, Any]:
    labels = {"volcano.sh/task-spec": name}
    return {"metadata": {"name": f"tf-{name}-{index}", "labels": labels}, "status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("case", "depends_on", "pods", "ready"),
    [
        ("nothing to wait for", {}, [], True),
        ("none runs", {"name": ["a"]}, [], False),
        ("fewer run than are needed", {"name": ["a"]}, [running("a", 0)], False),
        ("as many run as are needed", {"name": ["a"]}, [running("a", 0), running("a", 1)], True),
        ("its minimum is enough", {"name": ["b"]}, [running("b", 0)], True),
        ("all must be ready", {"name": ["a", "b"]}, [running("b", 0)], False),
        ("any is enough", {"name": ["a", "b"], "iteration": "any"}, [running("b", 0)], True),
        ("a typing error means all", {"name": ["a", "b"], "iteration": "Any"}, [running("b", 0)], False),
    ],
)
def test_a_task_waits_for_those_it_depends_on(
    case: str, depends_on: dict[str, Any], pods: list[dict[str, Any]], ready: bool
) -> None:
    last = task("last", dependsOn=depends_on)
    assert is_ready_to_start(job(task("a", 2), task("b", 2, minAvailable=1), last), last, pods) == ready, case


def changed(job: dict[str, Any]) -> dict[str, Any]:
    made = pod(job, job["spec"]["tasks"][0], 0, [])
    change(job, made)
    spec: dict[str, Any] = made["spec"]
    return spec


def test_env_tells_the_index_to_init_containers_too() -> None:
    worker = task("worker")
    worker["template"]["spec"]["initContainers"] = [{"name": "before"}]
    spec = changed(job(worker, plugins={"env": []}))
    index = [{"name": "VK_TASK_INDEX", "value": "0"}, {"name": "VC_TASK_INDEX", "value": "0"}]
    assert spec["containers"][0]["env"] == index
    assert spec["initContainers"][0]["env"] == index


def test_svc_names_the_pods_and_gives_them_the_hosts() -> None:
    spec = changed(job(task("my-ps"), plugins={"svc": []}))
    assert (spec["hostname"], spec["subdomain"]) == ("tf-my-ps-0", "tf")
    reference = {"configMapKeyRef": {"name": "tf-svc", "key": "VC_MY_PS_HOSTS"}}
    assert {"name": "VC_MY_PS_HOSTS", "valueFrom": reference} in spec["containers"][0]["env"]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "tf-svc", "mountPath": "/etc/volcano"}]


def test_the_hosts_are_told_as_lines_and_as_variables() -> None:
    fixed = task("fixed", 3)
    fixed["template"]["spec"] |= {"hostname": "one", "subdomain": "elsewhere"}
    assert hosts_data(job(task("my-ps", 2), fixed)) == {
        "my_ps.host": "tf-my-ps-0.tf\ntf-my-ps-1.tf",
        "VC_MY_PS_HOSTS": "tf-my-ps-0.tf,tf-my-ps-1.tf",
        "VC_MY_PS_NUM": "2",
        "fixed.host": "one.elsewhere",
        "VC_FIXED_HOSTS": "one.elsewhere",
        "VC_FIXED_NUM": "1",
    }


@pytest.mark.parametrize(
    ("arguments", "folder", "mode"),
    [([], "/root/.ssh", 0o600), (["--ssh-key-file-path=/home/me/.ssh"], "/home/me/.ssh", 0o644)],
)
def test_ssh_mounts_the_keys(arguments: list[str], folder: str, mode: int) -> None:
    spec = changed(job(task("worker"), plugins={"ssh": arguments}))
    mount = {"name": "tf-ssh", "mountPath": folder, "subPath": ".ssh"}
    assert spec["containers"][0]["volumeMounts"] == [mount]
    assert spec["volumes"][0]["secret"]["defaultMode"] == mode


def test_ssh_knows_every_pod_by_its_short_name() -> None:
    assert "Host tf-worker-1\n  HostName tf-worker-1.tf\n  Port 22\n" in ssh_config(job(task("worker", 2)))
    assert key_pair()["id_rsa"].startswith("-----BEGIN RSA PRIVATE KEY-----")


def test_mpi_brings_svc_and_ssh() -> None:
    assert plugins_of(job(plugins={"mpi": ["--port=22"]})) == {"mpi": ["--port=22"], "svc": [], "ssh": []}


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


def test_plugins_are_carried_out_where_it_is_asked_for(space: Space) -> None:
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
