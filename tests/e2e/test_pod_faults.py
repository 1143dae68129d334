"""Faults around pods of the runner: dead nodes, fake rival operators, huge numbers of pods, and secrecy of SSH keys."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from controlplane.client import ClusterApi
from controlplane.controller import controlling
from controlplane.controller import install as install_controller
from controlplane.nodes import node
from controlplane.runner import install, runner, start
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, stop
from controlplane.whole import WholeControlPlane
from jobgate.cli import main
from jobgate.jobs.runner import runner_of
from jobgate.kinds import built_in
from tests.e2e.test_runner import RESOURCES, Run, claimless, templates

WAIT = 120.0
#: The taint is on the node, and pods tolerate it for a second.
EVICTION = 60.0
NODES = "/api/v1/nodes"
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture(scope="module", autouse=True)
def processes(
    whole_controlplane: WholeControlPlane,
    running_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """The runner and the controller, and webhooks with the settings of the runner."""
    folder = tmp_path_factory.mktemp("processes")
    install_controller(whole_api)
    with controlling(whole_controlplane, folder / "controller"), runner(whole_controlplane, folder / "runner"):
        yield


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


def written(kind: str, example: str) -> dict[str, Any]:
    """An example without node selectors and volume claims."""
    job: dict[str, Any] = yaml.safe_load(Path("examples", kind, f"{example}.yaml").read_text())
    return claimless(job)


def set_ready(api: ClusterApi, name: str, status: str) -> None:
    """Write the condition Ready of a node."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": status, "lastHeartbeatTime": now, "lastTransitionTime": now}
    assert api.patch(f"{NODES}/{name}/status", {"status": {"conditions": [ready]}})[0] == 200


@pytest.fixture
def dead(whole_api: ClusterApi) -> Iterator[str]:
    """A node that accepts pods, without a kubelet."""
    name = "mute"
    silent = node(name, labels={"fault": "dead-node"})
    del silent["metadata"]["annotations"]
    assert whole_api.post(NODES, silent)[0] == 201
    set_ready(whole_api, name, "True")
    yield name
    for node_name in (name, "spare"):
        whole_api.delete(f"{NODES}/{node_name}")


def test_pods_of_a_dead_node_are_replaced_once_and_no_job_is_lost(
    space: Space, whole_controlplane: WholeControlPlane, dead: str
) -> None:
    """No pod is replaced while the old one may still run."""
    unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    runs = []
    for kind, example in (("dijob", "minimal"), ("torchjob", "minimal"), ("mxjob", "minimal"), ("vcjob", "minimal")):
        job = written(kind, example)
        for template in templates(job):
            template["spec"] |= {
                "nodeSelector": {"fault": "dead-node"},
                "tolerations": [{**unreachable, "tolerationSeconds": 1}],
            }
        runs.append(Run(space, job))

    def pods() -> list[dict[str, Any]]:
        return space.items("pods")

    def staying() -> dict[str, str]:
        return {
            pod["metadata"]["name"]: f"{pod['status']['phase']} on {pod['spec'].get('nodeName', 'no node')}"
            for pod in pods()
            if "deletionTimestamp" not in pod["metadata"]
        }

    def active() -> Counter[str]:
        return Counter(
            pod["spec"]["hostname"] for pod in pods() if pod["status"]["phase"] not in {"Failed", "Succeeded"}
        )

    # All pods: one that is created after the taint would stay pending, and not be evicted.
    count = sum(pod_count(run.job) for run in runs)
    wait_for(
        lambda: Counter(staying().values()) == {f"Pending on {dead}": count}, WAIT, what=f"{count} pods on the node"
    )
    for pod in pods():
        path = f"{space.path('pods', pod['metadata']['name'])}/status"
        ready = [{"type": "Ready", "status": "True"}]
        assert space.api.patch(path, {"status": {"phase": "Running", "conditions": ready}})[0] == 200
    first = active()
    old = {pod["metadata"]["uid"] for pod in pods()}

    # The node controller would also set this taint, but only some seconds later.
    set_ready(space.api, dead, "Unknown")
    whole_controlplane.kubectl("taint", "--overwrite", "node", dead, "node.kubernetes.io/unreachable:NoExecute")
    with suppress(TimeoutError):
        wait_for(lambda: not staying(), EVICTION)
    assert staying() == {}, space.api.get(f"{NODES}/{dead}")[1]["spec"].get("taints")
    whole_controlplane.add_nodes("spare", labels={"fault": "dead-node"})
    # A premature replacement would have room now. The write of a job triggers the runner.
    for run in runs:
        space.patch(run.plural, run.name, {"metadata": {"annotations": {"look": "again"}}}, run.version)
    names = {pod["metadata"]["name"] for pod in pods()}
    wait_for(lambda: evicted(space) == names, WAIT, what="Events say why")
    assert (active(), {pod["metadata"]["uid"] for pod in pods()}) == (first, old)

    # The taint that an administrator sets on a node that is shut down.
    out_of_service = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    whole_controlplane.kubectl("taint", "node", dead, out_of_service)

    def replaced() -> bool:
        now = [pod for pod in pods() if pod["status"]["phase"] == "Running"]
        assert max(active().values(), default=0) <= 1, "two pods of one index"
        return Counter(pod["spec"]["hostname"] for pod in now if pod["spec"]["nodeName"] == "spare") == first

    wait_for(replaced, WAIT, every=0.3, what="each pod is replaced, once")
    for run in runs:
        states = {
            condition["type"] for condition in run.status.get("conditions", ()) if condition.get("status") == "True"
        }
        assert not states & {"Failed", "Succeeded"}, run.status


def evicted(space: Space) -> set[str]:
    """The pods that Kubernetes has evicted from a node with a taint, by their Events."""
    events = space.items("events")
    return {event["involvedObject"]["name"] for event in events if event["reason"] == "TaintManagerEviction"}


def calls(api: ClusterApi, resource: str) -> float:
    """Return how many requests for a resource the API server has got, without watches."""
    lines = api.get("/metrics")[1]["text"].splitlines()
    samples = [
        line for line in lines if line.startswith("apiserver_request_total{") and f'resource="{resource}"' in line
    ]
    return sum(float(line.rpartition(" ")[2]) for line in samples if 'verb="WATCH"' not in line)


def test_200_fake_operator_leases_of_a_tenant_cost_little_and_stop_no_runner(
    space: Space, whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    words = [word for kind in built_in() if (runner_ := runner_of(kind)) for word in runner_.rivals]
    renewed = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for number in range(200):
        spec = {"holderIdentity": f"rival-{number}_0", "renewTime": renewed, "leaseDurationSeconds": 3600}
        name = f"{number}-{words[number % len(words)]}"
        space.create("leases", {"metadata": {"name": name}, "spec": spec}, "coordination.k8s.io/v1")
    labels = {"app": "rival"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "di-orchestrator"}]}}
    space.create(
        "deployments",
        {
            "metadata": {"name": "volcano-controllers"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        },
        "apps/v1",
    )
    wait_for(
        lambda: space.get("deployments", "volcano-controllers", "apps/v1").get("status", {}).get("readyReplicas"),
        WAIT,
        what="the rival is ready",
    )
    before, log = calls(space.api, "subjectaccessreviews"), tmp_path / "log"
    process = start(install(whole_controlplane), log)
    try:
        wait_for(lambda: "runner started" in log.read_text(), WAIT, what="the runner starts")
    finally:
        stop(process)
    # The runner checks at most 16 Deployments for each kind, and here is only one. No holder of a Lease is a pod.
    assert calls(space.api, "subjectaccessreviews") - before < 60


def test_kubectl_scales_no_job_to_a_million_pods(space: Space, whole_controlplane: WholeControlPlane) -> None:
    job = written("torchjob", "plugins")
    del job["spec"]["plugins"]
    run = Run(space, job)
    where = ("scale", f"torchjob/{run.name}", "--namespace", space.name)
    refused = whole_controlplane.kubectl(*where, "--replicas=1000000", check=False)
    workers = run.job["spec"]["torchTaskSpecs"]["Worker"]["numTasks"]
    assert refused.returncode != 0
    assert "pods in all, and jobs may have at most 10000: use fewer pods" in refused.stderr, refused.stderr
    space.patch(run.plural, run.name, {"metadata": {"annotations": {"a": "b"}}}, run.version)
    assert run.job["spec"]["torchTaskSpecs"]["Worker"]["numTasks"] == workers
    assert whole_controlplane.kubectl(*where, "--replicas=3", check=False).returncode == 0


def secured(job: dict[str, Any]) -> dict[str, Any]:
    """Return the job with containers that pass the level `restricted`."""
    for template in templates(job):
        spec = template["spec"]
        spec.pop("hostNetwork", None)
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            container["securityContext"] = RESTRICTED
        spec["securityContext"] = {"fsGroup": 1000}
    return job


ITEM = {
    "apiVersion": "jobgate.dev/v1alpha1",
    "kind": "Prerequisite",
    "metadata": {"name": "hook"},
    "spec": {
        "cmd": {"callbacks": [{"event": event, "commands": ["true"]} for event in ("taskStarts", "taskSucceeds")]}
    },
}


def level_of(space: Space, level: str) -> None:
    """Set the Pod Security level of a namespace, and give the controller its rights there."""
    install_controller(space.api, space.name)
    labels = {"pod-security.kubernetes.io/enforce": level}
    assert space.api.patch(f"/api/v1/namespaces/{space.name}", {"metadata": {"labels": labels}})[0] == 200
    space.create("prerequisites", ITEM, "jobgate.dev/v1alpha1")


def hooked(kind: str, **plugins: Any) -> dict[str, Any]:
    """A job with one container in its pods, hooks and plugins."""
    job = written(kind, "minimal" if kind == "vcjob" else "plugins")
    job["spec"]["plugins"] = plugins
    for part in parts(job):
        template = part["template"]
        if kind == "dijob":
            part["prerequisites"] = [{"name": "hook"}]
        else:
            annotations = template.setdefault("metadata", {}).setdefault("annotations", {})
            annotations["jobgate.dev/prerequisites"] = "hook"
        del template["spec"]["containers"][1:]
        template["spec"]["containers"][0].setdefault("command", ["train"])
    return job


def await_denial(space: Space, job: dict[str, Any]) -> None:
    """Wait until a job is denied only because its pods do not pass the level, so the webhook knows its items, too."""
    plural, version = RESOURCES[job["kind"]]

    def answer() -> str:
        body: dict[str, Any] = space.api.post(space.path(plural, group=version), job, {"dryRun": "All"})[1]
        return json.dumps(body.get("details", ""))

    def known() -> bool:
        text = answer()
        return "restricted" in text and "UnknownReference" not in text

    wait_for(known, WAIT, what="the webhook knows the level and the items")


SSH = ["--ssh-key-file-path=/home/trainer/.ssh"]


@pytest.mark.parametrize("kind", ["dijob", "torchjob", "mxjob", "vcjob"])
def test_additions_to_pods_pass_the_level_restricted(space: Space, kind: str) -> None:
    """If the containers of a job pass it, the pods run, with all plugins and hooks; else the job is denied at once."""
    level_of(space, "restricted")
    job = hooked(kind, env=[], svc=[], ssh=SSH)
    await_denial(space, job)
    run = Run(space, secured(job))
    count = pod_count(run.job)

    def running() -> bool:
        failures = [event["message"] for event in space.items("events") if event["reason"] == "FailedCreate"]
        assert not failures, failures[:1]
        return len(run.pods()) == count

    wait_for(running, WAIT, every=0.3, what=f"{count} pods of the {kind} run")
    for pod in run.pods().values():
        assert any(volume["name"] == f"{run.name}-ssh" for volume in pod["spec"]["volumes"])
        assert "hook" in pod["metadata"]["annotations"]["jobgate.dev/prerequisites-recorded"]


def test_additions_to_pods_of_workloads_pass_the_level_restricted(space: Space) -> None:
    level_of(space, "restricted")
    labels = {"app": "web"}
    metadata = {"labels": labels, "annotations": {"jobgate.dev/prerequisites": "hook"}}
    container = {"name": "main", "image": "web", "command": ["serve"], "securityContext": RESTRICTED}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": metadata, "spec": {"containers": [container]}},
    }
    web = {"metadata": {"name": "web"}, "spec": spec}
    # The server sees the item a moment after it was created.
    path = space.path("deployments", group="apps/v1")
    wait_for(lambda: space.api.post(path, web)[0] == 201, WAIT, what="the Deployment is accepted")
    wait_for(lambda: space.phases() == ["Running"], WAIT, what="its pod runs")
    (pod,) = space.items("pods")
    assert "hook" in pod["metadata"]["annotations"]["jobgate.dev/prerequisites-recorded"]


def parts(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks of a job."""
    spec = job["spec"]
    return list(spec.get("tasks") or spec.get("replicaSpecs") or spec["torchTaskSpecs"].values())


def pod_count(job: dict[str, Any]) -> int:
    """The number of pods of a job."""
    return sum(part.get("replicas", part.get("numTasks", 1)) or 1 for part in parts(job))


def all_but_secrets(space: Space, plane: WholeControlPlane) -> str:
    """Return all objects of a namespace except Secrets, as text: at least what a user with the role `view` can read."""
    viewer, group = f"viewer-{space.name}", "rbac.authorization.k8s.io"
    subjects = [{"kind": "User", "name": viewer, "apiGroup": group}]
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "view"}
    space.create("rolebindings", {"metadata": {"name": "v"}, "roleRef": role, "subjects": subjects}, f"{group}/v1")
    place = ("--namespace", space.name)
    asks = ("--kubeconfig", str(plane.kubeconfig_for(viewer)), *place, "auth", "can-i", "get")
    wait_for(lambda: plane.kubectl(*asks, "pods", check=False).returncode == 0, WAIT, what="the viewer may look")
    assert plane.kubectl(*asks, "secrets", check=False).returncode == 1
    listed = set(plane.kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name").stdout.split())
    names = ",".join(listed - {"secrets"})
    return plane.kubectl("get", names, *place, "-o", "json", "--show-managed-fields").stdout


def test_no_key_is_readable_without_the_right_to_read_secrets(
    space: Space, whole_api: ClusterApi, whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    install_controller(whole_api, space.name)
    job = written("dijob", "plugins")
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(job))
    run = Run(space, job)
    wait_for(lambda: space.exists("secrets", f"{run.name}-ssh"), WAIT, what="the keys are made")
    wait_for(run.pods, WAIT, what="pods run")
    secret = space.get("secrets", f"{run.name}-ssh")
    files = {name: base64.b64decode(text).decode() for name, text in secret["data"].items()}
    private = [files[name] for name in ("id_rsa", "ssh_host_key")]
    assert all("PRIVATE KEY" in text for text in private)
    # Lines of the keys, and parts of their base64 in the Secret.
    lines = {line for text in private for line in text.splitlines()[1:-1]}
    pieces = lines | {
        secret["data"][name][start : start + 40] for name in ("id_rsa", "ssh_host_key") for start in (0, 80)
    }
    secrets = json.dumps(secret) + "\n".join(private)
    assert all(piece in secrets for piece in pieces)
    text = all_but_secrets(space, whole_controlplane)
    for command in (["explain", str(file)], ["render", str(file)]):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
        text += result.output
    assert f"{run.name}-ssh" in text
    assert not [piece for piece in pieces if piece in text]
    assert "PRIVATE KEY" not in text
    for pod in run.pods().values():
        (volume,) = (volume for volume in pod["spec"]["volumes"] if volume["name"] == f"{run.name}-ssh")
        modes = {
            item["path"]: item["mode"]
            for source in volume["projected"]["sources"]
            for item in source["secret"]["items"]
        }
        assert {modes["id_rsa"], modes["ssh_host_key"]} <= {0o400, 0o600}, pod["metadata"]["name"]
