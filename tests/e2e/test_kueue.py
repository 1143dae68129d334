"""If Kueue is installed, it queues the pods of jobs. Only its CRD is installed here; the tests act as Kueue."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.kueue import workloads
from controlplane.runner import runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task


@pytest.fixture(scope="module")
def kueue(running_webhook: InstalledWebhook, whole_api: ClusterApi) -> Iterator[None]:
    """The CRD of Kueue, and a webhook with the settings of the runner."""
    with workloads(whole_api):
        yield


@pytest.mark.usefixtures("kueue")
def test_configured_queues_are_used_even_if_kueue_is_installed(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, tmp_path: Path
) -> None:
    # Jobs that other tests left may be in the queue "research".
    queues = tmp_path / "queues.yaml"
    queues.write_text("queues: [{name: small, quota: {pods: 1}}]")
    space = Space(whole_api, whole_namespace)
    with runner(whole_controlplane, tmp_path / "log", [f"--queues={queues}"]):
        Run(space, dijob("large", task("work", 2), queue="small")).until("Pending")
        Run(space, dijob("small", task("work"), queue="small")).until("Running")
        (pod,) = space.items("pods")
    assert "kueue" not in str(pod)
    assert "queues are used, and not Kueue" in (tmp_path / "log").read_text()


@pytest.mark.usefixtures("kueue")
def test_kueue_is_used_by_default_if_it_is_installed(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, tmp_path: Path
) -> None:
    with runner(whole_controlplane, tmp_path / "log"):
        queued_by_kueue(Space(whole_api, whole_namespace))
    assert '"system":"kueue","reason":"the CRD workloads.kueue.x-k8s.io is installed"' in (tmp_path / "log").read_text()


def queued_by_kueue(space: Space) -> None:
    """Run a job in a queue of Kueue, and a job without a queue."""
    run = Run(space, dijob("gang", task("work", 2), task("judge"), queue="research"))
    wait_for(lambda: len(space.items("pods")) == 3, WAIT, what="the pods are there")
    group = f"gang-{run.job['metadata']['uid'][:8]}-0"
    for pod in space.items("pods"):
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        kueues = {key.rpartition("/")[2]: value for key, value in labels.items() if key.startswith("kueue.x-k8s.io/")}
        assert kueues == {"queue-name": "research", "pod-group-name": group, "managed": "true"}
        assert annotations["kueue.x-k8s.io/pod-group-total-count"] == "3"
        assert pod["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]
        assert "nodeName" not in pod["spec"]
    for pod in space.items("pods"):  # as Kueue does to admit a group
        space.patch("pods", pod["metadata"]["name"], {"spec": {"schedulingGates": None}})
    run.until("Running")
    plain = Run(space, dijob("plain", task("work")))
    plain.until("Running")
