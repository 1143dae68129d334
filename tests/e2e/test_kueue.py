"""Where Kueue is installed, it queues the pods of jobs. Its CRD is; what Kueue does is done here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "workloads.kueue.x-k8s.io"
SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
VERSION = {"name": "v1beta2", "served": True, "storage": True, "schema": SCHEMA}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    # The group is protected: the API server asks who approved it.
    "metadata": {"name": NAME, "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
    "spec": {
        "group": "kueue.x-k8s.io",
        "names": {"kind": "Workload", "plural": "workloads"},
        "scope": "Namespaced",
        "versions": [VERSION],
    },
}


@pytest.fixture
def log(
    whole_controlplane: WholeControlPlane, whole_webhook: InstalledWebhook, whole_api: ClusterApi, tmp_path: Path
) -> Iterator[Path]:
    """What a runner with queues of its own logs beside Kueue."""
    status, answer = whole_api.post(CRDS, CRD)
    assert status == 201, answer
    queues = tmp_path / "queues.yaml"
    queues.write_text("queues: [{name: research, quota: {pods: 1}}]")
    whole_webhook.restart(RUN)
    try:
        with runner(whole_controlplane, tmp_path / "log", [f"--queues={queues}"]):
            yield tmp_path / "log"
    finally:
        whole_webhook.restart()
        whole_api.delete(f"{CRDS}/{NAME}")


def test_kueue_is_used_where_it_is_installed_and_own_queues_step_back(
    log: Path, whole_api: ClusterApi, whole_namespace: str
) -> None:
    space = Space(whole_api, whole_namespace)
    one = Run(space, dijob("gang", task("work", 2), task("judge"), queue="research"))
    wait_for(lambda: len(space.items("pods")) == 3, WAIT, what="the pods are there, whatever the own queue says")
    said = log.read_text()
    chosen = '"system":"kueue","reason":"the CRD workloads.kueue.x-k8s.io is installed"'
    assert (chosen in said, "queues ignored" in said) == (True, True), said
    group = f"gang-{one.job['metadata']['uid'][:8]}-0"
    for pod in space.items("pods"):
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        kueues = {key.rpartition("/")[2]: value for key, value in labels.items() if key.startswith("kueue.x-k8s.io/")}
        assert kueues == {"queue-name": "research", "pod-group-name": group, "managed": "true"}
        assert annotations["kueue.x-k8s.io/pod-group-total-count"] == "3"
        assert pod["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]
        assert "nodeName" not in pod["spec"]
    for pod in space.items("pods"):  # as Kueue admits a group
        space.patch("pods", pod["metadata"]["name"], {"spec": {"schedulingGates": None}})
    one.until("Running")
    plain = Run(space, dijob("plain", task("work")))
    plain.until("Running")
