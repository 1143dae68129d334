"""Jobs in queues, on a whole control plane."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import runner
from controlplane.simulation import end_pod, ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import RESOURCES, WAIT, Run, dijob, reasons, task
from tests.runner.world import holding

QUEUES = """
queues:
- name: small
  quota: {pods: 1}
- name: large
  weight: 5
- name: fifo
  order: fifo
  quota: {pods: 1}
"""


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A runner; the value is its file of queues."""
    file = tmp_path_factory.mktemp("queues") / "queues.yaml"
    file.write_text(QUEUES)
    with runner(whole_controlplane, file.with_name("log"), [f"--queues={file}"]):
        yield file


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


def torchjob(name: str, queue: str) -> dict[str, Any]:
    """A TorchJob with one pod, which ends by itself."""
    container = {"name": "torch", "image": "torch"}
    template = {"metadata": {"annotations": ends(0, "1s")}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "train.distributed.io/v1alpha1",
        "kind": "TorchJob",
        "metadata": {"name": name},
        "spec": {
            "schedulingPolicy": {"queue": queue},
            "torchTaskSpecs": {"Master": {"numTasks": 1, "template": template}},
        },
    }


def why(run: Run) -> tuple[str, str, str]:
    """Return type, reason and message of a job's last condition; empty texts if it has none."""
    conditions = run.status.get("conditions") or [{}]
    return conditions[-1].get("type", ""), conditions[-1].get("reason", ""), conditions[-1].get("message", "")


def test_jobs_leave_a_queue_when_there_is_room_and_urgent_jobs_first(space: Space) -> None:
    first = Run(space, dijob("first", task("work"), queue="small"))
    first.until("Running")
    plain = Run(space, dijob("plain", task("work", annotations=ends(0, "1s")), queue="small"))
    wait_for(lambda: why(plain)[1] == "JobQueued", WAIT, what=f"it waits: {plain.status}")
    assert "queue small has 1 of pods" in why(plain)[2]
    torch = Run(space, torchjob("torch", "small"))
    wait_for(lambda: why(torch)[:2] == ("Queuing", "JobEnqueued"), WAIT, what=f"it waits: {torch.status}")
    urgent = Run(space, dijob("urgent", task("work"), queue="small", priority="high"))
    wait_for(lambda: "has 1 of pods" in why(urgent)[2], WAIT, what="it is the first that waits")
    assert sorted(first.pods()) == ["first-work-0"]
    end_pod(space.api, space.name, first.pods()["first-work-0"]["metadata"]["name"])
    urgent.until("Running")
    assert sorted(urgent.pods()) == ["urgent-work-0"]
    assert why(plain)[1] == "JobQueued"
    end_pod(space.api, space.name, urgent.pods()["urgent-work-0"]["metadata"]["name"])
    for run in (plain, torch):
        run.until("Succeeded")
    wait_for(lambda: "JobDequeued" in reasons(space), WAIT, what="an Event says that a job has left the queue")


def test_jobs_of_one_kubectl_apply_run_in_their_order(space: Space, whole_controlplane: WholeControlPlane) -> None:
    names = [f"fifo-{number}" for number in range(5)]
    jobs = [dijob(name, task("work", annotations=ends(0, "1.2s")), queue="fifo") for name in names]
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": jobs})
    whole_controlplane.kubectl("-n", space.name, "apply", "-f", "-", input=manifest)
    wait_for(
        lambda: all("Succeeded" in holding(job.get("status", {})) for job in space.items(*RESOURCES["DIJob"])),
        WAIT,
        what="all have succeeded",
    )
    created = {job["metadata"]["creationTimestamp"] for job in space.items(*RESOURCES["DIJob"])}
    assert len(created) < len(names), "no two jobs were created in the same second"
    pods = sorted(space.items("pods"), key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    assert [pod["metadata"]["labels"]["jobgate.dev/job"] for pod in pods] == names


def test_a_job_waits_for_a_resource_quota_before_its_pods_are_rejected(space: Space) -> None:
    body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "most"}, "spec": {"hard": {"pods": "2"}}}
    space.create("resourcequotas", body)
    wait_for(lambda: space.get("resourcequotas", "most").get("status", {}).get("hard"), WAIT, what="it holds")
    runs = Run(space, dijob("runs", task("work", 2), queue="large"))
    runs.until("Running")
    waits = Run(space, dijob("waits", task("work"), queue="large"))
    wait_for(lambda: "ResourceQuota of namespace" in why(waits)[2], WAIT, what=f"it waits: {waits.status}")
    assert {event["reason"] for event in space.items("events")} & {"FailedCreate"} == set()
    space.delete(runs.plural, runs.name, runs.version)
    waits.until("Running")


def test_a_job_in_an_unknown_queue_waits_until_the_queue_exists(space: Space, process: Path) -> None:
    lost = Run(space, dijob("lost", task("work"), queue="typo"))
    expected = "there is no queue typo; the queues are: small, large, fifo, default"
    wait_for(lambda: why(lost)[2] == expected, WAIT, what=f"it says so: {lost.status}")
    assert space.items("pods") == []
    process.write_text(f"{QUEUES}- name: typo\n")
    lost.until("Running")
