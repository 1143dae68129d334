"""Elastic jobs shrink for pods of other jobs that find no node, where that gives them room."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from jobgate.runner.elastic.decision import ElasticJob, Span, decide
from jobgate.runner.placement import Places, shape_of
from jobgate.runner.queues.demand import Demand
from tests.runner.elastic.histories import START
from tests.runner.test_nodes import TAINT, asks, filled, node

FULL = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found."
)
GANG = "rejected due to timeout after waiting 10s at plugin Coscheduling"


def member(job: str, index: int, on: str = "", why: str = FULL, spec: Any = None, **status: Any) -> Any:
    """A pod of a job: on a node, or with the message of the scheduler."""
    scheduled = {"type": "PodScheduled", "status": str(bool(on)), "message": "" if on else why}
    return {
        "metadata": {
            "name": f"{job}-{index}",
            "namespace": "lab",
            "labels": {COMPLETION_INDEX: str(index)},
            "ownerReferences": [{"uid": job, "controller": True}],
        },
        "spec": {**(spec or asks("1")), "nodeName": on},
        "status": {"phase": "Pending", "conditions": [scheduled], **status},
    }


def batch(job: str) -> Any:
    """The batch Job of a job."""
    return {"metadata": {"uid": job, "labels": {TASK_LABEL: "work"}}}


def demand(size: int, spec: Any = None) -> Demand:
    """A job of one task."""
    return Demand({}, {}, sizes={"work": size}, shapes={"work": shape_of(spec or asks("1"))})


def elastic(name: str, size: int, low: int = 1, **fields: Any) -> ElasticJob:
    """An elastic job that may be resized."""
    span = Span("work", {}, size, low, 9)
    return replace(ElasticJob(name, [span], START - timedelta(hours=1), ready=True), **fields)


async def sizes(nodes: list[Any], pods: list[Any], others: list[Any], *jobs: ElasticJob) -> dict[str, int]:
    """The steps of elastic jobs, beside other jobs with their demands."""
    known = await filled(nodes, pods)
    listed = [*others, *((job.key, demand(job.size), [batch(job.key)]) for job in jobs)]
    steps = decide(jobs, {}, START, places=known.places(listed, jobs))
    return {key: step.sizes["work"] for key, step in steps.items()}


def waits(size: int, spec: Any = None) -> Any:
    """A job that waits for nodes."""
    return "w", demand(size, spec), [batch("w")]


ON_A = [member("e", number, "a") for number in range(4)]
#: Its highest index is on a node that pods which select node a cannot use.
SPREAD = [*(member("e", number, "a") for number in range(3)), member("e", 3, "b")]
TO_A = asks("1", nodeSelector={"zone": "a"})
ZONES = [node("a", "3", labels={"zone": "a"}), node("b", "1", labels={"zone": "b"})]


@pytest.mark.parametrize(
    ("nodes", "pods", "waiting", "expected"),
    [
        pytest.param([node("a")], [*ON_A, member("w", 0)], waits(1), 3, id="one pod leaves for one"),
        pytest.param(
            [node("a")],
            [*ON_A, member("w", 0, spec=asks("3"))],
            waits(1, asks("3")),
            1,
            id="a larger pod needs several",
        ),
        pytest.param(
            [node("a")], [*ON_A, member("w", 0, spec=asks("4"))], waits(1, asks("4")), 4, id="the minimum stays"
        ),
        pytest.param([node("a")], [*ON_A, *(member("w", n) for n in range(3))], waits(3), 1, id="all pods of a gang"),
        pytest.param(
            [node("a")],
            [*ON_A, member("w", 0), *(member("w", n, why=GANG) for n in (1, 2))],
            waits(3),
            1,
            id="of a gang, one lacks room, and the others are rejected for that",
        ),
        pytest.param([node("a")], [*ON_A, member("w", 0)], waits(3), 1, id="also those that are not created yet"),
        pytest.param([node("a")], [*ON_A, *(member("w", n) for n in range(4))], waits(4), 4, id="not for a part of it"),
        pytest.param(
            [node("a")], [*ON_A, member("w", 0, "elsewhere")], waits(1), 4, id="not for a pod that has a node"
        ),
        pytest.param(
            [node("a")],
            [*ON_A, member("w", 0, why="0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")],
            waits(1),
            4,
            id="not for a pod that waits for a claim",
        ),
        pytest.param(
            [node("a")],
            [*ON_A, member("w", 0, why="0/1 nodes are unavailable: 1 Insufficient cpu.")],
            waits(1),
            4,
            id="not for a pod of Volcano's scheduler",
        ),
        pytest.param(
            [node("a")],
            [*ON_A, member("w", 0, nominatedNodeName="a")],
            waits(1),
            4,
            id="not for a pod that the scheduler evicts others for",
        ),
        pytest.param([node("a")], [*ON_A, member("w", 0)], ("w", demand(1), []), 4, id="not for the pod of an unknown"),
        pytest.param(
            [node("a", taints=[TAINT])], [*ON_A, member("w", 0)], waits(1), 4, id="not on a node with a taint"
        ),
        pytest.param(
            ZONES,
            [*SPREAD[:3], member("w", 0, spec=asks("1", nodeSelector={"zone": "b"}))],
            waits(1, asks("1", nodeSelector={"zone": "b"})),
            3,
            id="not while a node has room",
        ),
        pytest.param(
            ZONES,
            [*SPREAD, member("w", 0, spec=asks("2", nodeSelector={"zone": "b"}))],
            waits(1, asks("2", nodeSelector={"zone": "b"})),
            4,
            id="not for a pod that is too large for its nodes",
        ),
        pytest.param(
            ZONES,
            [*SPREAD, member("w", 0, spec=TO_A)],
            waits(1, TO_A),
            2,
            id="higher indexes leave with the needed one",
        ),
    ],
)
async def test_a_job_shrinks_by_what_waiting_pods_need(nodes: Any, pods: Any, waiting: Any, expected: int) -> None:
    size = sum(pod["metadata"]["name"].startswith("e") for pod in pods)
    assert (await sizes(nodes, pods, [waiting], elastic("e", size))).get("e", size) == expected


async def test_the_preemptible_job_shrinks_first_and_others_only_for_what_it_cannot_give() -> None:
    pods = [member(job, number, "a") for job in "ef" for number in range(2)]
    jobs = elastic("e", 2, priority=0), elastic("f", 2, priority=9, preemptible=True)
    assert await sizes([node("a")], [*pods, member("w", 0)], [waits(1)], *jobs) == {"f": 1}
    spec = asks("2")
    assert await sizes([node("a")], [*pods, member("w", 0, spec=spec)], [waits(1, spec)], *jobs) == {"e": 1, "f": 1}


async def test_a_job_keeps_pods_whose_room_helps_nobody() -> None:
    pods = [member("e", 0, "a"), member("e", 1, "a"), *(member("f", number, "b") for number in range(2))]
    spec = asks("1", nodeSelector={"zone": "b"})
    jobs = elastic("e", 2, preemptible=True), elastic("f", 2)
    assert await sizes(
        [ZONES[0], node("b", "2", labels={"zone": "b"})], [*pods, member("w", 0, spec=spec)], [waits(1, spec)], *jobs
    ) == {"f": 1}


@pytest.mark.parametrize("fields", [{"since": START}, {"since": START - timedelta(seconds=100), "ready": False}])
async def test_a_job_that_rests_or_starts_gives_its_part_later_and_no_other_does_instead(fields: Any) -> None:
    pods = [member(job, number, "a") for job in "ef" for number in range(2)]
    jobs = elastic("e", 2, **fields), elastic("f", 2, priority=9)
    assert await sizes([node("a")], [*pods, member("w", 0)], [waits(1)], *jobs) == {}


async def test_pods_that_leave_already_make_room_and_nothing_grows_while_it_is_promised() -> None:
    leaving = member("e", 3, "a")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    nodes, grows = [node("a", labels={"zone": "a"}), node("b", "2")], elastic("f", 1)
    # A pod beyond the size of its job is deleted in a moment.
    for last in (leaving, member("e", 3, "a")):
        pods = [*ON_A[:3], last, member("f", 0, "b"), member("w", 0, spec=TO_A)]
        assert await sizes(nodes, pods, [waits(1, TO_A)], elastic("e", 3), grows) == {}
        # The same without a job that waits.
        assert await sizes(nodes, pods[:-1], [], elastic("e", 3), grows) == {"f": 2}


async def test_pods_of_a_job_whose_size_is_not_known_do_not_count_as_leaving() -> None:
    pods = [member("x", 0, "a"), *ON_A[:3], member("w", 0)]
    unknown = "x", Demand({}, {}), [batch("x")]
    assert await sizes([node("a")], pods, [waits(1), unknown], elastic("e", 3)) == {"e": 2}


async def test_pods_of_growth_wait_for_room_and_nobody_shrinks_for_them() -> None:
    pods = [member("e", 0, "a"), member("e", 1, "a"), member("f", 0, "a"), member("f", 1)]
    assert await sizes([node("a", "3")], pods, [], elastic("e", 2), elastic("f", 2, ready=False)) == {}


async def test_the_more_urgent_job_gets_the_room_that_there_is() -> None:
    pods = [*ON_A[:3], member("w", 0), member("v", 0), member("v", 1)]
    v = "v", demand(2), [batch("v")]
    assert await sizes([node("a", "3")], pods, [waits(1), v], elastic("e", 3)) == {"e": 2}
    assert await sizes([node("a", "3")], pods, [v, waits(1)], elastic("e", 3)) == {"e": 1}


def test_pods_that_cannot_get_room_are_tried_by_node_not_by_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many jobs may wait for what no node can give: for each of them, trying all pods would hold the runner."""
    crew = [("a", {"cpu": 1000})] * 3
    ready = msgspec.json.encode({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    places = Places(nodes={"a": ready}, free={"a": Counter(cpu=500)}, extra={("lab/run", "work"): [*crew]})
    left: list[Any] = []
    leave = Places.leave

    def noted(self: Places, *pod: Any) -> None:
        left.append(pod)
        leave(self, *pod)

    monkeypatch.setattr(Places, "leave", noted)
    shape = shape_of(asks("2"))
    places.free["a"]["pods"] = 10_000
    assert not places.make_room({shape: 2}, [("lab/run", "work")])
    assert left == []
    assert places.make_room({shape: 1}, [("lab/run", "work")]) == {("lab/run", "work"): 2}
    assert not places.make_room({shape: 1}, [("lab/run", "work")])
    assert len(left) == 2
