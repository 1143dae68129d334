"""Lifecycle policies of TorchJobs and MxJobs, beside the ways in which these kinds answer failures themselves."""

from typing import Any

import pytest

from tests.runner.test_rendering import children, example
from tests.runner.world import Object, World, stored, subject, torchjob

RESTART = {"event": "PodFailed", "action": "RestartJob"}
HOSTS = ["train-master-0", "train-worker-0", "train-worker-1", "train-worker-2"]


def torch(policy: str = "OnFailure", *policies: Object, **spec: Any) -> World:
    """A TorchJob that runs, whose master and three workers have a restart policy."""
    world = World(torchjob(policy, {"restartPolicy": policy}, policies=list(policies), **spec))
    world.settle()
    return world


def mxnet(*policies: Object, restart: str = "OnFailure") -> World:
    """A distributed MxJob that runs, whose pods have a restart policy."""
    job = stored(example("mxjob/dist.yaml"))
    for role in job["spec"]["replicaSpecs"]:
        role["template"]["spec"]["restartPolicy"] = restart
    job["spec"]["policies"] = list(policies)
    world = World(job)
    world.settle()
    return world


def uids(world: World) -> set[str]:
    """The uids of the pods that run."""
    return {pod["metadata"]["uid"] for pod in world.pods if pod["status"]["phase"] == "Running"}


def true(world: World) -> str:
    """The newest condition that holds."""
    return str([each["type"] for each in world.status["conditions"] if each["status"] == "True"][-1])


@pytest.mark.parametrize("restart", ["Never", "ExitCode", "OnFailure", "Always"])
def test_all_pods_of_a_torchjob_restart_when_one_fails_whatever_its_restart_policy(restart: str) -> None:
    world = torch(restart, RESTART)
    before = uids(world)
    world.end("worker", 1, code=1)
    world.settle()
    assert world.running() == HOSTS
    assert not uids(world) & before
    assert (true(world), world.status["jobgate"]["restarts"]) == ("Running", 1)


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
def test_all_pods_of_an_mxjob_restart_when_one_fails(restart: str) -> None:
    world = mxnet(RESTART, restart=restart)
    before, hosts = uids(world), world.running()
    world.end("worker", 0, code=1)
    world.settle()
    assert world.running() == hosts
    assert not uids(world) & before
    assert (world.status["phase"], world.status["jobgate"]["restarts"]) == ("Running", 1)


def test_pods_that_fail_together_are_one_restart() -> None:
    world = torch("OnFailure", RESTART, backoffLimit=1)
    for number in range(3):
        world.end("worker", number, code=1)
    world.end("master", code=1)
    world.settle()
    assert (world.running(), true(world)) == (HOSTS, "Running")
    world.end("worker", code=1)
    world.settle()
    assert true(world) == "Failed"
    assert "no restart is left" in world.status["conditions"][-1]["message"]


@pytest.mark.parametrize("world", [torch("OnFailure", RESTART), mxnet(RESTART)], ids=["TorchJob", "MxJob"])
def test_a_job_without_a_limit_restarts_six_times(world: World) -> None:
    for _ in range(6):
        world.end("worker", code=1)
        world.settle()
        assert true(world) in {"Running", "Ready"}
    world.end("worker", code=1)
    world.settle()
    assert (true(world), world.running()) == ("Failed", [])


def test_a_task_restarts_alone_and_its_policies_come_first() -> None:
    job = torchjob("OnFailure", {"policies": [{"event": "PodFailed", "action": "RestartTask"}]}, policies=[RESTART])
    world = World(job)
    world.settle()
    master = world.pod("master")["metadata"]["uid"]
    world.end("worker", 1, code=1)
    world.settle()
    assert (world.running(), world.pod("master")["metadata"]["uid"]) == (HOSTS, master)
    world.end("master", code=1)
    world.settle()
    assert world.running() == HOSTS
    assert world.pod("master")["metadata"]["uid"] != master


def code(number: int, action: str) -> Object:
    """A policy for an exit code."""
    return {"exitCode": number, "action": action}


@pytest.mark.parametrize(
    ("case", "restart", "policies", "ended", "phase", "replaced"),
    [
        ("a fatal code that a policy replaces", "ExitCode", [code(7, "RestartPod")], 7, "Running", 1),
        ("another fatal code", "ExitCode", [code(7, "RestartPod")], 8, "Failed", 0),
        ("a code that is retried", "ExitCode", [code(7, "RestartPod")], 137, "Running", 1),
        ("any failure that a policy replaces", "ExitCode", [{"event": "PodFailed", "action": "RestartPod"}], 8, "Running", 1),
        ("a code that Never allows", "Never", [code(7, "RestartPod")], 7, "Running", 1),
        ("one that Never does not", "Never", [code(7, "RestartPod")], 8, "Failed", 0),
        ("a code that restarts the job", "Never", [code(7, "RestartJob")], 7, "Running", 4),
        ("a failure that no policy is for", "OnFailure", [code(7, "RestartJob")], 8, "Running", 1),
        ("a job that ends", "OnFailure", [{"event": "PodFailed", "action": "TerminateJob"}], 1, "Failed", 0),
        ("an eviction that no failure is", "Never", [{"event": "PodEvicted", "action": "RestartJob"}], 1, "Failed", 0),
    ],
)  # fmt: skip
def test_policies_come_before_the_restart_policy(
    case: str, restart: str, policies: list[Object], ended: int, phase: str, replaced: int
) -> None:
    world = torch(restart, *policies)
    before = uids(world)
    world.end("worker", 2, code=ended)
    world.settle()
    assert (true(world), len(uids(world) - before)) == (phase, replaced), case


def test_a_permanent_code_of_an_mxjob_is_answered_by_a_policy() -> None:
    for policies, role, restart in (([], "Failed", "Never"), ([code(7, "RestartPod")], "Running", "Never")):
        world = mxnet(*policies, restart=restart)
        world.end("worker", code=7)
        world.settle()
        states = {each["mxReplicaType"]: each["state"] for each in world.status["replicaStatuses"]}
        assert states["WORKER"] == role


@pytest.mark.parametrize(
    ("policies", "restart"),
    [([], "OnFailure"), ([RESTART], "Never"), ([code(3, "RestartJob")], "Never"),
     ([{"event": "*", "action": "AbortJob"}], "Never"), ([{"event": "PodEvicted", "action": "RestartJob"}], "OnFailure"),
     ([{"event": "TaskFailed", "action": "RestartTask"}], "OnFailure")],
)  # fmt: skip
def test_containers_restart_in_their_pods_unless_a_policy_must_see_failures(
    policies: list[Object], restart: str
) -> None:
    mx = stored(example("mxjob/dist.yaml"))
    mx["spec"]["policies"] = policies
    for job in (torchjob("OnFailure", {}, policies=policies), mx):
        batches = children(subject(job)).jobs.values()
        assert {batch["spec"]["template"]["spec"]["restartPolicy"] for batch in batches} == {restart}


@pytest.mark.parametrize("world", [torch(), mxnet()], ids=["TorchJob", "MxJob"])
def test_a_job_without_policies_is_unchanged(world: World) -> None:
    assert all("podFailurePolicy" not in batch["spec"] for batch in world.jobs.values())
    assert {batch["spec"]["template"]["spec"]["restartPolicy"] for batch in world.jobs.values()} == {"OnFailure"}
