"""Gangs of Kubernetes' own scheduler: their pods start together, or not at all."""

from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.assets import WholeAssets
from controlplane.client import ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.nodes import CAPACITY
from controlplane.runner import RUN, runner
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.versions import GANGS_API, GANGS_GATES, HAS_GANGS
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task
from tests.e2e.test_runner_volcano import reaches, vcjob
from tests.runner.world import vctask

pytestmark = pytest.mark.skipif(not HAS_GANGS, reason="Kubernetes schedules gangs itself from 1.36 on")

#: The capacity for one pod of the tests.
ONE = {**CAPACITY, "cpu": "1"}


@pytest.fixture(scope="module")
def plane(whole_assets: WholeAssets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeControlPlane]:
    """A control plane with gang scheduling and the runner, without nodes."""
    flags = [GANGS_GATES, f"--runtime-config={GANGS_API}=true"]
    folder = tmp_path_factory.mktemp("gangs")
    with (
        WholeControlPlane(whole_assets, flags, nodes=0, scheduler_flags=[GANGS_GATES]) as control_plane,
        InstalledWebhook(control_plane, folder, RUN),
        runner(control_plane, folder / "runner.log", ["--queueing=kubernetes"]),
    ):
        yield control_plane


@pytest.fixture
def api(plane: WholeControlPlane) -> Iterator[ClusterApi]:
    """A client of the control plane."""
    with plane.api() as client:
        yield client


@pytest.fixture
def space(api: ClusterApi) -> Space:
    """A namespace of the control plane."""
    return Space(api, open_namespace(api))


def large(name: str, replicas: int, **fields: Any) -> dict[str, Any]:
    """A task with pods so large that a node has room for only one."""
    result = task(name, replicas, **fields)
    result["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    return result


def bound(space: Space) -> list[str]:
    """The host names of the scheduled pods."""
    return sorted(pod["spec"]["hostname"] for pod in space.items("pods") if pod["spec"].get("nodeName"))


def unschedulable(space: Space) -> bool:
    """Whether the scheduler reports that there is no room for a gang."""
    conditions = [
        condition
        for group in space.items("podgroups", GANGS_API)
        for condition in group["status"].get("conditions", ())
    ]
    # Before Kubernetes 1.37 the condition is PodGroupScheduled.
    types = {"PodGroupScheduled", "PodGroupInitiallyScheduled"}
    return any(condition["type"] in types and condition["status"] == "False" for condition in conditions)


def test_gangs_start_whole_and_do_not_block_each_other(plane: WholeControlPlane, space: Space) -> None:
    plane.add_nodes(*(f"small-{number}" for number in range(3)), capacity=ONE)
    four = Run(space, dijob("four", large("work", 4)))
    wait_for(lambda: len(space.items("pods")) == 4, WAIT, what="four pods are there")
    wait_for(lambda: unschedulable(space), WAIT, what="the scheduler finds no room")
    assert bound(space) == []
    plane.add_nodes("small-3", capacity=ONE)
    four.until("Running")
    assert bound(space) == [f"four-work-{index}" for index in range(4)]

    # Two gangs that need three of the four nodes each: they run one after the other.
    two = [Run(space, dijob(name, large("work", 3))) for name in ("left", "right")]
    for pod in four.pods().values():
        end_pod(space.api, space.name, pod["metadata"]["name"])
    four.until("Succeeded")
    wait_for(lambda: any(run.status.get("phase") == "Running" for run in two), WAIT, what="one runs")
    first = next(run for run in two if run.status.get("phase") == "Running")
    (second,) = [run for run in two if run is not first]
    started = [pod for pod in space.items("pods") if pod["spec"].get("nodeName")]
    assert not [pod for pod in started if pod["spec"]["hostname"].startswith(second.name)]
    for pod in first.pods().values():
        end_pod(space.api, space.name, pod["metadata"]["name"])
    first.until("Succeeded")
    second.until("Running")


def test_a_volcano_job_starts_with_its_minimum(plane: WholeControlPlane, space: Space) -> None:
    mine = {"of": space.name}
    tasks = [vctask(replicas, name) for name, replicas in (("driver", 1), ("executor", 5))]
    for task_ in tasks:
        spec = task_["template"]["spec"]
        spec["nodeSelector"] = mine
        spec["containers"][0]["resources"] = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    plane.add_nodes("volcano-0", "volcano-1", capacity=ONE, labels=mine)
    run = Run(space, vcjob("gang", *tasks, minAvailable=3))
    wait_for(lambda: len(space.items("pods")) == 6, WAIT, what="six pods are there")
    wait_for(lambda: unschedulable(space), WAIT, what="the scheduler finds no room")
    reaches(run, "Pending")
    assert bound(space) == []
    plane.add_nodes("volcano-2", capacity=ONE, labels=mine)
    reaches(run, "Running")
    assert (len(bound(space)), run.status["running"], run.status["pending"]) == (3, 3, 3)


def test_with_dependencies_each_task_is_a_gang(plane: WholeControlPlane, space: Space) -> None:
    plane.add_nodes("large", capacity=CAPACITY)
    run = Run(space, dijob("order", task("first", 2), task("then", 2, dependsOn={"name": ["first"]})))
    run.until("Running")
    wait_for(lambda: len(bound(space)) == 4, WAIT, what="all four have started")
    assert sorted(space.names("podgroups", GANGS_API)) == ["order-first", "order-then"]


def test_two_torchjobs_do_not_hold_the_room_that_both_wait_for(plane: WholeControlPlane, space: Space) -> None:
    """Master and workers are one gang, so that two masters never take the room of a whole job."""
    mine = {"of": space.name}
    plane.add_nodes("torch-0", "torch-1", capacity=ONE, labels=mine)
    container = {"name": "torch", "image": "torch", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}
    template = {"spec": {"nodeSelector": mine, "containers": [container]}}
    job = {"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob"}
    spec = {"torchTaskSpecs": {"Master": {"template": template}, "Worker": {"template": template}}}
    runs = [Run(space, {**job, "metadata": {"name": name}, "spec": spec}) for name in ("left", "right")]
    wait_for(lambda: len(bound(space)) == 2, WAIT, what="a whole job runs")
    (owner,) = {host.partition("-")[0] for host in bound(space)}
    first, second = sorted(runs, key=lambda run: run.name != owner)
    first.until("Running")
    for pod in first.pods().values():
        end_pod(space.api, space.name, pod["metadata"]["name"])
    first.until("Succeeded")
    space.delete(first.plural, first.name, first.version)
    second.until_pods(f"{second.name}-master-0", f"{second.name}-worker-0")
