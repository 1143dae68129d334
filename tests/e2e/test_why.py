"""`jobgate why` on a whole control plane: each cause is set up for real, and named first, with its figures."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from controlplane.assets import WholeAssets
from controlplane.client import ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.nodes import CAPACITY, node
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.versions import GANGS_API, GANGS_GATES, HAS_GANGS
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.cli import main
from tests.e2e.test_runner import WAIT, Run, dijob, task
from tests.e2e.test_runner_volcano import vcjob
from tests.runner.world import vctask

pytestmark = pytest.mark.skipif(not HAS_GANGS, reason="Kubernetes schedules gangs itself from 1.36 on")

QUEUES = "queues: [{name: small, quota: {pods: 2}}, {name: default}]"
NODES = "/api/v1/nodes"
Object = dict[str, Any]
#: The node selector of a node on which pods run.
HERE: Object = {"nodeSelector": {"kubernetes.io/hostname": "small-0"}}


@pytest.fixture(scope="module")
def plane(whole_assets: WholeAssets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeControlPlane]:
    """A control plane with gangs, queues and the runner; its nodes have two CPUs, a taint, no kubelet, or are dead."""
    flags = [GANGS_GATES, f"--runtime-config={GANGS_API}=true"]
    folder = tmp_path_factory.mktemp("why")
    queues = folder / "queues.yaml"
    queues.write_text(QUEUES)
    with (
        WholeControlPlane(whole_assets, flags, nodes=0, scheduler_flags=[GANGS_GATES]) as control_plane,
        InstalledWebhook(control_plane, folder, RUN),
        runner(control_plane, folder / "runner.log", ["--queueing=kubernetes", f"--queues={queues}"]),
        control_plane.api() as api,
    ):
        control_plane.add_nodes("small-0", "small-1", capacity={**CAPACITY, "cpu": "2"})
        tainted = node("tainted")
        tainted["spec"] = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}
        assert api.post(NODES, tainted)[0] == 201
        for name in ("mute", "dead"):
            silent = node(name, {**CAPACITY, "cpu": "2"}, {"kubelet": name})
            del silent["metadata"]["annotations"]
            assert api.post(NODES, silent)[0] == 201
            set_ready(api, name, "True")
        yield control_plane


@pytest.fixture
def api(plane: WholeControlPlane) -> Iterator[ClusterApi]:
    """A client of the control plane."""
    with plane.api() as client:
        yield client


@pytest.fixture
def space(api: ClusterApi) -> Iterator[Space]:
    """A namespace of the control plane."""
    name = open_namespace(api)
    yield Space(api, name)
    api.delete(f"/api/v1/namespaces/{name}")


def set_ready(api: ClusterApi, name: str, status: str) -> None:
    """Write the condition Ready of a node."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": status, "lastHeartbeatTime": now, "lastTransitionTime": now}
    assert api.patch(f"{NODES}/{name}/status", {"status": {"conditions": [ready]}})[0] == 200


def work(replicas: int = 1, cpu: str = "100m", **spec: Any) -> Object:
    """A task whose pods ask for CPU, with more fields of their spec."""
    result = task("work", replicas)
    result["template"]["spec"] |= spec
    result["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    return result


def on(name: str) -> Object:
    """The node selector of a node without a kubelet."""
    return {"nodeSelector": {"kubelet": name}}


def mounting(**source: Any) -> Object:
    """A volume of a pod spec."""
    return {"volumes": [{"name": "data", **source}]}


def said(plane: WholeControlPlane, space: Space, name: str, *options: str) -> tuple[int, str]:
    """Return the exit status of `jobgate why`, and its output."""
    where = ["--kubeconfig", str(plane.kubeconfig), "-n", space.name]
    result = CliRunner().invoke(main, ["why", name, *where, *options])
    return result.exit_code, result.output


def waiting(space: Space, status: Object, field: str = "containerStatuses") -> None:
    """Write the status of the only container of the only pod, as its kubelet does."""
    wait_for(lambda: [pod for pod in space.items("pods") if pod["spec"].get("nodeName")], WAIT, what="it has a node")
    (pod,) = space.items("pods")
    container = {"name": "di-container", "image": "di", "imageID": "", "ready": False, "restartCount": 0, **status}
    path = f"{space.path('pods', pod['metadata']['name'])}/status"
    assert space.api.patch(path, {"status": {"phase": "Pending", field: [container]}})[0] == 200


def fills(space: Space) -> None:
    """Let another job take the whole queue."""
    first = Run(space, dijob("first", work(2, **HERE), queue="small"))
    first.until("Running")


def claimed(space: Space) -> None:
    """Create a claim that no class provides for."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    space.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": spec})


def later_claimed(space: Space) -> None:
    """Create a claim that waits for its pod, of a class whose provisioner does not run."""
    storage = {"metadata": {"name": "absent"}, "provisioner": "csi.example.com"}
    storage["volumeBindingMode"] = "WaitForFirstConsumer"
    assert space.api.post("/apis/storage.k8s.io/v1/storageclasses", storage)[0] in {201, 409}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "absent",
    }
    space.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": spec})


def apart(replicas: int) -> Object:
    """A task whose pods may not share a node."""
    terms = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"apart": "yes"}}}]
    apart = work(replicas, affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    apart["template"]["metadata"] = {"labels": {"apart": "yes"}}
    return apart


def unready(space: Space) -> None:
    """Write a pod that runs, and is not ready, as its kubelet does."""
    waiting(space, {"started": True, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}})
    (pod,) = space.items("pods")
    ready = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
    status = {"phase": "Running", "conditions": [ready]}
    assert space.api.patch(f"{space.path('pods', pod['metadata']['name'])}/status", {"status": status})[0] == 200


def discarded(space: Space) -> None:
    """Delete the job, which a finalizer keeps."""
    space.api.delete(f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{space.name}/dijobs/train")


def scoped_quota(space: Space) -> None:
    """Create a quota that the runner leaves to Kubernetes."""
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}
    space.create(
        "resourcequotas", {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}, "scopeSelector": selector}}
    )


def quota(space: Space) -> None:
    """Create a quota."""
    space.create("resourcequotas", {"metadata": {"name": "most"}, "spec": {"hard": {"requests.cpu": "150m"}}})
    wait_for(lambda: space.get("resourcequotas", "most").get("status", {}).get("hard"), WAIT, what="it holds")


def limited(space: Space) -> None:
    """Create a LimitRange."""
    limit = {"type": "Container", "max": {"cpu": "50m"}}
    space.create("limitranges", {"metadata": {"name": "little"}, "spec": {"limits": [limit]}})


def nothing(_: Space) -> None:
    """Do nothing."""


def kubelet(reason: str, message: str) -> Callable[[Space], None]:
    """Write why a container waits."""
    return lambda space: waiting(space, {"state": {"waiting": {"reason": reason, "message": message}}})


def report(space: Space, ready: str) -> None:
    """Write a running pod, as its kubelet does; with Ready False, as the node controller does once the node is lost."""
    waiting(space, {"ready": True, "started": True, "state": {"running": {}}})
    (pod,) = space.items("pods")
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
    assert space.api.patch(f"{space.path('pods', pod['metadata']['name'])}/status", {"status": status})[0] == 200


def lost(space: Space) -> None:
    """Let the node of a running pod die."""
    report(space, "False")
    set_ready(space.api, "dead", "Unknown")


def deleted(space: Space) -> None:
    """Delete a running pod of a node that does not answer."""
    report(space, "True")
    (pod,) = space.items("pods")
    space.api.delete(space.path("pods", pod["metadata"]["name"]), params={"gracePeriodSeconds": "1"})


def secured(space: Space) -> None:
    """Raise the Pod Security level of the namespace after the job was admitted, and resume the job."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    assert space.api.patch(f"/api/v1/namespaces/{space.name}", {"metadata": {"labels": labels}})[0] == 200
    space.patch("dijobs", "train", {"spec": {"suspend": False}}, "diengine.opendilab.org/v2alpha1")


#: A cause: the job, what is done before and after it is created, the topic of the first cause, and parts of the text.
CASES: dict[str, tuple[Object, Callable[[Space], None], Callable[[Space], None], str, list[str]]] = {
    "queue full": (
        dijob("train", work(1), queue="small"),
        fills,
        nothing,
        "queue",
        ["queue small has 2 of pods, the job asks for 1, and the jobs before it leave 0"],
    ),
    "queue missing": (dijob("train", work(), queue="typo"), nothing, nothing, "queue", ["there is no queue typo"]),
    "ResourceQuota short": (
        dijob("train", work(2)),
        quota,
        nothing,
        "queue",
        [
            "the ResourceQuota of namespace",
            ", without what others use, has 0.15 of requests.cpu, and the job asks for 0.2",
        ],
    ),
    "ResourceQuota that only Kubernetes knows": (
        dijob("train", work(priorityClassName="system-cluster-critical")),
        scoped_quota,
        nothing,
        "creation",
        ["exceeded quota: none"],
    ),
    "CPU short": (
        dijob("train", work(1, "3")),
        nothing,
        nothing,
        "nodes",
        ["asks for 3 cpu", "too little cpu (", "taint gpu=yes:NoSchedule (1)", "comes nearest with", "of 2 cpu free"],
    ),
    "taint": (
        dijob("train", work(nodeSelector={"kubernetes.io/hostname": "tainted"})),
        nothing,
        nothing,
        "nodes",
        ["taint gpu=yes:NoSchedule (1)", "add a toleration"],
    ),
    "selector": (
        dijob("train", work(nodeSelector={"zone": "b"})),
        nothing,
        nothing,
        "nodes",
        ["labels other than zone=b", "correct nodeSelector"],
    ),
    "claim missing": (
        dijob("train", work(**mounting(persistentVolumeClaim={"claimName": "data"}))),
        nothing,
        nothing,
        "claim",
        ["PersistentVolumeClaim data does not exist"],
    ),
    "claim unbound": (
        dijob("train", work(**mounting(persistentVolumeClaim={"claimName": "data"}))),
        claimed,
        nothing,
        "claim",
        ["PersistentVolumeClaim data is Pending: StorageClass fast does not exist", "fast"],
    ),
    "Secret missing": (
        dijob("train", work(**on("mute"))),
        nothing,
        kubelet("CreateContainerConfigError", 'secret "key" not found'),
        "container",
        ['CreateContainerConfigError: secret "key" not found'],
    ),
    "image": (
        dijob("train", work(**on("mute"))),
        nothing,
        kubelet("ErrImagePull", "denied: requested access to the resource is denied"),
        "image",
        ["image di", "requested access to the resource is denied", "imagePullSecrets"],
    ),
    "dependsOn": (
        dijob("train", work(2, "3"), task("after", dependsOn={"name": ["work"]})),
        nothing,
        nothing,
        "nodes",
        ["task after waits for task work, of which 0 of 2 pods have started"],
    ),
    "suspended": (dijob("train", work(), suspend=True), nothing, nothing, "stopped", ["it is suspended"]),
    "gang short": (
        dijob("train", work(6, "1500m")),
        nothing,
        nothing,
        "nodes",
        ["PodGroup train:", "4 of 6 such pods find room"],
    ),
    "node dead": (dijob("train", work(**on("dead"))), nothing, lost, "node", ["node dead does not respond"]),
    "node does not end a pod": (
        dijob("train", work(**on("mute"))),
        nothing,
        deleted,
        "deletion",
        ["deleted, and has not ended: node mute may be unreachable", "the runner replaces it at "],
    ),
    "LimitRange": (dijob("train", work()), limited, nothing, "creation", ["maximum cpu usage per Container is 50m"]),
    "ServiceAccount missing": (
        dijob("train", work(serviceAccountName="robot")),
        nothing,
        nothing,
        "creation",
        ['serviceaccount "robot" not found'],
    ),
    "scheduling gate": (
        dijob("train", work(schedulingGates=[{"name": "example.com/wait"}])),
        nothing,
        nothing,
        "gate",
        ["has scheduling gates: example.com/wait"],
    ),
    "pods that keep apart": (
        dijob("train", apart(6)),
        nothing,
        nothing,
        "nodes",
        ["didn't match pod anti-affinity rules", "its podAntiAffinity keeps such pods apart"],
    ),
    "claim that nobody provides for": (
        dijob("train", work(**mounting(persistentVolumeClaim={"claimName": "data"}))),
        later_claimed,
        nothing,
        "claim",
        ["PersistentVolumeClaim data is Pending", "external provisioner 'csi.example.com'"],
    ),
    "readiness": (
        dijob("train", work(**on("mute"))),
        nothing,
        unready,
        "container",
        ["runs, and is not ready"],
    ),
    "job of a finalizer": (
        dijob("train", work()) | {"metadata": {"name": "train", "finalizers": ["example.com/keep"]}},
        nothing,
        discarded,
        "stopped",
        ["it is being deleted; finalizers: example.com/keep", "controllers of its finalizers"],
    ),
    "kubelet away": (
        dijob("train", work(**on("mute"))),
        nothing,
        nothing,
        "node",
        ["node mute has not begun to start it"],
    ),
    "init container": (
        dijob("train", work(**on("mute"))),
        nothing,
        lambda space: waiting(
            space, {"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}, "initContainerStatuses"
        ),
        "container",
        ["init container di-container runs since 2026-01-01T00:00:00Z"],
    ),
    "Pod Security": (
        dijob("train", work(), suspend=True),
        nothing,
        secured,
        "creation",
        ["violates PodSecurity", "correct the pod template"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_cause_is_named_first(plane: WholeControlPlane, space: Space, case: str) -> None:
    job, before, after, topic, parts = CASES[case]
    before(space)
    Run(space, job)
    after(space)

    def found() -> bool:
        code, text = said(plane, space, "dijob/train", "-o", "json")
        answer = json.loads(text)
        first = [cause["topic"] for cause in answer["causes"]][:1]
        return code == 1 and first == [topic] and all(part in text.replace('\\"', '"') for part in parts)

    wait_for(found, every=0.5, what=f"{case} is named")
    code, text = said(plane, space, "dijob/train")
    assert code == 1
    assert text.startswith(f"DIJob {space.name}/train ")
    assert "not looked at" not in text


def test_a_user_of_the_namespace_gets_the_answer_without_the_nodes(plane: WholeControlPlane, space: Space) -> None:
    group = "rbac.authorization.k8s.io"
    rules = [{"apiGroups": ["", "batch", "diengine.opendilab.org"], "resources": ["*"], "verbs": ["get", "list"]}]
    space.create("roles", {"metadata": {"name": "reader"}, "rules": rules}, f"{group}/v1")
    user = f"reader-{space.name}"
    role = {"apiGroup": group, "kind": "Role", "name": "reader"}
    subjects = [{"kind": "User", "name": user, "apiGroup": group}]
    space.create("rolebindings", {"metadata": {"name": "r"}, "roleRef": role, "subjects": subjects}, f"{group}/v1")
    Run(space, dijob("train", work(1, "3")))

    def text() -> str:
        result = CliRunner().invoke(
            main, ["why", "train", "--kubeconfig", str(plane.kubeconfig_for(user)), "-n", space.name]
        )
        return result.output if result.exit_code == 1 else ""

    wait_for(lambda: "Insufficient cpu" in text(), WAIT, every=0.5, what="the message of the scheduler is given")
    assert "not looked at: nodes: this account cannot list nodes" in text()


def test_a_job_that_does_not_exist_is_an_error(plane: WholeControlPlane, space: Space) -> None:
    code, text = said(plane, space, "none")
    assert code == 2
    assert f"there is no none in namespace {space.name}" in text


def test_of_two_kinds_with_a_job_of_the_name_one_must_be_named(plane: WholeControlPlane, space: Space) -> None:
    Run(space, dijob("train", work()))
    Run(space, vcjob("train", vctask(1)))
    code, text = said(plane, space, "train")
    assert (code, "name one of dijobs.diengine.opendilab.org/train, jobs.batch.volcano.sh/train" in text) == (2, True)
    assert said(plane, space, "vcjob/train")[0] in {0, 1}


def test_a_job_that_runs_has_status_0(plane: WholeControlPlane, space: Space) -> None:
    Run(space, dijob("train", work(**HERE))).until("Running")
    assert said(plane, space, "train") == (0, f"DIJob {space.name}/train runs: all pods have started\n")
