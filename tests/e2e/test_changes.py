"""Users change jobs that wait, on a whole control plane: pods start as the job says, and started tasks are denied."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import forget_lease, runner
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import RESOURCES, WAIT, Run

QUEUES = 'queues: [{name: small, quota: {cpu: "2"}}, {name: free}]'
VCJOBS = RESOURCES["Job"]


@pytest.fixture(scope="module")
def flags(running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The flags of a runner with queues."""
    file = tmp_path_factory.mktemp("changes") / "queues.yaml"
    file.write_text(QUEUES)
    return [f"--queues={file}"]


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


@pytest.fixture
def runs(whole_controlplane: WholeControlPlane, flags: list[str], tmp_path: Path) -> Iterator[None]:
    """A runner with queues."""
    with runner(whole_controlplane, tmp_path / "log", flags):
        yield


def tasks(cpu: str, image: str = "old", **spec: Any) -> list[dict[str, Any]]:
    """A task whose pod requests CPU."""
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu}}}
    return [
        {
            "name": "work",
            "replicas": 1,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container], **spec}},
        }
    ]


def vcjob(name: str, cpu: str, queue: str = "small", **spec: Any) -> dict[str, Any]:
    """A Volcano Job of one pod."""
    about = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}}
    return {**about, "spec": {"queue": queue, "tasks": tasks(cpu, **spec)}}


def change(run: Run, cpu: str, image: str, **spec: Any) -> tuple[int, str]:
    """Change the task; return the status of the response, and the message of a denial."""
    path = run.space.path(run.plural, run.name, run.version)
    status, answer = run.space.api.patch(path, {"spec": {"tasks": tasks(cpu, image, **spec)}})
    return status, str(answer.get("message", ""))


def pod(run: Run, phase: str = "Running") -> tuple[str, str]:
    """Image and CPU of the job's only pod of a phase; empty if there is none."""
    pods = run.pods(phase)
    containers = [each["spec"]["containers"][0] for host, each in pods.items() if host == f"{run.name}-work-0"]
    return (containers[0]["image"], containers[0]["resources"]["requests"]["cpu"]) if containers else ("", "")


def message(run: Run) -> str:
    """The message of the job's state."""
    return str(run.status.get("state", {}).get("message", ""))


def test_a_job_that_waits_in_a_queue_starts_as_it_was_changed_and_a_started_one_is_denied(
    space: Space, runs: None
) -> None:
    first = Run(space, vcjob("first", "2"))
    wait_for(lambda: pod(first) == ("old", "2"), WAIT, what="the first job runs")
    waits = Run(space, vcjob("waits", "2"))
    wait_for(lambda: "queue small has 2 of requests.cpu" in message(waits), WAIT, what="the job waits")
    assert change(waits, "3", "new") == (200, "")
    wait_for(lambda: "asks for 3" in message(waits), WAIT, what="a job that never fits says so")
    assert change(waits, "1", "new", nodeSelector={"kubernetes.io/os": "linux"})[0] == 200
    wait_for(lambda: "asks for 1" in message(waits), WAIT, what="the queue knows what it asks for")
    assert first.status["jobgate"]["begun"] == ["work"]
    status, why = change(first, "1", "new")
    assert status == 422
    assert "spec.tasks[0].template.spec.containers[0].image: Forbidden: may not change, because task work has" in why
    assert "kubectl annotate jobs.batch.volcano.sh first jobgate.dev/command=AbortJob" in why
    end_pod(space.api, space.name, first.pods()["first-work-0"]["metadata"]["name"])
    wait_for(lambda: pod(waits) == ("new", "1"), WAIT, what="the job starts as it was changed")
    assert waits.job["status"]["jobgate"]["released"] == {"pods": "1", "requests.cpu": "1"}
    assert waits.pods()["waits-work-0"]["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}
    wait_for(lambda: waits.status["jobgate"].get("begun") == ["work"], WAIT, what="its status says that it has started")
    assert change(waits, "2", "newer")[0] == 422
    # The way that the denial names.
    for command, phase in (("AbortJob", "Aborted"), ("ResumeJob", "Running")):
        if command == "ResumeJob":
            assert change(waits, "2", "newer")[0] == 200
        note = {"metadata": {"annotations": {"jobgate.dev/command": command}}}
        space.patch(waits.plural, waits.name, note, waits.version)
        wait_for(lambda: waits.phase == phase, WAIT, what=f"the job is {phase}")  # noqa: B023
    assert pod(waits) == ("newer", "2")


def test_a_released_job_whose_pod_has_no_node_is_changed_within_its_queue(space: Space, runs: None) -> None:
    run = Run(space, vcjob("stuck", "1", nodeSelector={"no": "node"}))
    wait_for(lambda: pod(run, "Pending") == ("old", "1"), WAIT, what="the pod waits for a node")
    assert change(run, "3", "large", nodeSelector={"no": "node"})[0] == 200
    wait_for(lambda: "what the job asks for more than was released waits" in message(run), WAIT, what="it waits")
    assert pod(run, "Pending") == ("old", "1")
    assert change(run, "2", "new")[0] == 200
    wait_for(lambda: pod(run) == ("new", "2"), WAIT, what="the job runs")
    assert run.status["jobgate"]["released"] == {"pods": "1", "requests.cpu": "2"}
    assert run.status.get("retryCount", 0) == 0


def test_a_job_is_changed_while_the_runner_is_down(
    space: Space, whole_controlplane: WholeControlPlane, flags: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with runner(whole_controlplane, log, flags):
        stuck = Run(space, vcjob("stuck", "1", "free", nodeSelector={"no": "node"}))
        first = Run(space, vcjob("first", "2"))
        wait_for(lambda: pod(stuck, "Pending") == ("old", "1") and pod(first) == ("old", "2"), WAIT, what="they begin")
        waits = Run(space, vcjob("waits", "1"))
        wait_for(lambda: "queue small" in message(waits), WAIT, what="the job waits")
    for run in (stuck, waits):
        assert change(run, "2", "new")[0] == 200
    new = Run(space, vcjob("unseen", "1", "free"))
    assert change(new, "2", "new")[0] == 200
    end_pod(space.api, space.name, first.pods()["first-work-0"]["metadata"]["name"])
    forget_lease(whole_controlplane)
    with runner(whole_controlplane, log, flags):
        for run in (stuck, waits, new):
            wait_for(lambda: pod(run) == ("new", "2"), WAIT, what=f"{run.name} runs as it was changed")  # noqa: B023
