"""Elastic jobs on a whole control plane grow and shrink with the room of its nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.assets import WholeAssets
from controlplane.fixtures import open_namespace
from controlplane.nodes import CAPACITY
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task

QUEUES = "{holdSeconds: 2, queues: [{name: default, elastic: true}]}"


@pytest.fixture(scope="module")
def control_plane(whole_assets: WholeAssets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeControlPlane]:
    """A control plane without nodes."""
    with (
        WholeControlPlane(whole_assets, nodes=0) as control_plane,
        InstalledWebhook(control_plane, tmp_path_factory.mktemp("webhook"), RUN),
    ):
        yield control_plane


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    """The flags of a runner."""
    queues = tmp_path / "queues.yaml"
    queues.write_text(QUEUES)
    return [f"--queues={queues}", "--elastic-nodes"]


def work(replicas: int, cpu: str, **spec: Any) -> dict[str, Any]:
    """A task whose pods ask for CPU."""
    made = task("work", replicas)
    made["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    made["template"]["spec"].update(spec)
    return made


def test_a_job_grows_to_the_pods_that_fit_on_single_nodes(
    control_plane: WholeControlPlane, tmp_path: Path, settings: list[str]
) -> None:
    with runner(control_plane, tmp_path / "log", settings), control_plane.api() as api:
        control_plane.add_nodes("a", "b", capacity={**CAPACITY, "cpu": "2"})
        run = Run(Space(api, open_namespace(api)), dijob("grows", work(1, "750m"), minReplicas=1, maxReplicas=9))
        # Both have four CPUs together, enough for five such pods, but each only for two.
        run.until_pods(*(f"grows-work-{number}" for number in range(4)))
        asked = run.status["jobgate"]["resized"]
        api.patch("/api/v1/nodes/b", {"spec": {"unschedulable": True}})
        control_plane.add_nodes("c", capacity={**CAPACITY, "cpu": "1"})
        run.until_pods(*(f"grows-work-{number}" for number in range(5)))
        assert run.status["jobgate"]["resized"] != asked
        wait_for(lambda: all(pod["spec"].get("nodeName") for pod in run.pods().values()), WAIT, what="all are bound")
        run.space.delete(run.plural, run.name, run.version)
        run.until_pods()


def test_a_job_shrinks_for_pods_that_find_no_node_and_grows_again(
    control_plane: WholeControlPlane, tmp_path: Path, settings: list[str]
) -> None:
    here = {"nodeSelector": {"room": "here"}}
    with control_plane.api() as api:
        space = Space(api, open_namespace(api))
        control_plane.add_nodes("d", "e", capacity={**CAPACITY, "cpu": "2"}, labels=here["nodeSelector"])
        with runner(control_plane, tmp_path / "log", settings):
            run = Run(space, dijob("fills", work(2, "500m", **here), minReplicas=2, maxReplicas=9))
            run.until_pods(*(f"fills-work-{number}" for number in range(8)))
            # Nobody shrinks for pods that are too large for each node, or that need nodes which do not exist.
            Run(space, dijob("large", work(1, "3", **here)))
            Run(space, dijob("elsewhere", work(1, "1", nodeSelector={"room": "none"})))
            wait_for(lambda: len(refused(space)) == 2, WAIT, what="both pods find no node")
        # The next runner knows only what is stored.
        with runner(control_plane, tmp_path / "log", settings):
            second = Run(space, dijob("second", work(2, "1", **here)))
            second.until_pods("second-work-0", "second-work-1")
            # Two pods of the first have the room of one.
            run.until_pods(*(f"fills-work-{number}" for number in range(4)))
            assert run.status["jobgate"]["sizes"] == {"work": 4}
            assert run.status["jobgate"]["why"] == "no node has room for pods of a job that waits"
            space.delete(second.plural, second.name, second.version)
            run.until_pods(*(f"fills-work-{number}" for number in range(8)))
            changes = [event["reason"] for event in space.items("events") if event["reason"].startswith("Scaling")]
            # Once for the second job, and not again for the others.
            assert changes.count("ScalingDown") == 1


def refused(space: Space) -> list[str]:
    """The pods that the scheduler has found no node for."""
    messages = {
        pod["metadata"]["name"]: [each.get("message", "") for each in pod["status"].get("conditions", [])]
        for pod in space.items("pods")
    }
    return [name for name, texts in messages.items() if any("nodes are available" in text for text in texts)]
