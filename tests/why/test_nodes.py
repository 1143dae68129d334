"""What nodes lack for pods."""

from typing import Any

import pytest

from jobgate.runner.waiting import Cause
from jobgate.why.nodes import causes_of_nodes

Object = dict[str, Any]


def node(name: str = "n0", cpu: str = "4", ready: str = "True", *taints: Object, **labels: str) -> Object:
    """A node with as much memory as it has CPUs, in Gi."""
    size = {"cpu": cpu, "memory": f"{cpu}Gi", "pods": "10"}
    status = {"allocatable": size, "conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}, "status": status}


def pod(cpu: str = "1", memory: str = "1Gi", **spec: Any) -> Object:
    """The spec of a pod."""
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}], **spec}


def taint(key: str = "gpu", value: str = "yes", effect: str = "NoSchedule") -> Object:
    """A taint."""
    return {"key": key, "value": value, "effect": effect}


def lacking(spec: Object, *nodes: Object, count: int = 1, running: Any = ()) -> list[Cause]:
    """Why some of so many pods find no place."""
    return list(causes_of_nodes([(f"p{index}", spec) for index in range(count)], nodes, running))


def affinity(**expression: Any) -> Object:
    """A required node affinity of one expression."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


TOLERATED = [{"key": "gpu", "operator": "Exists"}]
CASES: list[tuple[str, Object, Object, str]] = [
    ("has room", pod(), node(), ""),
    ("has just enough", pod("4", "4Gi"), node(), ""),
    ("has too little CPU", pod("6"), node(), "no node of 1 takes it: n0 comes nearest with 4 of 4 cpu free"),
    ("has too little of both", pod("6", "5632Mi"), node(), "n0 comes nearest with 4 of 4 cpu, 4Gi of 4Gi memory free"),
    (
        "has no device",
        pod(resourceClaims=[]) | {"overhead": {"nvidia.com/gpu": "1"}},
        node(),
        "n0 comes nearest with 0 of 0 nvidia.com/gpu free",
    ),
    ("is not ready", pod(), node("n0", "4", "Unknown"), "no node of 1 takes it: not ready (1)"),
    ("has a taint", pod(), node("n0", "4", "True", taint()), "taint gpu=yes:NoSchedule (1)"),
    ("has a tolerated taint", pod(tolerations=TOLERATED), node("n0", "4", "True", taint()), ""),
    ("tolerates all", pod(tolerations=[{"operator": "Exists"}]), node("n0", "4", "True", taint()), ""),
    ("tolerates a value", pod(tolerations=[{"key": "gpu", "value": "yes"}]), node("n0", "4", "True", taint()), ""),
    ("tolerates another", pod(tolerations=[{"key": "gpu", "value": "no"}]), node("n0", "4", "True", taint()), "taint"),
    (
        "tolerates an effect",
        pod(tolerations=[{"effect": "NoExecute", "operator": "Exists"}]),
        node("n0", "4", "True", taint()),
        "taint",
    ),
    ("only prefers", pod(), node("n0", "4", "True", taint(effect="PreferNoSchedule")), ""),
    ("is cordoned", pod(), node("n0", "4", "True", taint("node.kubernetes.io/unschedulable", "")), "cordoned (1)"),
    ("has the label", pod(nodeSelector={"zone": "a"}), node(zone="a"), ""),
    ("has another label", pod(nodeSelector={"zone": "b"}), node(zone="a"), "labels other than zone=b (1)"),
    ("is in", pod(**affinity(key="zone", operator="In", values=["a", "b"])), node(zone="a"), ""),
    (
        "is not in",
        pod(**affinity(key="zone", operator="In", values=["b"])),
        node(zone="a"),
        "labels other than its node",
    ),
    ("must not be in", pod(**affinity(key="zone", operator="NotIn", values=["a"])), node(zone="a"), "labels other"),
    ("must have", pod(**affinity(key="zone", operator="Exists")), node(), "labels other"),
    ("must not have", pod(**affinity(key="zone", operator="DoesNotExist")), node(zone="a"), "labels other"),
    ("has more, perhaps", pod(**affinity(key="memory", operator="Gt", values=["9"])), node(memory="3"), ""),
]


@pytest.mark.parametrize(("case", "spec", "on", "expected"), CASES, ids=[case for case, *_ in CASES])
def test_of_a_node_that(case: str, spec: Object, on: Object, expected: str) -> None:
    result = lacking(spec, on)
    assert len(result) == bool(expected), result
    assert not expected or expected in result[0].what, result


def test_pods_that_run_take_their_share() -> None:
    running = [{"spec": {"nodeName": "n0", **pod("3")}}, {"spec": {"nodeName": "gone", **pod("9")}}]
    assert lacking(pod("1"), node(), running=running) == []
    (cause,) = lacking(pod("2"), node(), running=running)
    assert "n0 comes nearest with 1 of 4 cpu free" in cause.what
    assert lacking(pod("2"), node(), running=None) == []


def test_a_node_has_room_for_some_pods_only() -> None:
    (cause,) = lacking(pod("100m", "1Mi"), node(), count=11)
    assert "10 of 11 such pods find room" in cause.what
    assert "no node of 1 takes it: n0 comes nearest with 0 of 10 pods free" in cause.what


def test_pods_are_placed_one_after_the_other() -> None:
    (cause,) = lacking(pod("2"), node("n0"), node("n1", "3"), count=5)
    assert cause.pods == ("p0", "p1", "p2", "p3", "p4")
    assert cause.what == (
        "3 of 5 such pods find room; each other pod asks for 2 cpu, 1Gi memory, "
        "and no node of 2 takes it: n1 comes nearest with 1 of 3 cpu free"
    )


def test_nodes_are_counted_by_what_they_lack_and_the_nearest_is_named() -> None:
    nodes = [node("n0"), node("n1", "5"), node("n2", "9", "True", taint()), node("n3", "9", "False")]
    (cause,) = lacking(pod("6"), *nodes)
    assert "no node of 4 takes it: too little cpu (2), taint gpu=yes:NoSchedule (1), not ready (1)" in cause.what
    assert "; n1 comes nearest with 5 of 5 cpu free" in cause.what
    assert cause.fix.startswith("ask for less, or add larger nodes: waiting does not help; add a toleration")


def test_a_pod_that_fits_a_node_once_others_end_may_wait() -> None:
    running = [{"spec": {**pod("3"), "nodeName": "n0"}}]
    (cause,) = causes_of_nodes([("p0", pod("2"))], [node("n0")], running)
    assert cause.fix == "wait until other pods end, ask for less, or add nodes"


def test_the_fix_fits_what_keeps_pods_away() -> None:
    (cause,) = lacking(pod(), node("n0", "4", "True", taint()), node("n1", "4", "False"))
    assert (
        cause.fix == "add a toleration to the pod template, or remove the taint; repair the node: kubectl describe node"
    )


def test_no_nodes_are_named_as_such() -> None:
    (cause,) = lacking(pod())
    assert cause.what.endswith(", and there is no node")
    assert cause.fix == "add nodes"
