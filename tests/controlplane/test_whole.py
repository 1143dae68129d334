"""The whole control plane: what controllers, scheduler and simulated nodes do, and that it goes without a trace."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlaneError, KubectlError
from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane

TIMEOUT = 60.0
# Controllers learn of a new resource when they next ask for the list of resources, twice a minute.
DISCOVERY_TIMEOUT = 120.0
DIJOB = "diengine.opendilab.org/v2alpha1"


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    return Space(whole_api, whole_namespace)


def pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "main"}], **spec},
    }


def job(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    template = pod("", annotations, restartPolicy="Never")
    del template["metadata"]["name"]
    return {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": template}}


def conditions(stored: dict[str, Any]) -> set[str]:
    return {one["type"] for one in stored["status"].get("conditions") or () if one["status"] == "True"}


@pytest.mark.parametrize(
    ("annotations", "condition", "phase"),
    [
        (ends(0), "Complete", "Succeeded"),
        (ends(3), "Failed", "Failed"),
        (ends(0, after="100ms"), "Complete", "Succeeded"),
    ],
)
def test_a_job_ends_as_its_template_says(space: Space, annotations: dict[str, str], condition: str, phase: str) -> None:
    space.create("jobs", job("train", annotations), "batch/v1")
    wait_for(
        lambda: condition in conditions(space.get("jobs", "train", "batch/v1")), TIMEOUT, what=f"the job is {condition}"
    )
    (ended,) = space.items("pods")
    assert ended["status"]["phase"] == phase
    code = int(next(iter(annotations.values())))
    assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


def test_the_webhook_is_called_for_it_too_and_a_deleted_job_leaves_nothing(
    whole_controlplane: WholeControlPlane, whole_webhook: InstalledWebhook, space: Space
) -> None:
    manifest = """
        apiVersion: diengine.opendilab.org/v2alpha1
        kind: DIJob
        metadata: {name: walker}
        spec:
          tasks: [{type: learner, replicas: %s, template: {spec: {containers: [{name: walker, image: walker}]}}}]
    """
    apply = ("apply", "--namespace", space.name, "--filename=-")
    with pytest.raises(KubectlError, match=r"spec\.tasks\[0\]\.replicas"):
        whole_controlplane.kubectl(*apply, input=manifest % 0)
    whole_controlplane.kubectl(*apply, input=manifest % 1)
    stored = space.get("dijobs", "walker", DIJOB)
    assert stored["spec"]["tasks"][0]["name"] == "learner"
    reference = {
        "apiVersion": stored["apiVersion"],
        "kind": "DIJob",
        "name": "walker",
        "uid": stored["metadata"]["uid"],
    }
    space.create("configmaps", {"metadata": {"name": "owned", "ownerReferences": [reference]}})

    space.delete("dijobs", "walker", DIJOB)

    wait_for(lambda: not space.exists("configmaps", "owned"), DISCOVERY_TIMEOUT, what="the owned object is gone")


def test_a_program_that_does_not_start_is_told_with_its_log(
    whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    broken = tmp_path / "kwok"
    broken.write_text("#!/bin/sh\necho no such cluster >&2; exit 4\n", encoding="ascii")
    broken.chmod(0o755)
    plane = WholeControlPlane(dataclasses.replace(whole_controlplane.assets, kwok=broken))
    with pytest.raises(ControlPlaneError, match=r"(?s)kwok \(code 4\) ended.*no such cluster"):
        plane.start()
    assert not plane.folder.exists()
