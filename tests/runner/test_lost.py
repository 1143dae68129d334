"""Pods on nodes that do not answer."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.runner.actions import Delete, RecordEvent
from jobgate.runner.lost import NODES, PERIOD, LostPods, shares_volume
from jobgate.runner.seen import PODS, keep_object
from jobgate.runner.subject import Observed
from tests.runner.world import START, Object, World, dijob, stamp, task

CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


class Nodes:
    """An API server that has nodes only."""

    def __init__(self, **ready: str) -> None:
        self.ready = ready
        self.reads = 0

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        assert (resource, namespace) == (NODES, "")
        self.reads += 1
        conditions = [{"type": "Ready", "status": self.ready.get(name)}]
        return {"status": {"conditions": conditions}} if name in self.ready else None


def deleted(node: str = "dead", phase: str = "Running", volumes: tuple[Object, ...] = (), **fields: Any) -> Object:
    """A pod whose grace period ended at the start, as it is kept."""
    mounts = [{"name": volume["name"], "mountPath": "/data"} for volume in volumes]
    spec = {"nodeName": node, "volumes": [*volumes], "containers": [{"name": "main", "volumeMounts": mounts}]}
    metadata = {"name": "a", "uid": "a", "deletionTimestamp": stamp(START), **fields}
    return keep_object("Pod", PODS)({"metadata": metadata, "spec": spec, "status": {"phase": phase}})


class Silent:
    """An API server that denies reading nodes."""

    reads = 0

    async def get(self, resource: Resource, name: str, namespace: str = "") -> None:
        self.reads += 1
        raise ApiError(403, "Forbidden", "no")


@pytest.mark.parametrize(
    ("pod", "after", "lost", "again"),
    [
        (deleted(), 60, True, None),
        (deleted("gone"), 60, True, None),
        (deleted(phase="Pending"), 60, True, None),
        (deleted(), 20, False, 40),
        (deleted("alive"), 60, False, PERIOD),
        (deleted("broken"), 60, False, PERIOD),
        (deleted(phase="Failed"), 60, False, None),
        (deleted(""), 60, False, None),
        (deleted(deletionTimestamp=None), 60, False, None),
        (deleted(volumes=(CLAIM,)), 60, False, None),
        (deleted(volumes=({"name": "scratch", "emptyDir": {}},)), 60, True, None),
    ],
)
async def test_a_pod_is_lost_after_the_deadline_if_its_node_does_not_answer(
    pod: Object, after: float, lost: bool, again: float | None
) -> None:
    nodes = Nodes(dead="Unknown", alive="True", broken="False")
    observed = Observed(START + timedelta(seconds=after), pods=[pod])
    assert await LostPods(nodes, 60).find(observed) == (frozenset({"a"} if lost else ()), again)  # type: ignore[arg-type]


async def test_a_node_is_read_once_for_all_of_its_pods_and_again_after_a_while() -> None:
    nodes = Nodes(dead="Unknown")
    lost = LostPods(nodes, 60)  # type: ignore[arg-type]
    for after, reads in ((60, 1), (60 + PERIOD - 1, 1), (60 + PERIOD, 2)):
        await lost.find(Observed(START + timedelta(seconds=after), pods=[deleted(), deleted()]))
        assert nodes.reads == reads


async def test_the_pods_of_a_node_that_cannot_be_read_are_kept() -> None:
    observed = Observed(START + timedelta(seconds=60), pods=[deleted()])
    assert await LostPods(Silent(), 60).find(observed) == (frozenset(), PERIOD)  # type: ignore[arg-type]


async def test_a_node_that_cannot_be_read_is_asked_for_and_reported_once_a_period(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nodes = Silent()
    lost = LostPods(nodes, 60)  # type: ignore[arg-type]
    for after, reads, reports in ((60, 2, 1), (60 + PERIOD - 1, 2, 1), (60 + PERIOD, 4, 2)):
        pods = [deleted("a"), deleted("a"), deleted("b")]
        await lost.find(Observed(START + timedelta(seconds=after), pods=pods))
        assert (nodes.reads, len(caplog.records)) == (reads, reports)


@pytest.mark.parametrize(
    ("volume", "mount", "shares"),
    [
        (CLAIM, {}, True),
        (CLAIM, {"readOnly": True}, False),
        ({"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}, {}, False),
        ({"name": "data", "nfs": {"server": "a", "path": "/"}}, {}, True),
        ({"name": "data", "hostPath": {"path": "/mnt"}}, {}, True),
        ({"name": "data", "configMap": {"name": "a"}}, {}, False),
        ({"name": "data", "ephemeral": {"volumeClaimTemplate": {}}}, {}, False),
        ({**CLAIM, "name": "other"}, {}, False),
    ],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_a_volume_is_shared_if_other_pods_can_write_to_it_too(
    volume: Object, mount: Object, shares: bool, field: str
) -> None:
    mounts = [{"name": "data", "mountPath": "/data", **mount}]
    assert shares_volume({"volumes": [volume], field: [{"name": "main", "volumeMounts": mounts}]}) is shares


def test_a_block_device_is_shared() -> None:
    devices = [{"name": "data", "devicePath": "/dev/x"}]
    assert shares_volume({"volumes": [CLAIM], "containers": [{"name": "main", "volumeDevices": devices}]})


def test_a_lost_pod_is_deleted_by_force_and_an_event_says_so() -> None:
    world = World(dijob(task(1)))
    world.settle()
    world.leave(world.pods)
    world.lost = frozenset({world.pods[0]["metadata"]["uid"]})
    world.pods[0]["spec"]["nodeName"] = "dead"
    actions = world.plan()
    (deletion,) = (action for action in actions if isinstance(action, Delete))
    assert (deletion.found["kind"], deletion.force) == ("Pod", True)
    events = (action for action in actions if isinstance(action, RecordEvent))
    (event,) = (event for event in events if event.reason == "LostPodDeleted")
    assert "node dead does not answer" in event.message


@pytest.mark.parametrize("case", ["has ended", "is being deleted"])
def test_a_lost_pod_is_deleted_by_force_though_its_job(case: str) -> None:
    world = World(dijob(task(1)))
    world.settle()
    world.leave(world.pods)
    world.lost = frozenset({world.pods[0]["metadata"]["uid"]})
    if case == "has ended":
        world.job["status"]["phase"] = "Succeeded"
    else:
        world.job["metadata"]["deletionTimestamp"] = stamp(START)
    forced = [action.found["kind"] for action in world.plan() if isinstance(action, Delete) and action.force]
    assert forced == ["Pod"]
