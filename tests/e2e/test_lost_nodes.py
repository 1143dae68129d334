"""The kubelet of a node stops while its containers go on: which pods are replaced, and when."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane.assets import WholeAssets
from controlplane.fixtures import open_namespace
from controlplane.processes import ProcessNode
from controlplane.processes.node import CHOSEN
from controlplane.processes.sandbox import NEEDS, MissingError
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import Run, dijob, task
from tests.missing import lacking

pytestmark = pytest.mark.needs(*NEEDS, root=True)

WAIT = 120.0
#: Kubernetes notices after 8 seconds that a kubelet has stopped, and deletes its pods a second later.
FLAGS: Any = {
    "apiserver_flags": ["--default-unreachable-toleration-seconds=1"],
    "manager_flags": ["--node-monitor-grace-period=8s", "--node-monitor-period=1s"],
}
#: Kubernetes and the runner together would let a deleted pod go only after 13 seconds.
AT_ONCE = timedelta(seconds=10)
SHARED = {"name": "shared", "nfs": {"server": "files", "path": "/"}}
COUNT = "trap '' TERM; while true; do echo still; sleep 0.2; done"


@pytest.fixture(scope="module")
def plane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A control plane that notices dead nodes, without simulated ones."""
    with WholeControlPlane(whole_assets, nodes=0, **FLAGS) as plane:
        yield plane


@pytest.fixture(scope="module")
def nodes(plane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ProcessNode]]:
    """Two nodes, and a runner with a short deadline."""
    folder = tmp_path_factory.mktemp("lost")
    try:
        with (
            ProcessNode(plane, "left", folder / "left") as left,
            ProcessNode(plane, "right", folder / "right") as right,
            InstalledWebhook(plane, folder, RUN),
            runner(plane, folder / "runner.log", ["--replace-lost-after=4"]),
        ):
            yield {"left": left, "right": right}
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")


@pytest.fixture
def space(plane: WholeControlPlane) -> Iterator[Space]:
    """A namespace."""
    with plane.api() as api:
        yield Space(api, open_namespace(api))


def placed(name: str, *, shares: bool = False) -> dict[str, Any]:
    """A DIJob with a pod that runs until it is killed."""
    part = task("work")
    spec = part["template"]["spec"]
    spec |= {**CHOSEN, "terminationGracePeriodSeconds": 2}
    (container,) = spec["containers"]
    container["command"] = ["sh", "-c", COUNT]
    if shares:
        spec["volumes"] = [SHARED]
        container["volumeMounts"] = [{"name": "shared", "mountPath": "/shared"}]
    return dijob(name, part, backoffLimit=0)


def pods(space: Space, run: Run) -> dict[str, tuple[str, bool]]:
    """The pods of a job: node, and whether it is being deleted."""
    return {
        pod["metadata"]["name"]: (pod["spec"].get("nodeName", ""), "deletionTimestamp" in pod["metadata"])
        for pod in space.items("pods")
        if pod["metadata"]["labels"]["jobgate.dev/job"] == run.name
    }


def lost(space: Space) -> list[dict[str, Any]]:
    """The Events about pods that were deleted because their node is lost."""
    return [event for event in space.items("events") if event["reason"] == "LostPodDeleted"]


def size(node: ProcessNode, space: Space, pod: str) -> int:
    """How much a pod has printed on a node."""
    return len(node.log(space.name, pod, "di-container"))


def test_pods_of_a_node_whose_kubelet_has_stopped_are_replaced_when_they_may(
    plane: WholeControlPlane, nodes: dict[str, ProcessNode], space: Space
) -> None:
    runs = {name: Run(space, placed(name, shares=name in {"shares", "forced"})) for name in ("own", "shares", "forced")}
    job = placed("stays")
    spec = job["spec"]["tasks"][0]["template"]["spec"]
    spec["tolerations"] = [*spec["tolerations"], {"operator": "Exists", "effect": "NoExecute"}]
    stays = Run(space, job)
    for run in (stays, *runs.values()):
        run.until("Running")
    # All on one node: the pods of the other are moved there.
    plane.kubectl("cordon", "right")
    for pod in space.items("pods"):
        if pod["spec"]["nodeName"] == "right":
            space.delete("pods", pod["metadata"]["name"])
    wait_for(
        lambda: {state for run in (stays, *runs.values()) for state in pods(space, run).values()} == {("left", False)},
        WAIT,
        what="all pods are on the left node",
    )
    for run in (stays, *runs.values()):
        run.until("Running")
    plane.kubectl("uncordon", "right")
    plane.kubectl("cordon", "left")
    first = {name: next(iter(pods(space, run))) for name, run in runs.items()}
    left = nodes["left"]
    left.stop_kubelet()

    # Deleted by force: at once, whatever its volumes.
    begun = datetime.now(UTC)
    plane.kubectl("--namespace", space.name, "delete", "pod", first["forced"], "--force", "--grace-period=0")
    wait_for(lambda: list(pods(space, runs["forced"]).values()) == [("right", False)], WAIT, what="it is replaced")
    (replacement,) = pods(space, runs["forced"])
    created = space.get("pods", replacement)["metadata"]["creationTimestamp"]
    assert datetime.fromisoformat(created) - begun < AT_ONCE

    # One that tolerates it stays, and its status says what it waits for.
    wait_for(lambda: "node left does not respond" in str(stays.status["conditions"]), what="the node is named")
    assert stays.status["phase"] == "Running"

    # After the deadline: only the pod without a volume that its replacement can write to.
    wait_for(lambda: list(pods(space, runs["own"]).values()) == [("right", False)], WAIT, what="it is replaced")
    assert pods(space, runs["shares"]) == {first["shares"]: ("left", True)}
    waiting = "pod work-0: deleted, and has not ended: node left may be unreachable"
    wait_for(lambda: waiting in str(runs["shares"].status["conditions"]), what="the status names the node")
    assert runs["shares"].status["phase"] == "Rescheduling"
    (event,) = wait_for(lambda: lost(space), WAIT, what="an Event says so")
    assert event["involvedObject"]["name"] == "own"
    assert (
        event["message"] == f"pod {first['own']} is deleted by force: node left does not answer, and may still run it"
    )
    before = {name: size(left, space, pod) for name, pod in first.items()}
    wait_for(lambda: all(size(left, space, pod) > before[name] for name, pod in first.items()), WAIT, what="all go on")
    assert pods(space, runs["shares"]) == {first["shares"]: ("left", True)}

    # With the taint of a node that is out of service.
    plane.kubectl("taint", "node", "left", "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
    wait_for(lambda: list(pods(space, runs["shares"]).values()) == [("right", False)], WAIT, what="it is replaced")
    for run in runs.values():
        run.until("Running")
        assert run.status["restarts"] == 0

    # The kubelet is back: it kills the replaced pods.
    left.start_kubelet()

    def silent() -> bool:
        before = [size(left, space, pod) for pod in first.values()]
        time.sleep(1)
        return before == [size(left, space, pod) for pod in first.values()]

    wait_for(silent, WAIT, what="nothing runs on the left node")
    assert all(list(pods(space, run).values()) == [("right", False)] for run in runs.values())
