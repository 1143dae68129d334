"""Jobs with all plugins on a whole control plane: operators create their pods, which are wired, scaled and deleted."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.controller import controlling, install, managed_objects
from controlplane.operators import DIOrchestrator, MXNetOperator, Operator, TorchOnK8s, Volcano
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_pod_faults import SSH, await_denial, hooked, level_of, secured
from tests.e2e.test_runner import RESOURCES

WAIT = 120.0
#: The files of the Secret with the SSH keys.
SSH_FILES = {"authorized_keys", "config", "id_rsa", "id_rsa.pub", "known_hosts", "ssh_host_key"}


@pytest.fixture(scope="module", autouse=True)
def controller(
    whole_controlplane: WholeControlPlane,
    whole_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """The companion controller."""
    install(whole_api)
    with controlling(whole_controlplane, tmp_path_factory.mktemp("controller") / "log"):
        yield


class Trial:
    """A job in its own namespace, and the operator that creates its pods."""

    def __init__(self, api: ClusterApi, namespace: str, operator: Operator) -> None:
        install(api, namespace)  # with the right to Secrets in the namespace
        self.space = Space(api, namespace)
        self.operator = operator
        self.kind, self.name = "", ""

    def apply(self, file: str) -> None:
        """Create the job of an example, and wait for the objects of its plugins."""
        job = yaml.safe_load(Path("examples", file).read_text())
        self.kind, self.name = job["kind"], job["metadata"]["name"]
        plural, version = RESOURCES[self.kind]
        self.space.create(plural, job, version)
        wait_for(lambda: self.space.exists("secrets", f"{self.name}-ssh"), WAIT, what="the keys are made")
        wait_for(lambda: self.space.exists("configmaps", f"{self.name}-svc"), WAIT, what="the host lists are made")
        assert set(self.space.get("secrets", f"{self.name}-ssh")["data"]) == SSH_FILES

    def make_pods(self, count: int) -> list[dict[str, Any]]:
        """Let the operator work until this many pods run; return them sorted by host name."""

        def settled() -> bool:
            self.operator.sync()
            return self.space.phases() == ["Running"] * count

        wait_for(settled, WAIT, every=0.5, what=f"{count} pods run")
        return sorted(self.space.items("pods"), key=lambda pod: str(pod["spec"]["hostname"]))

    def scale(self, change: Any) -> None:
        """Change the job's spec."""
        plural, version = RESOURCES[self.kind]
        self.space.patch(plural, self.name, {"spec": change}, version)

    def lists(self) -> dict[str, list[str]]:
        """The host lists, by task."""
        data = self.space.get("configmaps", f"{self.name}-svc")["data"]
        return {key.removesuffix(".host"): text.split() for key, text in data.items() if key.endswith(".host")}

    def delete(self) -> None:
        """Delete the job, and wait until nothing is left of it."""
        plural, version = RESOURCES[self.kind]
        self.space.delete(plural, self.name, version)
        wait_for(lambda: not managed_objects(self.space.api, self.space.name), WAIT, what="our objects are collected")


@pytest.fixture
def trial(whole_api: ClusterApi, whole_namespace: str, request: pytest.FixtureRequest) -> Trial:
    """A namespace with the test's operator."""
    return Trial(whole_api, whole_namespace, request.param(whole_api, whole_namespace))


def kept(api: ClusterApi, namespace: str) -> Operator:
    """DI-orchestrator without lost fields, as if jobgate restored them."""
    return DIOrchestrator(api, namespace, erases=False)


def variables(container: dict[str, Any]) -> dict[str, str]:
    """The variables of a container as the kubelet sets them: if a name occurs twice, the last value counts."""
    return {each["name"]: each.get("value", "") for each in container.get("env") or ()}


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """The containers and init containers of a pod."""
    return [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]


def assert_wired(pod: dict[str, Any], hosts: dict[str, list[str]], key_path: str) -> None:
    """Check a pod of a job with all plugins."""
    own = f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}"
    (task,) = (task for task, names in hosts.items() if own in names)
    for container in containers(pod):
        env = variables(container)
        assert env["VC_TASK_INDEX"] == env["VK_TASK_INDEX"] == str(hosts[task].index(own))
        assert env["VC_TASK_SIZE"] == str(len(hosts[task]))
        assert env["VC_HOST"] == own
        paths = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert "/etc/volcano" in paths
        assert any(path.startswith(f"{key_path}/") for path in paths)
        names = [variable["name"] for variable in container["env"]]
        assert len(names) == len(set(names))


def _lists_name(trial: Trial, names: list[str]) -> bool:
    return trial.lists()["collector"] == names


@pytest.mark.parametrize("trial", [kept], indirect=True)
def test_a_dijob_is_wired_scaled_and_collected(trial: Trial) -> None:
    trial.apply("dijob/plugins.yaml")
    for collectors in (3, 6, 1):
        tasks = trial.space.get("dijobs", "pong", RESOURCES["DIJob"][1])["spec"]["tasks"]
        tasks[1]["replicas"] = collectors
        trial.scale({"tasks": tasks})
        if collectors > 1:  # the lists also have pods that are not created yet
            wait_for(lambda many=collectors: len(trial.lists()["collector"]) == many, WAIT, what="the lists follow")  # type: ignore[misc]
        pods = trial.make_pods(1 + collectors)
        names = [f"{pod['spec']['hostname']}.di-pong" for pod in pods if "collector" in pod["metadata"]["name"]]
        wait_for(partial(_lists_name, trial, names), WAIT, what="the lists have exactly the existing pods")
        newest = [pod for pod in pods if variables(containers(pod)[-1])["VC_TASK_SIZE"] == str(collectors)]
        assert newest
        for pod in newest:
            if "collector" in pod["metadata"]["name"]:
                assert_wired(pod, trial.lists(), "/home/trainer/.ssh")
    (learner,) = (pod for pod in pods if "learner" in pod["metadata"]["name"])
    assert [variables(container)["LOG_NAME"] for container in learner["spec"]["containers"]] == [
        "learner-$(VC_TASK_INDEX)"
    ]
    trial.delete()


@pytest.mark.parametrize("trial", [kept], indirect=True)
def test_a_recreated_pod_of_a_dijob_is_in_the_host_list(trial: Trial) -> None:
    trial.apply("dijob/plugins.yaml")
    trial.make_pods(4)
    trial.space.delete("pods", "pong-learner-0")
    pods = trial.make_pods(4)
    learner = pods[-1]
    for container in containers(learner):
        env = variables(container)
        assert env["DI_NODES"].split(",")[int(env["DI_RANK"])].startswith("pong-learner-0.di-pong.")
        assert env["DI_JOB_ID"] == f"{trial.space.name}/pong"


@pytest.mark.parametrize("trial", [TorchOnK8s], indirect=True)
def test_a_torchjob_is_wired_scaled_and_collected(trial: Trial) -> None:
    trial.apply("torchjob/plugins.yaml")
    for workers in (2, 6, 1):
        trial.scale({"torchTaskSpecs": {"Worker": {"numTasks": workers}}})
        wait_for(lambda many=workers: len(trial.lists()["worker"]) == many, WAIT, what="the lists follow")  # type: ignore[misc]
        pods = trial.make_pods(1 + workers)
        assert sum(len(names) for names in trial.lists().values()) == 1 + workers
    master = next(pod for pod in pods if "master" in pod["metadata"]["name"])
    assert master["spec"]["subdomain"] == "bert"
    worker = next(pod for pod in pods if "worker" in pod["metadata"]["name"])
    for container in containers(worker):
        env = variables(container)
        assert (env["RANK"], env["MASTER_PORT"], env["PET_NODE_RANK"]) == ("1", "23456", "1")
    trial.delete()


@pytest.mark.parametrize("trial", [MXNetOperator], indirect=True)
def test_an_mxjob_is_wired_although_its_pods_do_not_name_the_job(trial: Trial) -> None:
    trial.apply("mxjob/plugins.yaml")
    pods = trial.make_pods(5 - 1)
    for pod in pods:
        assert_wired(pod, trial.lists(), "/root/.ssh")
        assert pod["spec"]["subdomain"] == "digits"
        assert pod["metadata"]["labels"]["jobgate.dev/job"] == "digits"
        for container in containers(pod):
            assert variables(container)["DMLC_PS_ROOT_URI"] == "digits-scheduler-a1b2-0"
    trial.delete()


@pytest.mark.parametrize("trial", [lambda api, namespace: Volcano(api, namespace, plugins=True)], indirect=True)
def test_jobgate_creates_no_objects_for_jobs_that_volcano_runs(trial: Trial) -> None:
    job = yaml.safe_load(Path("examples/vcjob/mpi.yaml").read_text())
    trial.space.create("jobs", job, RESOURCES["Job"][1])
    report = trial.operator.sync()
    assert not report.refused
    assert managed_objects(trial.space.api, trial.space.name) == {}
    for pod in trial.space.items("pods"):
        for container in containers(pod):
            names = [variable["name"] for variable in container.get("env") or ()]
            assert "VC_GLOBAL_RANK" not in names


@pytest.mark.parametrize(
    ("trial", "kind", "pods"),
    [(kept, "dijob", 4), (TorchOnK8s, "torchjob", 3), (MXNetOperator, "mxjob", 4)],
    indirect=["trial"],
    ids=["dijob", "torchjob", "mxjob"],
)
def test_additions_to_an_operators_pods_pass_the_level_restricted(trial: Trial, kind: str, pods: int) -> None:
    level_of(trial.space, "restricted")
    job = hooked(kind, env=[], svc=[], ssh=SSH)
    await_denial(trial.space, job)
    trial.space.create(*_resource(job), RESOURCES[job["kind"]][1])
    for pod in trial.make_pods(pods):
        assert any(volume["name"] == f"{job['metadata']['name']}-ssh" for volume in pod["spec"]["volumes"])
        assert "hook" in pod["metadata"]["annotations"]["jobgate.dev/prerequisites-recorded"]


def _resource(job: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return RESOURCES[job["kind"]][0], secured(job)


def test_jobs_with_the_same_name_in_two_namespaces_share_nothing(whole_api: ClusterApi, whole_namespace: str) -> None:
    second = f"{whole_namespace}-b"
    whole_api.post("/api/v1/namespaces", {"metadata": {"name": second}})
    trials = [Trial(whole_api, name, kept(whole_api, name)) for name in (whole_namespace, second)]
    for trial in trials:
        trial.apply("dijob/plugins.yaml")
    first, second_data = (trial.space.get("secrets", "pong-ssh")["data"] for trial in trials)
    assert all(first[key] != second_data[key] for key in SSH_FILES - {"config"})
    trials[0].delete()
    assert trials[1].space.exists("configmaps", "pong-svc")
    whole_api.delete(f"/api/v1/namespaces/{second}")


def deferred(webhook: InstalledWebhook) -> float:
    """Return how many pods the webhook has deferred with 429."""
    text = urlopen(f"http://127.0.0.1:{webhook.health_port}/metrics", timeout=30).read().decode()
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if 'verdict="later"' in line)


def test_a_pod_of_a_batch_job_is_created_once_its_job_is_large_enough(
    whole_api: ClusterApi, whole_namespace: str, whole_webhook: InstalledWebhook
) -> None:
    """A batch Job with backoffLimit 0 creates a pod with an index that the job does not have yet."""
    space = Space(whole_api, whole_namespace)
    plural, version = RESOURCES["DIJob"]
    container = {"name": "main", "image": "ding"}
    task = {"type": "none", "name": "walker", "replicas": 1, "template": {"spec": {"containers": [container]}}}
    job = {
        "apiVersion": version,
        "kind": "DIJob",
        "metadata": {"name": "walk"},
        "spec": {"plugins": {"env": None}, "tasks": [task]},
    }
    name = space.create(plural, job, version)["metadata"]["name"]
    marks = {
        "jobgate.dev/kind": "dijobs.diengine.opendilab.org",
        "jobgate.dev/job": name,
        "jobgate.dev/task": "walker",
        "jobgate.dev/index": "1",
    }
    template = {"metadata": {"labels": marks}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    before = deferred(whole_webhook)
    space.create(
        "jobs", {"metadata": {"name": "second"}, "spec": {"backoffLimit": 0, "template": template}}, "batch/v1"
    )
    wait_for(lambda: deferred(whole_webhook) > before, WAIT, what="the pod is deferred")
    assert space.items("pods") == []
    tasks = space.get(plural, name, version)["spec"]["tasks"]
    tasks[0]["replicas"] = 2
    space.patch(plural, name, {"spec": {"tasks": tasks}}, version)
    wait_for(lambda: space.phases() == ["Running"], WAIT, what="the pod runs")
    (pod,) = space.items("pods")
    (wired,) = containers(pod)
    assert (variables(wired)["VC_TASK_INDEX"], variables(wired)["VC_GLOBAL_SIZE"]) == ("1", "2")
    assert not (space.get("jobs", "second", "batch/v1").get("status") or {}).get("conditions")
