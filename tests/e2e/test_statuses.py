"""Statuses on a whole control plane, read all the time by a program that knows only the kinds' types."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import runner
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.jobs.policies import COMMAND
from tests.e2e.test_runner import RESOURCES, WAIT, Run, dijob, example, task, templates
from tests.runner.statuses import HELD, expected, reported, shown
from tests.runner.world import index

#: Seconds in which a status must follow.
SOON = 60.0
PATHS = {
    "MxJob": "examples/mxjob/dist.yaml",
    "TorchJob": "examples/torchjob/queued-gang.yaml",
    "Job": "examples/vcjob/minimal.yaml",
}


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The runner."""
    file = tmp_path_factory.mktemp("queues") / "queues.yaml"
    file.write_text("queues: [{name: small, quota: {pods: 1}}, {name: research}]")
    with runner(whole_controlplane, file.parent / "log", [f"--queues={file}"]):
        yield


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


def job_of(kind: str, **fields: Any) -> dict[str, Any]:
    """A job with pods that run until they are ended."""
    if kind == "DIJob":
        return dijob("train", task("work", 2), task("judge"), **fields)
    job = example(Path(PATHS[kind]))
    job["spec"] |= fields
    if kind != "Job":
        for template in templates(job):
            template["spec"]["containers"][0].pop("resources", None)
    return job


class Watched(Run):
    """A job; its phase is recorded whenever it is read."""

    def __init__(self, space: Space, job: dict[str, Any]) -> None:
        self.phases: list[str] = []
        super().__init__(space, job)

    @property
    def job(self) -> dict[str, Any]:
        job = super().job
        phase = shown(job.get("status", {}), job["kind"])
        if phase and phase not in self.phases[-1:]:
            self.phases.append(phase)
        return job

    def runs(self, host: str = "") -> bool:
        """Whether it runs, with this pod, and its status is true."""
        return shown(self.status, self.job["kind"]) == "Running" and (not host or host in self.pods()) and is_true(self)


def is_true(run: Run) -> bool:
    """Whether the counts of a status agree with the pods."""
    pods = [pod for pod in run.space.items("pods") if pod["metadata"]["labels"].get("jobgate.dev/job") == run.name]
    newest: dict[tuple[str, int], dict[str, Any]] = {}
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"])):
        pod["status"].setdefault("conditions", [])
        pod["status"].setdefault("containerStatuses", [])
        newest[pod["metadata"]["labels"]["jobgate.dev/task"], index(pod)] = pod
    deleted = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
    there = {place: pod for place, pod in newest.items() if pod not in deleted}
    job = run.job
    return reported(job) == expected(job, there, len(deleted))


@pytest.mark.parametrize("kind", RESOURCES)
def test_a_status_is_true_while_pods_fail_and_go_and_after_the_end(space: Space, kind: str) -> None:
    run = Watched(space, job_of(kind))
    wait_for(run.runs, WAIT, what="it runs")
    for happen in ("fail", "evict", "lose"):
        host, pod = max(run.pods().items())
        name = pod["metadata"]["name"]
        if happen == "fail":
            end_pod(space.api, space.name, name, 137)
        elif happen == "evict":
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            assert space.api.post(f"{space.path('pods', name)}/eviction", eviction)[0] == 201
        else:
            space.api.delete(space.path("pods", name), {"gracePeriodSeconds": 0})
        # A pod that is to fail still runs for a moment.
        wait_for(partial(gone, run, pod["metadata"]["uid"]), WAIT, what=f"the pod ends after {happen}")
        wait_for(partial(is_true, run), SOON, what=f"the status is true after {happen}")
        wait_for(partial(run.runs, "" if (happen, kind) == ("fail", "Job") else host), WAIT, what="it runs again")
    begun = run.phases[run.phases.index("Running") :]
    assert not HELD & {*begun} or kind == "Job", run.phases
    if kind == "DIJob":
        assert (run.status["restarts"], run.status["reschedules"]) == (1, 2)
    space.patch(run.plural, run.name, {"metadata": {"annotations": {COMMAND: "TerminateJob"}}}, run.version)
    wait_for(lambda: run.pods() == {} and is_true(run), WAIT, what="no deleted pod counts")
    replaced = ["JobRestarting", "JobRescheduling"] if kind == "DIJob" else []
    for reason in ("JobCreated", "JobRunning", "JobTerminated", *replaced):
        wait_for(partial(has_event, run, reason), SOON, what=reason)


def gone(run: Run, uid: str) -> bool:
    """Whether a pod does not run any more."""
    return all(pod["metadata"]["uid"] != uid for pod in run.pods().values())


def taken(space: Space, job: dict[str, Any]) -> Run:
    """A job that the runner, which may just have started, has taken over."""
    run = Run(space, job)
    wait_for(lambda: "jobgate" in run.status, WAIT, what="it is taken over")
    return run


def has_event(run: Run, reason: str) -> bool:
    """Whether the job has an Event."""
    about = [event["involvedObject"] for event in run.space.items("events") if event["reason"] == reason]
    return any(each["uid"] == run.job["metadata"]["uid"] for each in about)


def message(run: Run) -> str:
    """The texts of the status that give the reason for waiting."""
    status = run.status
    messages = [condition.get("message", "") for condition in status.get("conditions", ())]
    return " ".join([*messages, status.get("reason", ""), str(status.get("state"))])


@pytest.mark.parametrize("kind", RESOURCES)
def test_pods_that_find_no_node_say_why_and_the_job_does_not_run(space: Space, kind: str) -> None:
    job = job_of(kind)
    for template in templates(job):
        template["spec"]["nodeSelector"] = {"no": "node"}
    run = taken(space, job)
    wait_for(lambda: "node affinity" in message(run), SOON, what="the status says why")
    wait_for(lambda: has_event(run, "PodsWait"), SOON, what="so does an Event")
    assert shown(run.status, kind) in {"Starting", "Pending", "Creating", "Created"}


WAITS: list[tuple[str, str, str]] = [
    ("DIJob", "nowhere", "there is no queue nowhere"),
    ("DIJob", "small", "queue small has 1 of pods"),
    ("Job", "nowhere", "there is no queue nowhere"),
]


@pytest.mark.parametrize(("kind", "queue", "reason"), WAITS)
def test_a_job_in_a_queue_says_why_it_waits(space: Space, kind: str, queue: str, reason: str) -> None:
    run = taken(space, job_of(kind, queue=queue))
    wait_for(lambda: reason in message(run), SOON, what="the status says why")
    wait_for(lambda: has_event(run, "JobQueued"), SOON, what="so does an Event")


@pytest.mark.parametrize("kind", RESOURCES)
def test_pods_that_a_quota_forbids_say_so(space: Space, kind: str) -> None:
    # Only pods that name a priority class count, so the runner's queues leave the quota to Kubernetes.
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}
    space.create(
        "resourcequotas", {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}, "scopeSelector": selector}}
    )
    job = job_of(kind)
    for template in templates(job):
        template["spec"]["priorityClassName"] = "system-cluster-critical"
    run = taken(space, job)
    wait_for(lambda: "exceeded quota: none" in message(run), SOON, what="the quota is named")
    wait_for(lambda: has_event(run, "CannotCreatePods"), SOON, what="so does an Event")


@pytest.mark.parametrize("kind", RESOURCES)
def test_a_claim_that_is_missing_is_named(space: Space, kind: str) -> None:
    job = job_of(kind)
    for template in templates(job):
        template["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "absent"}}]
    run = taken(space, job)
    wait_for(lambda: 'persistentvolumeclaim "absent" not found' in message(run), SOON, what="the claim is named")
