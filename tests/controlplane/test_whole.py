"""The whole control plane: what controllers, scheduler and simulated nodes do, and that it goes without a trace."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.keeper import PIDS_FILE
from controlplane.nodes import is_open, node
from controlplane.plane import ControlPlaneError, KubectlError
from controlplane.simulation import end_pod, ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane

TIMEOUT = 60.0
# Controllers learn of a new resource when they next ask for the list of resources, twice a minute.
DISCOVERY_TIMEOUT = 120.0
DIJOB = "diengine.opendilab.org/v2alpha1"


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    return Space(whole_api, whole_namespace)


def pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "main"}], **spec},
    }


def job(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    template = pod("", annotations, restartPolicy="Never")
    del template["metadata"]["name"]
    return {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": template}}


def conditions(stored: dict[str, Any]) -> set[str]:
    return {one["type"] for one in stored["status"].get("conditions") or () if one["status"] == "True"}


def test_a_deployments_pods_run_and_its_service_finds_them(space: Space) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod("")["spec"]}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    space.create("deployments", {"metadata": {"name": "web"}, "spec": spec}, "apps/v1")
    space.create("services", {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": [{"port": 80}]}})

    wait_for(lambda: space.phases() == ["Running"] * 3, TIMEOUT, what="three pods run")

    def addresses() -> list[str]:
        slices = space.items("endpointslices", "discovery.k8s.io/v1")
        ready = [one for part in slices for one in part.get("endpoints") or () if one["conditions"]["ready"]]
        return [address for one in ready for address in one["addresses"]]

    wait_for(lambda: len(addresses()) == 3, TIMEOUT, what="the service has three endpoints")
    assert set(addresses()) == {one["status"]["podIP"] for one in space.items("pods")}
    assert {one["spec"]["nodeName"] for one in space.items("pods")} <= {"node-0", "node-1"}


@pytest.mark.parametrize(
    ("annotations", "condition", "phase"),
    [
        (ends(0), "Complete", "Succeeded"),
        (ends(3), "Failed", "Failed"),
        (ends(0, after="100ms"), "Complete", "Succeeded"),
    ],
)
def test_a_job_ends_as_its_template_says(space: Space, annotations: dict[str, str], condition: str, phase: str) -> None:
    space.create("jobs", job("train", annotations), "batch/v1")
    wait_for(
        lambda: condition in conditions(space.get("jobs", "train", "batch/v1")), TIMEOUT, what=f"the job is {condition}"
    )
    (ended,) = space.items("pods")
    assert ended["status"]["phase"] == phase
    code = int(next(iter(annotations.values())))
    assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


def test_a_pod_of_which_nothing_is_said_runs_until_it_is_told_to_end(space: Space) -> None:
    space.create("jobs", job("endless", {}), "batch/v1")
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the pod runs")
    assert space.get("jobs", "endless", "batch/v1")["status"]["active"] == 1

    end_pod(space.api, space.name, space.items("pods")[0]["metadata"]["name"], 137)

    wait_for(lambda: "Failed" in conditions(space.get("jobs", "endless", "batch/v1")), TIMEOUT, what="the job failed")


def test_nobody_ends_a_pod_that_is_not_there(space: Space) -> None:
    with pytest.raises(ValueError, match='pods "nobody" not found'):
        end_pod(space.api, space.name, "nobody")


def test_init_containers_are_behind_a_running_pod_and_sidecars_run_beside_it(space: Space) -> None:
    starters = [{"name": "wait", "image": "wait"}, {"name": "proxy", "image": "proxy", "restartPolicy": "Always"}]
    space.create("pods", pod("started", initContainers=starters))
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the pod runs")
    status = space.items("pods")[0]["status"]
    states = {one["name"]: next(iter(one["state"])) for one in status["initContainerStatuses"]}
    assert states == {"wait": "terminated", "proxy": "running"}
    assert conditions({"status": status}) >= {"PodScheduled", "Initialized", "ContainersReady", "Ready"}


def test_pods_that_name_a_batch_scheduler_run_too(space: Space) -> None:
    space.create("pods", pod("batched", schedulerName="volcano"))
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the pod runs")


def test_pods_get_the_token_of_their_service_account(space: Space) -> None:
    created = space.create("pods", pod("accounted"))
    assert created["spec"]["serviceAccountName"] == "default"
    assert created["spec"]["containers"][0]["volumeMounts"][0]["mountPath"].endswith("/serviceaccount")


def test_a_program_can_be_a_service_account(whole_controlplane: WholeControlPlane, space: Space) -> None:
    with whole_controlplane.account_api(space.name, "operator") as api:
        status, review = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert status == 201
    assert review["status"]["userInfo"]["username"] == f"system:serviceaccount:{space.name}:operator"


def test_what_an_owner_leaves_is_collected(space: Space) -> None:
    owner = space.create("configmaps", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    space.create("configmaps", {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    space.create("configmaps", {"metadata": {"name": "free"}})

    space.delete("configmaps", "owner")

    wait_for(lambda: not space.exists("configmaps", "owned"), TIMEOUT, what="the owned object is gone")
    assert space.exists("configmaps", "free")


def test_a_namespace_goes_with_all_that_is_in_it(space: Space) -> None:
    space.create("pods", pod("inhabitant"))
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    space.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": claim})
    wait_for(lambda: space.phases() == ["Running"], TIMEOUT, what="the pod runs")

    space.api.delete(f"/api/v1/namespaces/{space.name}")

    wait_for(lambda: space.api.get(f"/api/v1/namespaces/{space.name}")[0] == 404, TIMEOUT, what="the namespace is gone")


def test_a_pod_goes_where_it_fits_and_waits_where_it_does_not(
    whole_controlplane: WholeControlPlane, space: Space
) -> None:
    name = f"small-{space.name}"
    capacity = {"cpu": "2", "memory": "4Gi", "pods": "10"}
    whole_controlplane.add_nodes(name, capacity=capacity, labels={"pool": space.name})
    for size in ("1", "2"):
        asks = [{"name": "main", "image": "main", "resources": {"requests": {"cpu": size}}}]
        space.create("pods", pod(f"cpu-{size}", containers=asks, nodeSelector={"pool": space.name}))
        wait_for(lambda: all(one["status"].get("conditions") for one in space.items("pods")), TIMEOUT)

    wait_for(lambda: space.phases() == ["Pending", "Running"], TIMEOUT, what="the first pod runs")
    assert "Insufficient cpu" in space.get("pods", "cpu-2")["status"]["conditions"][0]["message"]
    assert space.get("pods", "cpu-1")["spec"]["nodeName"] == name
    whole_controlplane.kubectl("delete", "node", name)


def test_a_node_that_is_not_ready_yet_or_tainted_is_not_open() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert is_open({**node("new"), "spec": {}, "status": ready})
    assert not is_open({**node("new"), "spec": {}, "status": {}})
    assert not is_open({**node("new"), "spec": {"taints": [{"key": "node.kubernetes.io/not-ready"}]}, "status": ready})


def test_the_webhook_is_called_for_it_too_and_a_deleted_job_leaves_nothing(
    whole_controlplane: WholeControlPlane, whole_webhook: InstalledWebhook, space: Space
) -> None:
    manifest = """
        apiVersion: diengine.opendilab.org/v2alpha1
        kind: DIJob
        metadata: {name: walker}
        spec:
          tasks: [{type: learner, replicas: %s, template: {spec: {containers: [{name: walker, image: walker}]}}}]
    """
    apply = ("apply", "--namespace", space.name, "--filename=-")
    with pytest.raises(KubectlError, match=r"spec\.tasks\[0\]\.replicas"):
        whole_controlplane.kubectl(*apply, input=manifest % 0)
    whole_controlplane.kubectl(*apply, input=manifest % 1)
    stored = space.get("dijobs", "walker", DIJOB)
    assert stored["spec"]["tasks"][0]["name"] == "learner"
    reference = {
        "apiVersion": stored["apiVersion"],
        "kind": "DIJob",
        "name": "walker",
        "uid": stored["metadata"]["uid"],
    }
    space.create("configmaps", {"metadata": {"name": "owned", "ownerReferences": [reference]}})

    space.delete("dijobs", "walker", DIJOB)

    wait_for(lambda: not space.exists("configmaps", "owned"), DISCOVERY_TIMEOUT, what="the owned object is gone")


def test_all_its_programs_are_kept_and_logged(whole_controlplane: WholeControlPlane) -> None:
    names = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
    pids = (whole_controlplane.folder / PIDS_FILE).read_text(encoding="ascii").split()
    assert {Path(f"/proc/{pid}/exe").readlink().name for pid in pids} == names
    assert all(f"{name}.log:" in whole_controlplane.logs() for name in names)


def test_a_program_that_does_not_start_is_told_with_its_log(
    whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    broken = tmp_path / "kwok"
    broken.write_text("#!/bin/sh\necho no such cluster >&2; exit 4\n", encoding="ascii")
    broken.chmod(0o755)
    plane = WholeControlPlane(dataclasses.replace(whole_controlplane.assets, kwok=broken))
    with pytest.raises(ControlPlaneError, match=r"(?s)kwok \(code 4\) ended.*no such cluster"):
        plane.start()
    assert not plane.folder.exists()
