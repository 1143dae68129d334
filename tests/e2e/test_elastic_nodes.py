"""An elastic job on a whole control plane grows no further than its nodes have room, node by node."""

from pathlib import Path

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


def test_a_job_grows_to_the_pods_that_fit_on_single_nodes(whole_assets: WholeAssets, tmp_path: Path) -> None:
    queues, log = tmp_path / "queues.yaml", tmp_path / "log"
    queues.write_text(QUEUES)
    with (
        WholeControlPlane(whole_assets, nodes=0) as control_plane,
        InstalledWebhook(control_plane, tmp_path, RUN),
        runner(control_plane, log, [f"--queues={queues}", "--elastic-nodes"]),
        control_plane.api() as api,
    ):
        control_plane.add_nodes("a", "b", capacity={**CAPACITY, "cpu": "2"})
        work = task("work", 1)
        work["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "750m"}}
        run = Run(Space(api, open_namespace(api)), dijob("grows", work, minReplicas=1, maxReplicas=9))
        # Both have four CPUs together, enough for five such pods, but each only for two.
        run.until_pods(*(f"grows-work-{number}" for number in range(4)))
        asked = run.status["jobgate"]["resized"]
        api.patch("/api/v1/nodes/b", {"spec": {"unschedulable": True}})
        control_plane.add_nodes("c", capacity={**CAPACITY, "cpu": "1"})
        run.until_pods(*(f"grows-work-{number}" for number in range(5)))
        assert run.status["jobgate"]["resized"] != asked
        wait_for(lambda: all(pod["spec"].get("nodeName") for pod in run.pods().values()), WAIT, what="all are bound")
