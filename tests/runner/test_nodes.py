"""Which pods of elastic jobs find room on nodes."""

import time
from typing import Any

import pytest

from jobgate.runner.nodes import Nodes
from jobgate.runner.placement import Places, shape_of
from jobgate.runner.queues.demand import Demand


def node(name: str, cpu: str = "4", *, ready: str = "True", labels: Any = None, **spec: Any) -> Any:
    """A node."""
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "pods": "10"}, "conditions": [{"type": "Ready", "status": ready}]},
    }


def pod(name: str, on: str, cpu: str, phase: str = "Running") -> Any:
    """A pod of another program."""
    metadata = {"name": name, "namespace": "others"}
    return {"metadata": metadata, "spec": {**asks(cpu), "nodeName": on}, "status": {"phase": phase}}


def asks(cpu: str, **spec: Any) -> Any:
    """The spec of a pod."""
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}], **spec}


async def filled(nodes: list[Any], pods: list[Any]) -> Nodes:
    """Caches that have these nodes and pods."""
    known = Nodes()
    for informer, documents in ((known.nodes, nodes), (known.pods, pods)):
        informer._objects = {}
        for document in documents:
            document["metadata"]["resourceVersion"] = "1"
            await informer._take("ADDED", document)
    return known


def fitting(places: Places, spec: Any) -> int:
    """How many such pods find a place, of 20."""
    return sum(places.claim(shape_of(spec)) for _ in range(20))


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("nodes", "pods", "spec", "count"),
    [
        pytest.param([node("a"), node("b")], [], asks("1"), 8, id="all that nodes have"),
        pytest.param(
            [node("a"), node("b")], [pod("x", "a", "2"), pod("y", "b", "2")], asks("3"), 0, id="fragmented nodes"
        ),
        pytest.param([node("a"), node("b", taints=[TAINT])], [], asks("1"), 4, id="a taint that is not tolerated"),
        pytest.param(
            [node("a", taints=[TAINT])],
            [],
            asks("1", tolerations=[{"key": "gpu", "operator": "Exists"}]),
            4,
            id="a taint that is tolerated",
        ),
        pytest.param([node("a"), node("b", unschedulable=True)], [], asks("1"), 4, id="a cordoned node"),
        pytest.param([node("a"), node("b", ready="Unknown")], [], asks("1"), 4, id="a node that died"),
        pytest.param([node("a")], [pod("x", "a", "3")], asks("1"), 1, id="a pod of another program"),
        pytest.param([node("a")], [pod("x", "a", "3", "Succeeded")], asks("1"), 4, id="a pod that has ended"),
        pytest.param([node("a")], [pod("x", "gone", "3")], asks("1"), 4, id="a pod of a node that is gone"),
        pytest.param(
            [node("a"), node("b", labels={"zone": "1"})], [], asks("1", nodeSelector={"zone": "1"}), 4, id="a selector"
        ),
        pytest.param([node("a", "100")], [], asks("0"), 10, id="the number of pods of a node"),
    ],
)
async def test_a_pod_finds_room_on_one_node_that_takes_it(nodes: Any, pods: Any, spec: Any, count: int) -> None:
    assert fitting((await filled(nodes, pods)).places([]), spec) == count


async def test_pods_that_are_not_bound_yet_have_their_place_before_any_grows() -> None:
    known = await filled([node("a", "5")], [pod("x", "a", "1")])
    demand = Demand({}, {}, sizes={"work": 3}, shapes={"work": shape_of(asks("1"))})
    assert fitting(known.places([("job", demand, [])]), asks("1")) == 1


async def test_nothing_fits_while_nodes_are_not_known() -> None:
    assert fitting(Nodes().places([]), asks("1")) == 0


async def test_room_follows_pods_that_come_and_go() -> None:
    known, foreign = await filled([node("a")], []), pod("x", "a", "3")
    foreign["metadata"]["resourceVersion"] = "2"
    for change, count in (("ADDED", 1), ("MODIFIED", 1), ("DELETED", 4)):
        await known.pods._take(change, foreign)
        assert fitting(known.places([]), asks("1")) == count
    assert not known._used
    assert not known._crews


async def test_a_decision_with_2000_nodes_and_20000_pods_takes_a_fraction_of_a_second() -> None:
    nodes = [node(f"node-{number}", "10") for number in range(2000)]
    known = await filled(nodes, [pod(f"p{number}", f"node-{number % 2000}", "1") for number in range(20000)])
    before = time.process_time()
    assert fitting(known.places([]), asks("1")) == 0
    assert time.process_time() - before < 1
