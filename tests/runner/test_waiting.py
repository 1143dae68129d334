"""Why pods wait, in the words of those who know it."""

from typing import Any

import pytest

from jobgate.plugins.queueing import Grouping, System
from jobgate.runner.seen import PODS, keep_object
from tests.runner.world import START, World, dijob, stamp, task, vcjob, vctask

UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available",
}
READY = {"type": "Ready", "status": "True"}
LOST = {"type": "Ready", "status": "False"}


def container(reason: str, message: str = "", *, ready: bool = False) -> dict[str, Any]:
    """The status of a container that waits."""
    return {"ready": ready, "state": {"waiting": {"reason": reason, "message": message}} if reason else {}}


CASES: list[tuple[str, dict[str, Any], str]] = [
    ("is not schedulable", {"conditions": [UNSCHEDULABLE]}, "0/3 nodes are available"),
    (
        "lacks a claim",
        {"conditions": [{**UNSCHEDULABLE, "message": 'persistentvolumeclaim "data" not found'}]},
        'persistentvolumeclaim "data" not found',
    ),
    ("is gated", {"conditions": [{**UNSCHEDULABLE, "reason": "SchedulingGated"}]}, "has scheduling gates"),
    ("no scheduler wants", {"conditions": []}, "no scheduler has considered it"),
    ("waits for its volume", {"conditions": [], "nominatedNodeName": "n1"}, ""),
    ("has no image", {"containerStatuses": [container("ErrImagePull", "no")]}, "ImagePullBackOff"),
    (
        "lacks a Secret",
        {"containerStatuses": [container("CreateContainerConfigError", 'secret "s" not found')]},
        "CreateContainerConfigError: secret",
    ),
    (
        "crashes",
        {
            "phase": "Running",
            "containerStatuses": [{**container("CrashLoopBackOff", "back-off 40s"), "name": "main", "restartCount": 3}],
        },
        "CrashLoopBackOff: container main restarts repeatedly",
    ),
    (
        "has an image of a name",
        {"containerStatuses": [{**container("ErrImagePull"), "image": "di:1"}]},
        "ImagePullBackOff: image di:1",
    ),
    ("has no message", {"conditions": [{**UNSCHEDULABLE, "message": ""}]}, ""),
    ("is created", {"containerStatuses": [container("ContainerCreating")]}, ""),
    (
        "is on a dead node",
        {"phase": "Running", "conditions": [LOST], "containerStatuses": [container("", ready=True)]},
        "node n1 does not respond",
    ),
    ("is not ready", {"phase": "Running", "conditions": [{**LOST, "reason": "ContainersNotReady"}]}, ""),
    ("runs", {"phase": "Running", "conditions": [READY], "containerStatuses": [container("", ready=True)]}, ""),
]


@pytest.mark.parametrize(("case", "status", "expected"), CASES, ids=[case for case, _, _ in CASES])
def test_the_status_says_why_a_pod_waits_that(case: str, status: dict[str, Any], expected: str) -> None:
    world = World(dijob(task(2)))
    world.settle()
    pod = world.pod()
    pod["status"] = {"phase": "Pending", "conditions": [], "containerStatuses": [], **status}
    pod["spec"] = {} if "PodScheduled" in str(status) or "scheduler" in case else {"nodeName": "n1"}
    pod["metadata"]["namespace"] = "lab"
    world.pods[world.pods.index(pod)] = {**keep_object("Pod", PODS)(pod), "metadata": pod["metadata"]}
    world.wait(60)
    world.step()
    message = world.status["conditions"][-1]["message"]
    assert (f"pod work-0: {expected}" in message) if expected else "pod work-0" not in message, message
    messages = [event.message for event in world.events if event.reason == "PodsWait"]
    assert len(messages) == bool(expected)


@pytest.mark.parametrize(
    ("restarts", "state", "reported"),
    [
        (3, {"running": {}}, True),
        (3, {"terminated": {"exitCode": 7}}, True),
        (3, {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}, True),
        (3, {"terminated": {"exitCode": 0}}, False),
        (2, {"running": {}}, False),
        (2, {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s"}}, False),
    ],
    ids=["runs", "has ended", "waits", "has succeeded at last", "has hardly restarted", "waits for its second restart"],
)
def test_the_status_names_a_crash_loop_also_while_the_container_runs(
    restarts: int, state: dict[str, Any], *, reported: bool
) -> None:
    world = World(vcjob(vctask(policy="OnFailure")))
    world.settle()
    last = {"terminated": {"exitCode": 7, "finishedAt": stamp(world.now)}}
    pod = world.pod()
    pod["status"] |= {
        "containerStatuses": [{"name": "main", "restartCount": restarts, "state": state, "lastState": last}]
    }
    world.pods[world.pods.index(pod)] = {**keep_object("Pod", PODS)(pod), "metadata": pod["metadata"]}
    expected = "pod work-0: CrashLoopBackOff: container main restarts repeatedly, last exit code 7"
    # A container that has run for 10 minutes is in no crash loop any more; one that waits is.
    for seconds, now in ((0, reported), (599, reported), (2, reported and "waiting" in state)):
        world.wait(seconds)
        world.step()
        assert (expected in world.status["state"].get("message", "")) is now


def test_pods_that_do_not_end_name_their_node_once_their_time_is_over() -> None:
    world = World(dijob(task(1)))
    world.settle()
    world.pod()["spec"] = {"nodeName": "n1"}
    world.leave([world.pod()])
    world.step()
    assert "n1" not in str(world.status)
    world.wait(60)
    world.step()
    assert (
        "pod work-0: deleted, and has not ended: node n1 may be unreachable"
        in world.status["conditions"][-1]["message"]
    )


def test_many_pods_that_wait_for_the_same_are_one_reason() -> None:
    world = World(dijob(task(6)))
    world.settle()
    for pod in world.pods:
        pod["status"] |= {"phase": "Pending", "conditions": [UNSCHEDULABLE]}
    world.step()
    assert (
        "pods work-0, work-1, work-2 and 3 more: 0/3 nodes are available" in world.status["conditions"][-1]["message"]
    )


GROUPS: list[tuple[str, System, dict[str, Any], str]] = [
    (
        "volcano cannot schedule",
        System.VOLCANO,
        {
            "phase": "Inqueue",
            "conditions": [{"type": "Unschedulable", "status": "True", "message": "2/2 tasks in gang unschedulable"}],
        },
        "PodGroup train: 2/2 tasks in gang",
    ),
    (
        "volcano has not admitted",
        System.VOLCANO,
        {"phase": "Pending"},
        "queue default must exist, be open and have room",
    ),
    (
        "volcano has scheduled before",
        System.VOLCANO,
        {"phase": "Running", "conditions": [{"type": "Unschedulable", "status": "True", "message": "old"}]},
        "",
    ),
    (
        "kubernetes cannot schedule",
        System.KUBERNETES,
        {"conditions": [{"type": "PodGroupScheduled", "status": "False", "message": "no room for 2"}]},
        "PodGroup train: no room for 2",
    ),
    (
        "kubernetes has scheduled",
        System.KUBERNETES,
        {"conditions": [{"type": "PodGroupScheduled", "status": "True", "message": "fine"}]},
        "",
    ),
]


@pytest.mark.parametrize(("case", "system", "status", "expected"), GROUPS, ids=[case for case, *_ in GROUPS])
def test_the_status_says_why_a_gang_waits_that(
    case: str, system: System, status: dict[str, Any], expected: str
) -> None:
    versions = {System.VOLCANO: "scheduling.volcano.sh/v1beta1", System.KUBERNETES: "scheduling.k8s.io/v1beta1"}
    world = World(dijob(task(2)), Grouping(system, versions[system]))
    world.settle()
    for pod in world.pods:
        pod["status"] |= {"phase": "Pending", "conditions": []}
        pod["metadata"]["creationTimestamp"] = stamp(START)
    world.groups["train"]["status"] = status
    world.wait(60)
    world.step()
    message = world.status["conditions"][-1]["message"]
    assert (expected in message) if expected else "PodGroup" not in message, message
