"""The runner on a whole control plane, with Kubernetes' own Job controller."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import Answer, ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.runner import runner
from controlplane.simulation import end_pod, ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.changes import recorded
from tests.operators.conftest import env_of
from tests.runner.test_rendering import ORACLES
from tests.runner.world import holding

WAIT = 120.0
RESOURCES = {
    "DIJob": ("dijobs", "diengine.opendilab.org/v2alpha1"),
    "TorchJob": ("torchjobs", "train.distributed.io/v1alpha1"),
    "MxJob": ("mxjobs", "mxnet.mlkube.io/v1beta1"),
    "Job": ("jobs", "batch.volcano.sh/v1alpha1"),
}
EXAMPLES = sorted(Path("examples").glob("[dmtv]*job/*.yaml"))


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The runner."""
    with runner(whole_controlplane, tmp_path_factory.mktemp("runner") / "log"):
        yield


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


class Run:
    """A job that the runner runs."""

    def __init__(self, space: Space, job: dict[str, Any]) -> None:
        """Apply it."""
        self.space = space
        self.name = str(job["metadata"]["name"])
        self.plural, self.version = RESOURCES[job["kind"]]
        space.create(self.plural, job, self.version)

    @property
    def job(self) -> dict[str, Any]:
        """The stored job."""
        return self.space.get(self.plural, self.name, self.version)

    @property
    def status(self) -> dict[str, Any]:
        """Its status."""
        value: dict[str, Any] = self.job.get("status", {})
        return value

    @property
    def phase(self) -> str:
        """The phase of a Volcano Job."""
        return str(self.status.get("state", {}).get("phase", ""))

    def until(self, condition: str) -> None:
        """Wait until a condition holds."""
        wait_for(lambda: condition in holding(self.status), WAIT, what=f"{self.name} is {condition}")

    def pods(self, phase: str = "Running") -> dict[str, dict[str, Any]]:
        """Its pods of a phase, by host name."""
        return {
            pod["spec"]["hostname"]: pod
            for pod in self.space.items("pods")
            if pod["metadata"]["name"].startswith(f"{self.name}-")
            and pod["status"]["phase"] == phase
            and "deletionTimestamp" not in pod["metadata"]
        }

    def until_pods(self, *hosts: str) -> None:
        """Wait until exactly these pods run."""
        wait_for(lambda: sorted(self.pods()) == sorted(hosts), WAIT, what=f"{hosts} run")


def reasons(space: Space) -> set[str]:
    """The reasons of all Events of a namespace. An Event is written a moment after the status."""
    return {event["reason"] for event in space.items("events")}


def example(path: Path, **annotations: str) -> dict[str, Any]:
    """A job of the examples that waits for nothing."""
    job: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    job["metadata"].setdefault("annotations", {}).update(annotations)
    job["spec"].pop("suspend", None)
    return claimless(job)


def claimless(job: dict[str, Any]) -> dict[str, Any]:
    """Return the job without node selectors, and with an empty folder instead of each volume claim."""
    for template in templates(job):
        for field in ("nodeSelector", "affinity"):
            template["spec"].pop(field, None)
    if job["kind"] == "Job":
        job["spec"].pop("volumes", None)
    for volume in [*job["spec"].get("volumes", ()), *(volume for each in templates(job) for volume in volumes(each))]:
        if volume.pop("persistentVolumeClaim", None):
            volume["emptyDir"] = {}
    return job


def volumes(template: dict[str, Any]) -> list[dict[str, Any]]:
    """The volumes of a template."""
    result: list[dict[str, Any]] = template["spec"].get("volumes") or []
    return result


def templates(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The pod templates of a job."""
    spec = job["spec"]
    parts = spec.get("tasks") or spec.get("replicaSpecs") or list(spec["torchTaskSpecs"].values())
    return [part["template"] for part in parts]


def annotated(job: dict[str, Any], **annotations: str) -> dict[str, Any]:
    """Return the job with these annotations in its pod templates."""
    for template in templates(job):
        template.setdefault("metadata", {}).setdefault("annotations", {}).update(annotations)
    return job


def dijob(name: str, *tasks: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A DIJob."""
    api_version = "diengine.opendilab.org/v2alpha1"
    return {
        "apiVersion": api_version,
        "kind": "DIJob",
        "metadata": {"name": name},
        "spec": {**spec, "tasks": list(tasks)},
    }


def task(name: str, replicas: int = 1, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """A task of a DIJob."""
    containers = [{"name": "di-container", "image": "di"}]
    template = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": containers}}
    return {"name": name, "type": "none", "replicas": replicas, "template": template, **fields}


class Ran(Run):
    """An example that runs until it ends."""

    def __init__(self, space: Space, path: Path) -> None:
        """Create it, and the objects that it names."""
        self.written = job = annotated(example(path, aimaster="ready"), **ends(0, "4s"))
        for name in set(re.findall(r"'priorityClassName': '([^']+)'", str(job))):
            group = "scheduling.k8s.io/v1"
            body = {"apiVersion": group, "kind": "PriorityClass", "metadata": {"name": name}, "value": 10}
            assert space.api.post(f"/apis/{group}/priorityclasses", body)[0] in {201, 409}
        for name in set(re.findall(r"'serviceAccountName': '([^']+)'", str(job))):
            space.create("serviceaccounts", {"metadata": {"name": name}})
        super().__init__(space, job)
        self.seen: dict[str, dict[str, Any]] = {}

    def ended(self) -> bool:
        """Whether it has succeeded."""
        is_vcjob = self.written["kind"] == "Job"
        return self.phase == "Completed" if is_vcjob else "Succeeded" in holding(self.status)


@pytest.fixture(scope="module")
def ran(whole_controlplane: WholeControlPlane, whole_api: ClusterApi, process: None) -> Iterator[Mapping[Path, Ran]]:
    """The examples, each in its own namespace; they run at the same time, because each takes some seconds."""
    spaces = {path: Space(whole_api, open_namespace(whole_api)) for path in EXAMPLES}
    home = next(iter(spaces.values())).path("pods")
    with recorded(whole_controlplane, "/api/v1/pods", home=home) as changes:
        runs = {path: Ran(space, path) for path, space in spaces.items()}
        # If an example does not end, its own test fails.
        with suppress(TimeoutError):
            wait_for(lambda: {run.ended() for run in runs.values()} == {True}, WAIT, every=0.3)
        running = [pod for _, pod in changes() if pod["status"]["phase"] == "Running"]
    for run in runs.values():
        run.seen = {pod["spec"]["hostname"]: pod for pod in running if pod["metadata"]["namespace"] == run.space.name}
    yield runs
    for run in runs.values():
        whole_api.delete(f"/api/v1/namespaces/{run.space.name}")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_runs_to_its_end(ran: Mapping[Path, Ran], path: Path) -> None:
    run = ran[path]
    assert run.ended(), run.status
    own_variables = own(run.written)
    for host, variables in ORACLES[run.job["kind"]](run.job).items():
        if host in run.seen:
            written = env_of(run.seen[host]["spec"]["containers"][0])
            assert {name: written.get(name) for name in variables} | own_variables == variables | own_variables
    assert run.seen
    conditions = [condition for condition in run.status["conditions"] if "type" in condition]
    assert all(condition["observedGeneration"] >= 1 for condition in conditions)


def own(job: dict[str, Any]) -> dict[str, str]:
    """The variables that the templates of a job set themselves."""
    containers = [container for template in templates(job) for container in template["spec"]["containers"]]
    return {variable["name"]: "" for container in containers for variable in container.get("env") or ()}


def test_kubectl_waits_for_a_job(space: Space, whole_controlplane: WholeControlPlane) -> None:
    Run(space, dijob("short", task("work", 2, ends(0, "1s"))))
    whole_controlplane.kubectl(
        "wait", "--for=condition=Succeeded", "dijobs/short", "--namespace", space.name, "--timeout=120s"
    )


def test_tasks_start_in_the_order_of_their_dependencies(space: Space, whole_controlplane: WholeControlPlane) -> None:
    order = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}
    with recorded(whole_controlplane, space.path("pods")) as changes:
        run = Run(space, dijob("dag", *(task(name, dependsOn={"name": order.get(name, [])}) for name in "edcba")))
        run.until_pods(*(f"dag-{name}-0" for name in "abcde"))
        seen = changes()
    created: dict[str, int] = {}
    running: dict[str, int] = {}
    for place, (change, pod) in enumerate(seen):
        name = pod["metadata"]["labels"]["jobgate.dev/task"]
        if change == "ADDED":
            created[name] = place
        elif pod["status"]["phase"] == "Running":
            running.setdefault(name, place)
    assert all(running[before] < created[after] for after, earlier in order.items() for before in earlier)


def test_a_job_is_suspended_and_resumed(space: Space) -> None:
    run = Run(space, dijob("held", task("work", 2), suspend=True))
    wait_for(lambda: run.status.get("conditions"), WAIT, what="it has a status")
    assert space.items("pods") == []
    for suspend, hosts in (
        (False, ["held-work-0", "held-work-1"]),
        (True, []),
        (False, ["held-work-0", "held-work-1"]),
    ):
        space.patch(run.plural, run.name, {"spec": {"suspend": suspend}}, run.version)
        run.until_pods(*hosts)


def test_a_restart_of_a_job_replaces_all_pods(space: Space) -> None:
    policy = {"event": "PodFailed", "action": "RestartJob"}
    run = Run(space, dijob("again", task("work", 2), task("judge"), policies=[policy]))
    hosts = ["again-judge-0", "again-work-0", "again-work-1"]
    run.until_pods(*hosts)
    before = {pod["metadata"]["uid"] for pod in run.pods().values()}
    end_pod(space.api, space.name, run.pods()["again-work-1"]["metadata"]["name"], 7)

    def renewed() -> bool:
        now = {pod["metadata"]["uid"] for pod in run.pods().values()}
        assert not (now & before and now - before), "old and new pods run side by side"
        return sorted(run.pods()) == hosts and not now & before

    wait_for(renewed, WAIT, every=0.2, what="all pods are new")
    run.until("Running")
    assert run.status["restarts"] == 1


def test_a_failed_pod_is_replaced_until_the_backoff_limit(space: Space) -> None:
    run = Run(space, dijob("fails", task("work", annotations=ends(1, "1s")), task("judge"), backoffLimit=1))
    run.until("Failed")
    assert (run.status["phase"], run.status["restarts"]) == ("Failed", 1)
    wait_for(lambda: run.pods() == {}, WAIT, what="no pod runs")


def test_a_job_is_scaled_in_place(space: Space) -> None:
    run = Run(space, dijob("grows", task("work", 2)))
    run.until_pods("grows-work-0", "grows-work-1")
    before = {pod["metadata"]["uid"] for pod in run.pods().values()}
    space.patch(run.plural, run.name, {"spec": {"tasks": [task("work", 3)]}}, run.version)
    run.until_pods(*(f"grows-work-{index}" for index in range(3)))
    assert before < {pod["metadata"]["uid"] for pod in run.pods().values()}
    assert env_of(run.pods()["grows-work-2"]["spec"]["containers"][0])["DI_RANK"] == "2"


def test_workers_are_scaled_between_their_bounds(space: Space, whole_controlplane: WholeControlPlane) -> None:
    run = Run(space, example(Path("examples/torchjob/elastic.yaml")))
    hosts = ["bert-master-0", *(f"bert-worker-{index}" for index in range(4))]
    run.until_pods(*hosts[:3])
    before = {pod["metadata"]["uid"] for pod in run.pods().values()}
    path = f"{space.path(run.plural, run.name, run.version)}/scale"
    wait_for(lambda: space.api.get(path)[1]["status"]["replicas"] == 2, WAIT, what="the status counts the workers")
    scale = space.api.get(path)[1]
    selected = space.api.get(space.path("pods"), {"labelSelector": scale["status"]["selector"]})[1]["items"]
    assert {pod["spec"]["hostname"] for pod in selected} == set(hosts[1:3])

    def autoscaled(replicas: int) -> Answer | None:
        """Write the whole object, as an autoscaler does; return None if the runner has written meanwhile."""
        answer = space.api.put(path, {**space.api.get(path)[1], "spec": {"replicas": replicas}})
        return None if answer[0] == 409 else answer

    answer = wait_for(lambda: autoscaled(9), WAIT, what="an answer")
    assert answer is not None
    causes = [cause["field"] for cause in answer[1]["details"]["causes"]]
    assert (answer[0], causes) == (422, ["spec.torchTaskSpecs[Worker].numTasks"])
    assert wait_for(lambda: autoscaled(4), WAIT, what="an answer")[0] == 200  # type: ignore[index]
    run.until_pods(*hosts)
    assert before < {pod["metadata"]["uid"] for pod in run.pods().values()}
    place = ("--namespace", space.name)
    whole_controlplane.kubectl("scale", "torchjob/bert", "--replicas=2", *place)
    run.until_pods(*hosts[:3])
    assert before == {pod["metadata"]["uid"] for pod in run.pods().values()}
    refused = whole_controlplane.kubectl("scale", "torchjob/bert", "--replicas=1", *place, check=False)
    assert "must be at least spec.torchElasticPolicy.numMinReplicas" in refused.stderr


def test_a_deleted_job_leaves_nothing(space: Space) -> None:
    run = Run(space, dijob("gone", task("work", 2)))
    run.until("Running")
    space.delete(run.plural, run.name, run.version)
    resources = (("pods", ""), ("services", ""), ("jobs", "batch/v1"))
    wait_for(lambda: not any(space.items(*each) for each in resources), WAIT, what="nothing is left")


def test_a_namespace_can_be_deleted_while_its_jobs_run(space: Space, whole_api: ClusterApi) -> None:
    for number in range(3):
        Run(space, dijob(f"last-{number}", task("work", 2))).until("Running")
    assert whole_api.delete(f"/api/v1/namespaces/{space.name}")[0] in {200, 202}

    def gone() -> bool:
        # A kubelet ends a deleted pod, and then the Job controller removes its finalizer. Simulated pods do not end.
        for pod in space.items("pods"):
            path = f"{space.path('pods', pod['metadata']['name'])}/status"
            whole_api.patch(path, {"status": {"phase": "Failed"}})
        return whole_api.get(f"/api/v1/namespaces/{space.name}")[0] == 404

    wait_for(gone, WAIT, every=0.5, what="the namespace is gone")


def test_an_ended_job_is_deleted_after_its_ttl(space: Space) -> None:
    run = Run(space, dijob("brief", task("work", annotations=ends()), ttlSecondsAfterFinished=1))
    wait_for(lambda: not space.exists(run.plural, run.name, run.version), WAIT, what="it is deleted")


@pytest.mark.parametrize("kind", ["DIJob", "Job", "MxJob", "TorchJob"])
def test_pods_get_the_items_of_their_job_also_after_a_restart(space: Space, kind: str) -> None:
    spec = {"env": [{"name": "FROM_THE_ITEM", "value": "x"}]}
    item = {"apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "item"}, "spec": spec}
    space.create("prerequisites", item, "jobgate.dev/v1alpha1")
    folder = {"Job": "vcjob"}.get(kind, kind.lower())
    job = example(Path("examples") / folder / "minimal.yaml")
    if kind == "DIJob":
        job["spec"]["prerequisites"] = [{"name": "item"}]
    else:
        job["metadata"]["annotations"] = {"jobgate.dev/prerequisites": "item"}
    path = space.path(RESOURCES[kind][0], "", RESOURCES[kind][1]).removesuffix("/")
    known = lambda: space.api.post(path, job, {"dryRun": "All"})[0] == 201  # noqa: E731
    wait_for(known, WAIT, what="the server knows the item")
    run = Run(space, job)

    def has_pods() -> set[str]:
        wait_for(lambda: bool(run.pods()), WAIT, what="pods run")
        assert all("FROM_THE_ITEM" in str(pod["spec"]["containers"]) for pod in run.pods().values())
        return {pod["metadata"]["uid"] for pod in run.pods().values()}

    before, at = has_pods(), space.path(run.plural, run.name, run.version)
    status, answer = space.api.patch(at, {"metadata": {"annotations": {"jobgate.dev/command": "Restart"}}})
    supported = 'Unsupported value: "Restart": supported values: "AbortJob", "ResumeJob", "RestartJob"'
    assert (status, supported in answer["message"]) == (422, True), answer
    assert space.api.patch(at, {"metadata": {"annotations": {"jobgate.dev/command": "RestartJob"}}})[0] == 200
    wait_for(lambda: bool(run.pods()) and before.isdisjoint(has_pods()), WAIT, what="it was restarted")
    assert "jobgate.dev/command" not in run.job["metadata"]["annotations"]


def test_an_object_in_the_way_is_reported(space: Space) -> None:
    container = {"name": "other", "image": "other"}
    spec = {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    space.create(
        "jobs", {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "taken-work"}, "spec": spec}, "batch/v1"
    )
    run = Run(space, dijob("taken", task("work"), task("other")))
    wait_for(
        lambda: "ObjectInTheWay" in {event["reason"] for event in space.items("events")}, WAIT, what="an Event says so"
    )
    run.until_pods("taken-other-0")
    named = lambda: "Job taken-work is not of this job" in str(run.status.get("conditions"))  # noqa: E731
    wait_for(named, WAIT, what="the status says so")
    space.delete("jobs", "taken-work", "batch/v1")
    run.until("Running")


def test_the_reason_is_reported_while_pods_cannot_be_created(space: Space) -> None:
    work = task("work", 2)
    work["template"]["spec"]["serviceAccountName"] = "trainer"
    run = Run(space, dijob("lacks", work, task("other")))
    is_reported = lambda: re.search('of work cannot be created: .*"trainer" not found', str(run.status))  # noqa: E731
    wait_for(is_reported, WAIT, what="the status says so")
    # The Event follows the status.
    wait_for(
        lambda: "CannotCreatePods" in {event["reason"] for event in space.items("events")},
        WAIT,
        what="an Event says so",
    )
    space.create("serviceaccounts", {"metadata": {"name": "trainer"}})
    run.until("Running")
    messages = [condition["message"] for condition in run.status["conditions"] if condition["status"] == "True"]
    assert messages == ["all pods have started"]


def test_the_runner_does_not_start_beside_the_operator_of_a_kind(
    space: Space, whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    labels = {"app": "di-operator"}
    containers = [{"name": "manager", "image": "diorchestrator/di-orchestrator:v1.1.3"}]
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "di-operator"}, "spec": spec}
    space.create("deployments", body, "apps/v1")
    ready = lambda: space.get("deployments", "di-operator", "apps/v1")["status"].get("readyReplicas")  # noqa: E731
    wait_for(ready, WAIT, what="the operator runs")
    # Anyone may give a Deployment that name. It counts only if it has an operator's rights.
    log = tmp_path / "started"
    with runner(whole_controlplane, log, ["--lease-name=another"]):
        wait_for(lambda: "runner started" in log.read_text(), WAIT, what="the runner starts beside a name")
    rights = ("clusterrolebinding", f"{space.name}-operator")
    account = f"--serviceaccount={space.name}:default"
    whole_controlplane.kubectl("create", *rights, "--clusterrole=cluster-admin", account)
    try:
        with runner(whole_controlplane, tmp_path / "log") as process:
            assert process.wait(WAIT) == 1
        text = (tmp_path / "log").read_text()
        assert f"is run by Deployment {space.name}/di-operator" in text
        ignored = ["--lease-name=another", f"--ignore-operator={space.name}/di-operator"]
        log = tmp_path / "ignored"
        with runner(whole_controlplane, log, ignored):
            wait_for(lambda: "runner started" in log.read_text(), WAIT, what="the runner starts where it is ignored")
    finally:
        whole_controlplane.kubectl("delete", *rights)
