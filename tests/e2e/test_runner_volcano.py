"""The runner with Volcano Jobs, without Volcano, on a whole control plane."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.controller import controller
from controlplane.objects import ClusterObjects
from controlplane.runner import RUN, runner
from controlplane.simulation import end_pod, ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, annotated, example, space
from tests.runner.world import vctask

__all__ = ["space"]

VERSION = "bus.volcano.sh/v1alpha1"
#: Volcano's CRD of Commands, without its schema.
COMMANDS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "commands.bus.volcano.sh"},
    "spec": {
        "group": "bus.volcano.sh",
        "scope": "Namespaced",
        "names": {"kind": "Command", "plural": "commands"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The runner. The CRD of Commands is created first: the runner looks for it only every half minute."""
    ClusterObjects(whole_controlplane.client).apply(COMMANDS)
    with runner(whole_controlplane, tmp_path_factory.mktemp("runner") / "log"):
        yield
    whole_controlplane.client.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/commands.bus.volcano.sh")


def vcjob(name: str, *tasks: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A Volcano Job."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {**spec, "tasks": list(tasks)},
    }


def reaches(run: Run, phase: str) -> None:
    """Wait until a job is in a phase."""
    wait_for(lambda: run.phase == phase, WAIT, every=0.2, what=f"{run.name} is {phase}: {run.status}")


def test_any_event_restarts_a_job_until_max_retry(space: Space) -> None:
    job = annotated(example(Path("examples/vcjob/tensorflow.yaml")), **ends(0, "2s"))
    job["spec"]["policies"] = [{"event": "*", "action": "RestartJob"}]
    run = Run(space, job)
    reaches(run, "Failed")
    status = run.status
    assert (status["retryCount"], status["version"], status["running"], status["pending"]) == (3, 3, 0, 0)
    assert [condition["status"] for condition in status["conditions"]][-1] == "Failed"
    assert {"Restarting", "Running", "Failed"} <= {condition["status"] for condition in status["conditions"]}
    assert status["controlledResources"] == {f"plugin-{name}": name for name in ("ssh", "env", "svc")}
    wait_for(lambda: run.pods() == {}, WAIT, what="no pod runs")


def test_kubectl_waits_for_a_phase_and_the_status_counts_pods(
    space: Space, whole_controlplane: WholeControlPlane
) -> None:
    run = Run(space, vcjob("counted", vctask(2, "ps"), vctask(3, "worker")))
    wait_for(lambda: run.status.get("running") == 5, WAIT, what="all pods run")
    status = run.status
    assert (status["state"]["phase"], status["minAvailable"]) == ("Running", 5)
    assert status["taskStatusCount"] == {"ps": {"phase": {"Running": 2}}, "worker": {"phase": {"Running": 3}}}
    *others, last = (pod["metadata"]["name"] for _, pod in sorted(run.pods().items()))
    for name in others:
        end_pod(space.api, space.name, name)
    wait_for(lambda: run.status["succeeded"] == 4, WAIT, what="four have succeeded")
    end_pod(space.api, space.name, last, 7)
    place = ("--namespace", space.name, "--timeout=120s")
    whole_controlplane.kubectl("wait", "--for=jsonpath={.status.state.phase}=Failed", "vcjob/counted", *place)
    status = run.status
    assert (status["succeeded"], status["failed"]) == (4, 1)
    assert "needs 3 pods that succeed" in status["state"]["message"]


def test_a_pod_has_volcanos_labels_annotations_and_variables(space: Space) -> None:
    plugins: dict[str, Any] = {"env": [], "pytorch": [], "hcclrank": []}
    partitions = {"totalPartitions": 2, "partitionSize": 1}
    tasks = (vctask(1, "master"), vctask(2, "worker", partitionPolicy=partitions))
    run = Run(space, vcjob("marked", *tasks, plugins=plugins))
    run.until_pods("marked-master-0", "marked-worker-0", "marked-worker-1")
    pod = run.pods()["marked-worker-1"]
    labels, annotations = (pod["metadata"][field] for field in ("labels", "annotations"))
    assert labels.items() >= {"volcano.sh/task-index": "1", "volcano.sh/partition-id": "1"}.items()
    assert (annotations["volcano.sh/task-index"], annotations["hccl/rankIndex"]) == ("1", "2")
    assert pod["spec"]["subdomain"] == "marked"
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    env = {variable["name"]: variable.get("value") for variable in pod["spec"]["containers"][0]["env"]}
    expected = {"VC_TASK_INDEX": "1", "VK_TASK_INDEX": "1", "RANK": "2", "MASTER_ADDR": "marked-master-0.marked"}
    assert env.items() >= expected.items()


def test_a_claim_is_created_and_a_missing_claim_is_waited_for(space: Space) -> None:
    volumes = [{"mountPath": "/data", "volumeClaim": CLAIM}, {"mountPath": "/corpus", "volumeClaimName": "corpus"}]
    run = Run(space, vcjob("stored", vctask(), volumes=volumes))

    def message() -> str:
        return str(run.status.get("state", {}).get("message", ""))

    wait_for(
        lambda: "PersistentVolumeClaim corpus does not exist" in message(), WAIT, what="the status says what is missing"
    )
    assert (run.phase, space.items("pods")) == ("Pending", [])
    space.create("persistentvolumeclaims", {"metadata": {"name": "corpus"}, "spec": CLAIM})
    for number in range(2):
        source = {"hostPath": {"path": "/tmp"}, "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
        body = {"metadata": {"name": f"{space.name}-{number}"}, "spec": source}
        assert space.api.post("/api/v1/persistentvolumes", body)[0] == 201
    run.until_pods("stored-work-0")
    name = run.job["spec"]["volumes"][0]["volumeClaimName"]
    assert space.names("persistentvolumeclaims") == ["corpus", name]
    assert space.get("persistentvolumeclaims", name)["metadata"]["ownerReferences"][0]["name"] == "stored"


def test_a_restarted_job_keeps_its_claims_and_ends_with_its_pods(space: Space) -> None:
    policies = [{"event": "PodFailed", "action": "RestartJob"}, {"event": "TaskCompleted", "action": "CompleteJob"}]
    run = Run(space, vcjob("again", vctask(2), vctask(1, "chief"), policies=policies))
    hosts = ("again-chief-0", "again-work-0", "again-work-1")
    run.until_pods(*hosts)
    before = {pod["metadata"]["uid"] for pod in run.pods().values()}
    end_pod(space.api, space.name, run.pods()["again-work-1"]["metadata"]["name"], 1)

    def renewed() -> bool:
        return sorted(run.pods()) == list(hosts) and before.isdisjoint(
            pod["metadata"]["uid"] for pod in run.pods().values()
        )

    wait_for(renewed, WAIT, every=0.2, what="all pods are new")
    reaches(run, "Running")
    assert run.status["retryCount"] == 1
    end_pod(space.api, space.name, run.pods()["again-chief-0"]["metadata"]["name"])
    reaches(run, "Completed")
    wait_for(lambda: run.pods() == {}, WAIT, what="no pod runs")


def test_a_failed_pod_stays_and_a_deleted_pod_is_replaced(space: Space) -> None:
    run = Run(space, vcjob("single", vctask(3), minAvailable=1))
    hosts = [f"single-work-{index}" for index in range(3)]
    run.until_pods(*hosts)
    end_pod(space.api, space.name, run.pods()[hosts[0]]["metadata"]["name"], 7)
    run.until_pods(*hosts[1:])
    deleted = run.pods()[hosts[1]]["metadata"]
    space.delete("pods", deleted["name"])
    # A kubelet would end its container with SIGTERM.
    ended = {"name": "main", "ready": False, "restartCount": 0, "image": "", "imageID": ""}
    statuses = [{**ended, "state": {"terminated": {"exitCode": 143}}}]
    status = {"status": {"phase": "Failed", "containerStatuses": statuses}}
    assert space.api.patch(f"{space.path('pods', deleted['name'])}/status", status)[0] == 200
    wait_for(
        lambda: run.pods().get(hosts[1], {}).get("metadata", {}).get("uid") not in {None, deleted["uid"]},
        WAIT,
        what="the pod is made again",
    )
    assert sorted(run.pods()) == hosts[1:]
    for host in hosts[1:]:
        end_pod(space.api, space.name, run.pods()[host]["metadata"]["name"])
    reaches(run, "Completed")
    assert (run.status["succeeded"], run.status["failed"]) == (2, 1)


def test_the_objects_of_plugins_are_created(
    space: Space, whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    with controller(whole_controlplane, tmp_path, RUN):
        run = Run(space, vcjob("wired", vctask(2), plugins={"svc": [], "ssh": []}))
        run.until_pods("wired-work-0", "wired-work-1")
        places = (("configmaps", "wired-svc"), ("secrets", "wired-ssh"), ("services", "wired"))
        wait_for(lambda: all(space.exists(*place) for place in places), WAIT, what="all that plugins need is there")
    hosts = "wired-work-0.wired,wired-work-1.wired"
    assert space.get("configmaps", "wired-svc")["data"]["VC_WORK_HOSTS"] == hosts
    selector = space.get("services", "wired")["spec"]["selector"]
    assert all(pod["metadata"]["labels"].items() >= selector.items() for pod in run.pods().values())
    spec = run.pods()["wired-work-1"]["spec"]
    assert {"/etc/volcano", "/root/.ssh/id_rsa"} <= {
        each["mountPath"] for each in spec["containers"][0]["volumeMounts"]
    }


def test_volcanos_commands_suspend_and_resume_a_job(space: Space) -> None:
    run = Run(space, vcjob("commanded", vctask(2)))
    reaches(run, "Running")
    target = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "commanded", "controller": True}
    target["uid"] = run.job["metadata"]["uid"]
    for action, phase in (("AbortJob", "Aborted"), ("ResumeJob", "Running")):
        metadata = {"generateName": "commanded-", "ownerReferences": [target]}
        about = {"apiVersion": VERSION, "kind": "Command", "metadata": metadata}
        space.create("commands", {**about, "action": action, "target": target}, VERSION)
        reaches(run, phase)
        wait_for(lambda: space.items("commands", VERSION) == [], WAIT, what="the Command is deleted")
    assert run.status["retryCount"] == 0
