"""Changes of jobs whose tasks have not started: their pods are as the job says when they start."""

import copy
from typing import Any

import pytest

from jobgate.jobs.status import STATE
from jobgate.plugins.queueing import KUEUE_GROUP, Grouping, System
from jobgate.runner.rendering import is_outdated
from jobgate.runner.subject import look
from tests.runner.world import World, dijob, queued, subject, task, torchjob, vcjob, vctask

KUEUE = Grouping(System.KUEUE)
KEPT = "changes of started tasks reach their pods when these are restarted: work"


def images(world: World) -> dict[str, str]:
    """The image of each batch Job."""
    return {name: batch["spec"]["template"]["spec"]["containers"][0]["image"] for name, batch in world.jobs.items()}


def change(world: World, image: str = "new", number: int = 0) -> None:
    """Change the image of a task, with resources and where its pods go."""
    spec = world.job["spec"]["tasks"][number]["template"]["spec"]
    spec |= {"nodeSelector": {"pool": "new"}, "tolerations": [{"operator": "Exists"}]}
    spec["containers"][0] |= {"image": image, "env": [{"name": "A", "value": "b"}]}
    world.job["metadata"]["generation"] += 1


def wait(world: World, steps: int = 8, **status: Any) -> None:
    """Let runner and Kubernetes work, while pods do not start: they have this status."""
    for _ in range(steps):
        world.step()
        world.kubernetes()
        for pod in world.pods:
            pod["status"] = {"phase": "Pending", "conditions": [], "containerStatuses": [], **status}


def pulling() -> dict[str, Any]:
    """The status of a pod that is on a node, and whose image cannot be pulled."""
    waits = {"name": "main", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    return {"conditions": [{"type": "Initialized", "status": "True"}], "containerStatuses": [waits]}


def test_a_job_that_waits_in_its_queue_starts_as_it_was_changed() -> None:
    world = World(queued(vcjob(vctask(2))))
    world.verdict = "the queue is full"
    wait(world)
    change(world)
    wait(world)
    assert images(world) == {"train-work": "new"}
    assert world.pods == []
    world.verdict = ""
    world.settle()
    assert world.running() == ["train-work-0", "train-work-1"]
    spec = world.pod()["spec"]
    assert (spec["containers"][0]["image"], spec["nodeSelector"]) == ("new", {"pool": "new"})
    assert world.status[STATE]["begun"] == ["work"]
    assert world.status["state"]["message"] is None or "changes of started" not in world.status["state"]["message"]


@pytest.mark.parametrize("status", [{}, pulling()], ids=["no node has room", "the image cannot be pulled"])
def test_pods_that_have_not_started_are_replaced(status: dict[str, Any]) -> None:
    world = World(vcjob(vctask(2)))
    wait(world, **status)
    assert len(world.pods) == 2
    change(world)
    wait(world, **status)
    assert {pod["spec"]["containers"][0]["image"] for pod in world.pods} == {"new"}
    assert len(world.pods) == 2
    assert (world.status["state"]["phase"], world.status["retryCount"]) == ("Pending", 0)
    assert "begun" not in world.status[STATE]


@pytest.mark.parametrize(
    "state",
    [{"running": {"startedAt": "2026-01-01T00:00:00Z"}}, {"terminated": {"exitCode": 0}}],
)
def test_a_task_has_started_with_its_first_container_also_one_that_initializes_it(state: dict[str, Any]) -> None:
    world = World(vcjob(vctask(1)))
    status: dict[str, Any] = {"initContainerStatuses": [{"name": "first", "restartCount": 0, "state": state}]}
    wait(world, **status)
    assert world.status[STATE]["begun"] == ["work"]
    change(world)
    wait(world, **status)
    assert images(world) == {"train-work": "main"}


def test_a_change_that_comes_too_late_is_reported_and_used_from_the_next_restart_on() -> None:
    world = World(vcjob(vctask(1)))
    world.settle()
    before = world.pod()["metadata"]["uid"]
    change(world)
    world.settle()
    assert (images(world), world.pod()["metadata"]["uid"]) == ({"train-work": "main"}, before)
    assert KEPT in world.status["state"]["message"]
    assert [event.message for event in world.events if event.reason == "ChangedAfterStart"] == [KEPT]
    world.job["metadata"]["annotations"]["jobgate.dev/command"] = "RestartJob"
    world.settle()
    assert images(world) == {"train-work": "new"}
    assert KEPT not in str(world.status)


def test_a_task_that_waits_for_another_is_changed_alone() -> None:
    world = World(torchjob("OnFailure", {}))
    for _ in range(4):
        world.step()
        world.kubernetes()
        for pod in world.pods:
            pod["status"]["containerStatuses"][0] |= {"ready": False, "state": {"running": {}}}
            pod["status"]["conditions"] = []
    assert world.status[STATE]["begun"] == ["master"]
    master = world.pod("master")["metadata"]["uid"]
    world.job["spec"]["torchTaskSpecs"]["Worker"]["template"] = copy.deepcopy(
        world.job["spec"]["torchTaskSpecs"]["Worker"]["template"]
    )
    world.job["spec"]["torchTaskSpecs"]["Worker"]["template"]["spec"]["containers"][0]["image"] = "new"
    world.settle()
    assert images(world) == {"train-master": "torch", "train-worker": "new"}
    assert world.pod("master")["metadata"]["uid"] == master
    assert "changes of started" not in str(world.status)


def test_an_aborted_job_is_resumed_as_it_was_changed() -> None:
    world = World(vcjob(vctask(1)))
    world.settle()
    world.job["metadata"]["annotations"]["jobgate.dev/command"] = "AbortJob"
    world.settle()
    assert "begun" not in world.status[STATE]
    change(world)
    world.settle()
    assert "changes of started" not in str(world.status)
    world.job["metadata"]["annotations"]["jobgate.dev/command"] = "ResumeJob"
    world.settle()
    assert (images(world), world.running()) == ({"train-work": "new"}, ["train-work-0"])


@pytest.mark.parametrize(("ends", "image"), [(False, "new"), (True, "di")])
def test_a_suspended_job_is_resumed_as_it_was_changed_unless_a_pod_of_the_task_has_ended(
    *, ends: bool, image: str
) -> None:
    world = World(dijob(task(2)))
    world.settle()
    if ends:
        world.end()
        world.settle()
    world.job["spec"]["suspend"] = True
    world.settle()
    change(world)
    world.settle()
    world.job["spec"]["suspend"] = False
    world.settle()
    assert images(world) == {"train-work": image}
    assert (KEPT in str(world.status)) == ends


def test_a_scaled_job_and_one_of_an_earlier_version_are_not_made_again() -> None:
    world = World(vcjob(vctask(1)))
    wait(world)
    world.job["spec"]["tasks"][0]["replicas"] = 2
    wait(world)
    (batch,) = world.jobs.values()
    seen = look(subject(world.job), world.observed()).tasks["work"]
    assert (batch["spec"]["completions"], is_outdated(subject(world.job), seen)) == (2, False)
    del batch["metadata"]["annotations"]
    uid = batch["metadata"]["uid"]
    change(world)
    wait(world)
    assert world.jobs["train-work"]["metadata"]["uid"] == uid


def kueue() -> World:
    """A job in a queue of Kueue, whose pods wait."""
    world = World(vcjob(vctask(1), vctask(1, name="judge"), queue="research"), KUEUE)
    wait(world)
    return world


def test_a_job_that_waits_in_kueue_gets_another_group() -> None:
    world = kueue()
    groups = {pod["metadata"]["labels"][KUEUE_GROUP] for pod in world.pods}
    change(world)
    wait(world, 12)
    assert images(world) == {"train-work": "new", "train-judge": "main"}
    assert len(world.pods) == 2
    assert not groups & {pod["metadata"]["labels"][KUEUE_GROUP] for pod in world.pods}
    assert (world.status[STATE]["attempt"], world.status["retryCount"]) == (1, 0)


def test_a_job_that_kueue_has_started_keeps_all_of_its_templates() -> None:
    world = kueue()
    world.pod("judge")["status"] |= {"phase": "Running"}
    change(world)
    for _ in range(4):
        world.step()
    assert images(world) == {"train-work": "main", "train-judge": "main"}
    assert KEPT in world.status["state"]["message"]


def test_a_priority_class_of_the_job_reaches_pods_that_wait() -> None:
    world = World(vcjob(vctask(1)))
    wait(world)
    world.job["spec"]["priorityClassName"] = "urgent"
    wait(world)
    assert {pod["spec"]["priorityClassName"] for pod in world.pods} == {"urgent"}
