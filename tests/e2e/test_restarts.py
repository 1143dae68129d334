"""All pods of a TorchJob or an MxJob restart when one fails, by a lifecycle policy, with pods that are processes."""

import re
from collections.abc import Iterator
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
from tests.e2e.test_runner import Run, reasons
from tests.missing import lacking

pytestmark = pytest.mark.needs(*NEEDS, root=True)

WAIT = 120.0
RESTART = [{"event": "PodFailed", "action": "RestartJob"}]
FIELD = {"fieldRef": {"fieldPath": "metadata.labels['jobgate.dev/attempt']"}}
#: Prints the pod and its attempt. A killed process ends the container with 137.
SAYS = 'echo "attempt $ATTEMPT: $ME"; '
DIES = "sh -c 'kill -9 $$'; exit $?"
#: Before that: wait until `begin` creates this file in the pod's folder, which is mounted at /mnt.
WAITS = "until [ -e /mnt/go ]; do sleep 0.1; done"


@pytest.fixture(scope="module")
def plane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A control plane without simulated nodes."""
    with WholeControlPlane(whole_assets, nodes=0) as plane:
        yield plane


@pytest.fixture(scope="module")
def node(plane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessNode]:
    """A node whose pods are processes, and a runner."""
    folder = tmp_path_factory.mktemp("restarts")
    try:
        with (
            ProcessNode(plane, "real", folder / "real") as node,
            InstalledWebhook(plane, folder, RUN),
            runner(plane, folder / "runner.log"),
        ):
            yield node
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")


@pytest.fixture
def space(plane: WholeControlPlane) -> Iterator[Space]:
    """A namespace."""
    with plane.api() as api:
        yield Space(api, open_namespace(api))


def template(container: str, me: str, dies: str) -> dict[str, Any]:
    """A template of pods that say `me`, and die if the condition holds."""
    command = ["sh", "-c", f'ME="{me}"; {SAYS} if {dies}; then {DIES}; fi; sleep 600']
    containers = [
        {"name": container, "image": "x", "command": command, "env": [{"name": "ATTEMPT", "valueFrom": FIELD}]}
    ]
    return {"spec": {**CHOSEN, "terminationGracePeriodSeconds": 1, "containers": containers}}


def torchjob(name: str, dies: str, **spec: Any) -> dict[str, Any]:
    """A TorchJob of a master and two workers, with the default restart policies."""
    pods = template("torch", "rank $RANK of $WORLD_SIZE", dies)
    tasks = {"Master": {"template": pods}, "Worker": {"numTasks": 2, "template": pods}}
    fields = {"policies": RESTART, **spec, "torchTaskSpecs": tasks}
    about = {"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob", "metadata": {"name": name}}
    return {**about, "spec": fields}


def mxjob(name: str, dies: str) -> dict[str, Any]:
    """A distributed MxJob with two workers."""
    sizes = {"SCHEDULER": 1, "SERVER": 1, "WORKER": 2}
    pods = template("mxnet", "$DMLC_ROLE $DMLC_WORKER_ID of $DMLC_NUM_WORKER", dies)
    roles = [{"mxReplicaType": role, "replicas": size, "template": pods} for role, size in sizes.items()]
    about = {"apiVersion": "mxnet.mlkube.io/v1beta1", "kind": "MxJob", "metadata": {"name": name}}
    return {**about, "spec": {"jobMode": "dist", "policies": RESTART, "replicaSpecs": roles}}


def said(node: ProcessNode, space: Space, attempt: int) -> list[str]:
    """The logs of the pods of an attempt."""
    logs = (path.read_text() for path in node.folder.glob(f"{space.name}.*/*.log"))
    return sorted(line for log in logs for line in re.findall(rf"^attempt {attempt}: (.*)$", log, re.MULTILINE))


def begin(node: ProcessNode, space: Space, said_first: list[str]) -> None:
    """Let a pod die once all pods of the first attempt have said who they are."""
    wait_for(lambda: said(node, space, 0) == said_first, WAIT, what="all pods run")
    for folder in node.folder.glob(f"{space.name}.*"):
        (folder / "go").touch()


def running(space: Space) -> set[str]:
    """The attempts of the pods that run."""
    return {
        pod["metadata"]["labels"]["jobgate.dev/attempt"]
        for pod in space.items("pods")
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
    }


def test_all_pods_of_a_torchjob_restart_when_a_worker_is_killed_and_their_ranks_fit(
    node: ProcessNode, space: Space
) -> None:
    run = Run(space, torchjob("torch", f'[ "$ATTEMPT$RANK" = 02 ] && {{ {WAITS}; }}'))
    ranks = [f"rank {rank} of 3" for rank in range(3)]
    begin(node, space, ranks)
    wait_for(lambda: said(node, space, 1) == ranks, WAIT, what="all pods were started again")
    assert said(node, space, 0) == ranks
    wait_for(lambda: running(space) == {"1"}, WAIT, what="the pods of the first attempt are gone")
    run.until("Running")
    assert run.status["jobgate"]["restarts"] == 1
    wait_for(lambda: "RestartJob" in reasons(space), WAIT, what="an Event says so")
    assert said(node, space, 2) == []


def test_all_pods_of_an_mxjob_restart_when_a_worker_is_killed(node: ProcessNode, space: Space) -> None:
    run = Run(space, mxjob("mxnet", f'[ "$ATTEMPT$DMLC_WORKER_ID" = 01 ] && {{ {WAITS}; }}'))
    roles = ["scheduler  of 2", "server  of 2", "worker 0 of 2", "worker 1 of 2"]
    begin(node, space, roles)
    wait_for(lambda: said(node, space, 1) == roles, WAIT, what="all pods were started again")
    wait_for(lambda: running(space) == {"1"}, WAIT, what="the pods of the first attempt are gone")
    run.until("Ready")
    assert run.status["jobgate"]["restarts"] == 1


@pytest.mark.parametrize(
    ("job", "limit"),
    [
        (torchjob("few", '[ "$RANK" = 2 ] && sleep 1', backoffLimit=1), 1),
        (mxjob("many", '[ "$DMLC_WORKER_ID" = 1 ] && sleep 1'), 6),
    ],
    ids=["TorchJob", "MxJob"],
)
def test_a_job_fails_when_no_restart_is_left(node: ProcessNode, space: Space, job: dict[str, Any], limit: int) -> None:
    run = Run(space, job)
    run.until("Failed")
    assert (len(said(node, space, limit)) > 0, said(node, space, limit + 1)) == (True, [])
    assert "no restart is left after PodFailed" in str(run.status)
    wait_for(lambda: running(space) == set(), WAIT, what="no pod goes on")
