"""The demand of jobs, and the room that ResourceQuotas leave."""

from decimal import Decimal
from typing import Any

import pytest

from jobgate.runner.queues.demand import (
    amounts_of,
    demand_of,
    left_to_jobs,
    read_amounts,
    requests_of_live_pods,
    written_amounts,
)
from jobgate.runner.state import RunState
from jobgate.runner.subject import look
from tests.runner.world import World, dijob, subject, task


def asking(requests: dict[str, str], **pod: Any) -> dict[str, Any]:
    """The template of pods that ask for so much."""
    container = {"name": "di-container", "image": "di", "resources": {"requests": requests}}
    return {"spec": {"containers": [container], **pod}}


def quota(hard: dict[str, str], used: dict[str, str], **spec: Any) -> dict[str, Any]:
    """A ResourceQuota."""
    return {"spec": {"hard": hard, **spec}, "status": {"hard": hard, "used": used}}


JOB = dijob(
    task(2, template=asking({"cpu": "500m"})),
    task(1, "judge", template=asking({"cpu": "1", "memory": "1Ki"}, overhead={"cpu": "1"})),
)


def test_a_job_asks_for_what_all_its_pods_do() -> None:
    expected = {"pods": Decimal(3), "requests.cpu": Decimal(3), "requests.memory": Decimal(1024)}
    assert demand_of(subject(JOB)).total == expected


LIMITED = {"resources": {"limits": {"cpu": "4"}}}
#: A pod with these resources of its own, and a container with those; what Kubernetes counts of it.
PODS_OF_KUBERNETES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, int]]] = [
    ("a limit is a request, too", {}, {"limits": {"cpu": "2"}}, {"requests.cpu": 2, "limits.cpu": 2}),
    ("so is that of the whole pod", LIMITED, {}, {"requests.cpu": 4, "limits.cpu": 4}),
    ("not beside requests of containers", LIMITED, {"requests": {"cpu": "1"}}, {"requests.cpu": 1, "limits.cpu": 4}),
    ("overhead counts", {"overhead": {"cpu": "1"}}, {"requests": {"cpu": "1"}}, {"requests.cpu": 2}),
    ("in limits that there are", {"overhead": {"cpu": "1"}}, {"limits": {"cpu": "1"}}, {"requests.cpu": 2, "limits.cpu": 2}),
    ("the largest init container", {"initContainers": [{"resources": {"requests": {"cpu": "9"}}}]}, {}, {"requests.cpu": 9}),
]  # fmt: skip


@pytest.mark.parametrize(("case", "pod", "resources", "expected"), PODS_OF_KUBERNETES)
def test_a_pod_asks_for_what_kubernetes_counts(
    case: str, pod: dict[str, Any], resources: dict[str, Any], expected: dict[str, int]
) -> None:
    amounts = amounts_of({"spec": {"containers": [{"name": "main", "resources": resources}], **pod}})
    assert amounts == {"pods": 1, **expected}, case


def test_amounts_are_read_as_they_were_written() -> None:
    amounts = {"pods": Decimal(3), "requests.cpu": Decimal("0.5"), "requests.memory": Decimal("1e999")}
    written = written_amounts({**amounts, "limits.cpu": Decimal(0)})
    assert read_amounts(written) == amounts
    state = {"attempt": 1, "queue": "a", "released": written}
    assert RunState.of({"status": {"jobgate": state}}).written() == state


def test_pods_that_have_ended_count_no_more() -> None:
    world = World(JOB)
    world.settle()
    world.end("judge")
    one = subject(world.job)
    result = requests_of_live_pods(demand_of(one), look(one, world.observed()))
    assert result == {"pods": Decimal(2), "requests.cpu": Decimal(1)}


@pytest.mark.parametrize(
    ("case", "quotas", "present", "left"),
    [
        ("nothing", [], 0, {}),
        ("what others do not use", [quota({"pods": "8"}, {"pods": "5"})], 2, {"pods": 5}),
        ("more than is used", [quota({"pods": "8"}, {"pods": "1"})], 2, {"pods": 8}),
        ("the least", [quota({"pods": "8"}, {}), quota({"count/pods": "3"}, {})], 0, {"pods": 3}),
        ("by the full name", [quota({"cpu": "2", "nvidia.com/gpu": "1"}, {})], 0, {"cpu": 2, "nvidia.com/gpu": 1}),
        ("of pods alone", [quota({"services": "2", "requests.storage": "1Gi"}, {})], 0, {}),
        ("not of some pods", [quota({"pods": "8"}, {}, scopes=["BestEffort"])], 0, {}),
    ],
)
def test_quotas_leave(case: str, quotas: list[dict[str, Any]], present: int, left: dict[str, int]) -> None:
    expected = {name if name == "pods" else f"requests.{name}": Decimal(amount) for name, amount in left.items()}
    assert left_to_jobs(quotas, {"pods": Decimal(present)}) == expected, case
