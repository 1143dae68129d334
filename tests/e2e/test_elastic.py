"""Jobs that scale themselves on a whole control plane, while another job comes and goes."""

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controlplane.assets import WholeAssets
from controlplane.client import ClusterApi
from controlplane.controller import controller, install
from controlplane.fixtures import new_namespace
from controlplane.processes import ProcessNode
from controlplane.processes.sandbox import NEEDS
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane, has_account
from tests.controlplane.test_processes import logs, succeeded, template
from tests.e2e.test_runner import WAIT, Run, dijob, reasons, task

#: Jobs of other tests, which may be in the namespaces that go, are in the queue `default`.
QUEUES = """
holdSeconds: 2
queues:
- {name: default, quota: {pods: 4}, elastic: true}
- {name: scaling, quota: {pods: 4}, elastic: true}
- {name: still}
"""
TORCH = os.environ.get("JOBGATE_TORCH_PYTHON")
GROUP = "train.distributed.io/v1alpha1"
#: Every process keeps the state, and the newest counts. It ends when its world has shrunk three times and grown again.
PROGRAM = """
import os
import time
from pathlib import Path

import torch
from torch import distributed as dist

STATE = Path("/state/newest.pt")

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = torch.randn(64, 8)
wanted = data @ torch.arange(8.0).unsqueeze(1)
state = torch.load(STATE) if STATE.exists() else {"step": 0, "weights": torch.zeros(8, 1), "worlds": []}

steps = [0] * world
dist.all_gather_object(steps, state["step"])
newest = [state]
dist.broadcast_object_list(newest, src=max(range(world), key=lambda each: steps[each]))
state = newest[0]
state["worlds"] = [*state["worlds"], world]


def has_seen_enough() -> bool:
    worlds = state["worlds"]
    falls = [place for place in range(1, len(worlds)) if worlds[place] < worlds[place - 1] == max(worlds)]
    return len(falls) >= 3 and max(worlds[falls[2] :]) == max(worlds)


begun = state["step"]
while not (has_seen_enough() and state["step"] >= begun + 20):
    weights = state["weights"].clone().requires_grad_()
    # Each process has its part of the data; the sum is the same in every world.
    loss = ((data[rank::world] @ weights - wanted[rank::world]) ** 2).sum() / len(data)
    loss.backward()
    total = torch.cat([loss.detach().reshape(1), weights.grad.flatten()])
    dist.all_reduce(total)
    state["step"] += 1
    state["weights"] = state["weights"] - 0.005 * total[1:].unsqueeze(1)
    partial = STATE.with_suffix(f".{os.getpid()}")
    torch.save(state, partial)
    partial.replace(STATE)
    if rank == 0:
        print(f"step {state['step']} world {world} loss {total[0].item():.9f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of queues."""
    path = tmp_path / "queues.yaml"
    path.write_text(QUEUES)
    return path


def test_a_job_grows_and_shrinks_while_another_comes_and_goes(
    whole_controlplane: WholeControlPlane,
    running_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    whole_namespace: str,
    file: Path,
) -> None:
    space, settings = Space(whole_api, whole_namespace), [f"--queues={file}"]
    with runner(whole_controlplane, file.with_name("log"), settings):
        run = Run(space, dijob("grows", task("work", 2), minReplicas=1, maxReplicas=4, queue="scaling"))
        still = Run(space, dijob("still", task("work", 2), minReplicas=1, maxReplicas=4, queue="still"))
        run.until_pods(*(f"grows-work-{number}" for number in range(4)))
        still.until_pods("still-work-0", "still-work-1")
        first = run.pods()
    # The next runner knows only stored state.
    with runner(whole_controlplane, file.with_name("log"), settings):
        other = Run(space, dijob("other", task("work", 2), queue="scaling"))
        other.until_pods("other-work-0", "other-work-1")
        run.until_pods("grows-work-0", "grows-work-1")
        assert run.pods()["grows-work-0"]["metadata"]["uid"] == first["grows-work-0"]["metadata"]["uid"]
        space.delete(other.plural, other.name, other.version)
        run.until_pods(*(f"grows-work-{number}" for number in range(4)))
        assert sorted(still.pods()) == ["still-work-0", "still-work-1"]
        assert run.job["spec"]["tasks"][0]["replicas"] == 2
        assert run.status["jobgate"]["sizes"] == {"work": 4}
        assert "sizes" not in still.status["jobgate"]
        wait_for(lambda: reasons(space) >= {"ScalingUp", "ScalingDown"}, WAIT, what="Events say so")
        scales = [{"metadata": {"annotations": {"jobgate.dev/elastic": value}}} for value in ("true", "yes")]
        path = space.path(still.plural, still.name, still.version)
        assert [space.api.patch(path, each)[0] for each in scales] == [200, 422]
        still.until_pods(*(f"still-work-{number}" for number in range(4)))
        assert sorted(run.pods()) == [f"grows-work-{number}" for number in range(4)]


def test_kubectl_scales_the_task_that_a_job_names(
    whole_controlplane: WholeControlPlane,
    running_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    whole_namespace: str,
    file: Path,
) -> None:
    space = Space(whole_api, whole_namespace)
    with runner(whole_controlplane, file.with_name("log")):
        scale = {"task": "work", "replicas": 1}
        run = Run(space, dijob("scaled", task("head"), task("work"), minReplicas=2, maxReplicas=3, scale=scale))
        run.until_pods("scaled-head-0", "scaled-work-0")

        def scaled(replicas: int) -> str:
            """What kubectl says after it has changed the number."""
            place = ("--namespace", space.name, "scale", f"dijob/{run.name}", f"--replicas={replicas}")
            answer = whole_controlplane.kubectl(*place, check=False)
            return str(answer.stdout + answer.stderr)

        assert "scaled" in scaled(2)
        run.until_pods("scaled-head-0", "scaled-work-0", "scaled-work-1")
        assert "spec.maxReplicas: Invalid value: 3" in scaled(3)
        path = f"{space.path(run.plural, run.name, run.version)}/scale"
        wait_for(lambda: space.api.get(path)[1]["status"]["replicas"] == 2, WAIT, what="the status counts the pods")
        selector = space.api.get(path)[1]["status"]["selector"]
        selected = space.api.get(space.path("pods"), {"labelSelector": selector})[1]["items"]
        assert {pod["spec"]["hostname"] for pod in selected} == {"scaled-work-0", "scaled-work-1"}


@pytest.fixture
def plane(whole_assets: WholeAssets, file: Path) -> Iterator[WholeControlPlane]:
    """A control plane of its own, with the webhooks, the companion controller, and a runner with queues."""
    folder = file.parent
    with WholeControlPlane(whole_assets) as found, InstalledWebhook(found, folder, RUN):
        install(found.client)
        with controller(found, folder, RUN), runner(found, folder / "runner.log", [f"--queues={file}"]):
            yield found


@pytest.fixture
def node(plane: WholeControlPlane, file: Path) -> Iterator[ProcessNode]:
    """A node whose pods are processes."""
    with ProcessNode(plane, "processes", file.parent / "node") as found:
        yield found


def elastic(python: str) -> dict[str, Any]:
    """A TorchJob with one to three workers, whose pods keep the state of the training."""
    pod = template("torch", python, "-m", "torch.distributed.run", "/code/train.py")
    pod["spec"]["volumes"] = [{"name": "code", "configMap": {"name": "code"}}, {"name": "state", "emptyDir": {}}]
    pod["spec"]["containers"][0] |= {
        "volumeMounts": [{"name": "code", "mountPath": "/code"}, {"name": "state", "mountPath": "/state"}],
        "env": [{"name": "PET_RDZV_CONF", "value": "last_call_timeout=3"}, {"name": "OMP_NUM_THREADS", "value": "1"}],
    }
    policy = {"rendezvousBackend": "c10d", "rendezvousEndpoint": "train-master-0:29400"}
    return {
        "apiVersion": GROUP,
        "kind": "TorchJob",
        "metadata": {"name": "train"},
        "spec": {
            "enableTorchElastic": True,
            "torchElasticPolicy": {"numMinReplicas": 1, "numMaxReplicas": 3, **policy},
            "torchTaskSpecs": {
                "Master": {"template": pod, "restartPolicy": "OnFailure"},
                "Worker": {"template": pod, "numTasks": 2},
            },
        },
    }


@pytest.mark.needs(*NEEDS, root=True)
@pytest.mark.skipif(TORCH is None, reason="JOBGATE_TORCH_PYTHON is not set")
def test_a_training_by_torchrun_goes_on_through_three_steps_down_and_up(
    plane: WholeControlPlane, node: ProcessNode
) -> None:
    space = Space(plane.client, new_namespace(plane.client))
    wait_for(lambda: has_account(plane.client, space.name), WAIT, what="the namespace has its ServiceAccount")
    install(space.api, space.name)
    space.create("configmaps", {"metadata": {"name": "code"}, "data": {"train.py": PROGRAM}})
    space.create("torchjobs", elastic(str(TORCH)), GROUP)

    def worlds() -> list[int]:
        """The sizes of the worlds so far, in the order of the steps."""
        return [world for _, world, _ in losses(node, space)]

    for turn in range(3):
        wait_for(lambda: worlds()[-1:] == [4], 300.0, what="four processes train")
        sleeps = template("di-container", "sleep", "600")
        other = Run(space, dijob(f"other-{turn}", {**task("work", 2), "template": sleeps}))
        other.until("Running")
        wait_for(lambda: worlds()[-1] == 2, 300.0, what="two processes train")
        space.delete(other.plural, other.name, other.version)
    succeeded(node, space, "torchjobs", GROUP)
    steps = losses(node, space)
    numbers = [step for step, _, _ in steps]
    assert numbers == list(range(1, numbers[-1] + 1)), "no step is lost"
    assert all(after <= before + 1e-6 for (_, _, before), (_, _, after) in pairwise(steps))


def losses(node: ProcessNode, space: Space) -> list[tuple[int, int, float]]:
    """Each step that was made, with its world and its loss; of a step that was made again, the last."""
    lines = (re.fullmatch(r"step (\d+) world (\d+) loss ([\d.]+)", line) for line in logs(node, space, "torch"))
    found = sorted((int(line[1]), -int(line[2]), float(line[3])) for line in lines if line)
    return [(step, -world, loss) for step, world, loss in {each[0]: each for each in found}.values()]
