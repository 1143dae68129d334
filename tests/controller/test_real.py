"""The controller, a process under its own rights, on a real API server."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from controlplane import controller as installed
from controlplane.client import ClusterApi
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from tests.controller.builder import job

WAIT = 120.0
PLUGINS: dict[str, list[str]] = {"env": [], "svc": []}
OURS = [("ConfigMap", "train-svc"), ("NetworkPolicy", "train"), ("Service", "di-train")]


class Cluster:
    """One namespace, as its user sees it."""

    def __init__(self, api: ClusterApi, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def path(self, kind: str, name: str = "") -> str:
        prefix = {
            "DIJob": f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{self.namespace}/dijobs",
            "NetworkPolicy": f"/apis/networking.k8s.io/v1/namespaces/{self.namespace}/networkpolicies",
        }.get(kind, f"/api/v1/namespaces/{self.namespace}/{kind.lower()}s")
        return f"{prefix}/{name}" if name else prefix

    def apply(self, document: Any) -> Any:
        name = document["metadata"]["name"]
        status, answer = self.api.post(self.path("DIJob"), document)
        if status == 409:
            status, answer = self.api.patch(self.path("DIJob", name), {"spec": document["spec"]})
        assert status in {200, 201}, answer
        return answer

    def get(self, kind: str, name: str) -> Any:
        status, answer = self.api.get(self.path(kind, name))
        return answer if status == 200 else None

    def ours(self) -> list[tuple[str, str]]:
        return sorted(installed.managed_objects(self.api, self.namespace))

    def warnings(self) -> list[tuple[str, str]]:
        _, answer = self.api.get(self.path("Event"))
        return [(item["reason"], item["message"]) for item in answer["items"]]


def train(namespace: str, replicas: int = 2, plugins: Any = None) -> Any:
    return job("train", namespace, replicas, PLUGINS if plugins is None else plugins)


@pytest.fixture(scope="module")
def rights(cluster_api: ClusterApi) -> None:
    installed.install(cluster_api)
    # Webhooks that other tests have installed on this control plane may have no server by now.
    for phase in ("mutating", "validating"):
        cluster_api.delete(f"/apis/admissionregistration.k8s.io/v1/{phase}webhookconfigurations/jobgate")


@pytest.fixture(scope="module")
def controller(controlplane: ControlPlane, rights: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed.controlling(controlplane, tmp_path_factory.mktemp("controller") / "log"):
        yield


@pytest.fixture
def cluster(cluster_api: ClusterApi, namespace: str) -> Cluster:
    return Cluster(cluster_api, namespace)


@pytest.fixture
def job_there(controller: None, cluster: Cluster) -> Any:
    stored = cluster.apply(train(cluster.namespace))
    wait_for(lambda: len(cluster.ours()) >= 2, WAIT, what="the objects are made")
    return stored


def test_a_job_gets_what_its_plugins_declare(job_there: Any, cluster: Cluster) -> None:
    result = installed.managed_objects(cluster.api, cluster.namespace)
    assert set(result) == {("ConfigMap", "train-svc"), ("NetworkPolicy", "train")}  # its operator makes the Service
    assert result["ConfigMap", "train-svc"]["data"]["work.host"] == "train-work-0.di-train\ntrain-work-1.di-train"
    for value in result.values():
        (owner,) = value["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("DIJob", "train", job_there["metadata"]["uid"])
        assert "controller" not in owner
        assert value["metadata"]["managedFields"][0]["manager"] == "jobgate"


@pytest.mark.usefixtures("job_there")
def test_host_lists_follow_a_scaled_job(cluster: Cluster) -> None:
    cluster.apply(train(cluster.namespace, replicas=3))
    wait_for(lambda: "train-work-2" in cluster.get("ConfigMap", "train-svc")["data"]["work.host"], WAIT)


def test_host_lists_name_the_pods_that_the_operator_left(job_there: Any, cluster: Cluster) -> None:
    def hosts() -> Any:
        return cluster.get("ConfigMap", "train-svc")["data"]["VC_WORK_HOSTS"]

    owner = {key: job_there[key] for key in ("apiVersion", "kind")} | {"name": "train", "controller": True}
    labels = {"diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": "work"}
    for index in (1, 4):
        owners = [{**owner, "uid": job_there["metadata"]["uid"]}]
        metadata = {"name": f"train-work-{index}", "labels": labels, "ownerReferences": owners}
        spec = {"containers": [{"name": "main", "image": "main"}]}
        status, answer = cluster.api.post(cluster.path("Pod"), {"metadata": metadata, "spec": spec})
        assert status == 201, answer
    wait_for(lambda: hosts() == "train-work-1.di-train,train-work-4.di-train", WAIT, what="both are named")
    assert cluster.api.delete(cluster.path("Pod", "train-work-4"), {"gracePeriodSeconds": 0})[0] == 200
    wait_for(lambda: hosts() == "train-work-0.di-train,train-work-1.di-train", WAIT, what="the first are named again")


@pytest.mark.usefixtures("job_there")
def test_what_is_edited_or_deleted_is_repaired(cluster: Cluster) -> None:
    before = cluster.get("NetworkPolicy", "train")["spec"]
    cluster.api.patch(cluster.path("NetworkPolicy", "train"), {"spec": {"ingress": [{}]}})
    cluster.api.patch(cluster.path("ConfigMap", "train-svc"), {"data": {"work.host": "evil", "more": "x"}})
    wait_for(lambda: cluster.get("NetworkPolicy", "train")["spec"] == before, WAIT)
    wait_for(lambda: "evil" not in str(cluster.get("ConfigMap", "train-svc")["data"]), WAIT)
    assert "more" not in cluster.get("ConfigMap", "train-svc")["data"]
    for kind, name in (("NetworkPolicy", "train"), ("ConfigMap", "train-svc")):
        assert cluster.api.delete(cluster.path(kind, name))[0] == 200
    wait_for(lambda: len(cluster.ours()) == 2, WAIT)


@pytest.mark.usefixtures("job_there")
def test_a_list_that_someone_made_immutable_is_created_again(cluster: Cluster) -> None:
    old = cluster.get("ConfigMap", "train-svc")["metadata"]["uid"]
    cluster.api.patch(cluster.path("ConfigMap", "train-svc"), {"immutable": True})
    cluster.apply(train(cluster.namespace, replicas=3))
    wait_for(lambda: "train-work-2" in str((cluster.get("ConfigMap", "train-svc") or {}).get("data")), WAIT)
    assert cluster.get("ConfigMap", "train-svc")["metadata"]["uid"] != old


@pytest.mark.usefixtures("job_there")
def test_what_is_no_longer_asked_for_goes_but_not_what_pods_mount(cluster: Cluster) -> None:
    cluster.api.patch(cluster.path("DIJob", "train"), {"spec": {"plugins": {"svc": None}}})
    wait_for(lambda: cluster.ours() == [("ConfigMap", "train-svc")], WAIT)


@pytest.mark.usefixtures("controller")
def test_someone_elses_object_is_left_alone_and_the_job_says_so(cluster: Cluster) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "train-svc"}, "data": {"mine": "yes"}}
    _, before = cluster.api.post(cluster.path("ConfigMap"), theirs)
    stored = cluster.apply(train(cluster.namespace))
    wait_for(cluster.warnings, WAIT)
    assert cluster.warnings() == [
        ("ObjectInTheWay", "ConfigMap train-svc was not created by jobgate, and is not updated: rename it or this job, "
         "or delete it")
    ]  # fmt: skip
    # The event may come before the objects that are created after it.
    wait_for(lambda: cluster.ours() == [("NetworkPolicy", "train")], WAIT)
    assert cluster.get("ConfigMap", "train-svc") == before
    _, events = cluster.api.get(cluster.path("Event"))
    assert events["items"][0]["involvedObject"]["uid"] == stored["metadata"]["uid"]
    cluster.api.delete(cluster.path("ConfigMap", "train-svc"))
    wait_for(lambda: len(cluster.ours()) == 2, WAIT)


@pytest.mark.usefixtures("controller")
def test_two_jobs_of_one_name_in_two_namespaces_do_not_meet(cluster: Cluster, cluster_api: ClusterApi) -> None:
    name = f"{cluster.namespace}-other"
    cluster_api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    other = Cluster(cluster_api, name)
    cluster.apply(train(cluster.namespace, replicas=1))
    other.apply(train(name, replicas=3))
    wait_for(lambda: len(cluster.ours()) == len(other.ours()) == 2, WAIT)
    cluster.api.patch(cluster.path("DIJob", "train"), {"spec": {"plugins": {"svc": None}}})
    wait_for(lambda: cluster.ours() == [("ConfigMap", "train-svc")], WAIT)
    assert len(other.ours()) == 2
    assert other.get("ConfigMap", "train-svc")["data"]["VC_WORK_NUM"] == "3"


@pytest.mark.usefixtures("controller")
def test_secrets_are_made_only_where_someone_said_so(cluster: Cluster) -> None:
    cluster.apply(train(cluster.namespace, plugins={"ssh": []}))
    wait_for(cluster.warnings, WAIT)
    ((reason, message),) = cluster.warnings()
    assert reason == "CannotMakeObject"
    assert f"`jobgate manifests --secrets-in {cluster.namespace}`" in message
    installed.install(cluster.api, cluster.namespace)
    secret = wait_for(lambda: cluster.get("Secret", "train-ssh"), WAIT)
    cluster.apply(train(cluster.namespace, replicas=5, plugins={"ssh": [], "svc": []}))
    wait_for(lambda: len(cluster.ours()) == 3, WAIT)
    assert cluster.get("Secret", "train-ssh")["data"] == secret["data"]


def test_the_controller_cannot_do_more_than_it_has_to(
    controlplane: ControlPlane, rights: None, namespace: str, cluster_api: ClusterApi
) -> None:
    config = installed.kubeconfig(controlplane)

    def can(*what: str) -> bool:
        done = controlplane.kubectl("--kubeconfig", str(config), "auth", "can-i", *what, check=False)
        return done.stdout.strip() == "yes"

    installed.install(cluster_api, namespace)
    for verb, what, where in [
        ("list", "dijobs.diengine.opendilab.org", "-A"),
        ("patch", "configmaps", "-A"),
        ("delete", "networkpolicies.networking.k8s.io", "-A"),
        ("create", "events", "-A"),
        ("get", "secrets", f"-n={namespace}"),
        ("create", "secrets", f"-n={namespace}"),
        ("create", "leases.coordination.k8s.io", "-n=jobgate-system"),
        ("patch", "leases.coordination.k8s.io/jobgate-controller", "-n=jobgate-system"),
    ]:
        wait_for(partial(can, verb, what, where), WAIT, what=f"the right to {verb} {what} {where}")
    for verb, what, where in [
        ("patch", "dijobs.diengine.opendilab.org", "-A"),
        ("patch", "dijobs.diengine.opendilab.org/status", "-A"),
        ("list", "secrets", f"-n={namespace}"),
        ("delete", "secrets", f"-n={namespace}"),
        ("patch", "secrets", f"-n={namespace}"),
        ("get", "secrets", "-n=default"),
        ("create", "pods", f"-n={namespace}"),
        ("patch", "leases.coordination.k8s.io/other", "-n=jobgate-system"),
        ("create", "leases.coordination.k8s.io", "-n=default"),
    ]:
        assert not can(verb, what, where), (verb, what, where)


@pytest.mark.usefixtures("controller")
def test_a_namespace_that_has_opted_out_is_left_alone(cluster: Cluster) -> None:
    other = Cluster(cluster.api, new_namespace(cluster.api))
    for each in (cluster, other):
        each.apply(train(each.namespace))
        wait_for(partial(_has, each, 2), WAIT, what="the objects are made")
    label = {"metadata": {"labels": {"jobgate.dev/admission": "disabled"}}}
    cluster.api.patch(f"/api/v1/namespaces/{cluster.namespace}", label)
    for replicas in (3, 4):  # what is seen of the other namespace is seen after the label, and after the deletion
        other.apply(train(other.namespace, replicas=replicas))
        wait_for(partial(_lists, other, f"train-work-{replicas - 1}"), WAIT, what="the hosts are listed")
        cluster.api.delete(cluster.path("ConfigMap", "train-svc"))
    assert cluster.ours() == [("NetworkPolicy", "train")]
    assert cluster.warnings() == []


def _has(cluster: Cluster, count: int) -> bool:
    return len(cluster.ours()) == count


def _lists(cluster: Cluster, host: str) -> bool:
    return host in cluster.get("ConfigMap", "train-svc")["data"]["work.host"]
