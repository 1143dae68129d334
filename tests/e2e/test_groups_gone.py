"""PodGroups: who creates them, and what happens while their CRD is gone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.controller import controller
from controlplane.runner import RUN, runner
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.ownership import MANAGED_BY
from tests.e2e.changes import recorded
from tests.e2e.test_runner import WAIT, Run, dijob, reasons, task

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
NAME, GROUP = "podgroups.scheduling.x-k8s.io", "scheduling.x-k8s.io/v1alpha1"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME, "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
    "spec": {
        "group": "scheduling.x-k8s.io",
        "names": {"kind": "PodGroup", "plural": "podgroups"},
        "scope": "Namespaced",
        "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": SCHEMA}],
    },
}
LAST = {"apiVersion": GROUP, "kind": "PodGroup", "metadata": {"name": "last"}}


@pytest.fixture(scope="module")
def groups(running_webhook: InstalledWebhook, whole_api: ClusterApi) -> Iterator[None]:
    """The CRD of scheduler-plugins, and a webhook with the settings of the runner."""
    create_crd(whole_api)
    yield
    whole_api.delete(f"{CRDS}/{NAME}")


def create_crd(api: ClusterApi) -> None:
    """Create the CRD, and wait until it is served."""
    status, answer = api.post(CRDS, CRD)
    assert status == 201, answer
    wait_for(lambda: api.get(f"/apis/{GROUP}/podgroups")[0] == 200, WAIT, what="PodGroups are served")


def gang(name: str) -> dict[str, Any]:
    """A job of two pods for the scheduler of the tests."""
    work = task("work", 2)
    work["template"]["spec"]["schedulerName"] = "default-scheduler"
    return dijob(name, work)


@pytest.mark.usefixtures("groups")
def test_new_gangs_wait_while_podgroups_are_gone_and_running_jobs_go_on(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, tmp_path: Path
) -> None:
    space = Space(whole_api, whole_namespace)
    with runner(whole_controlplane, tmp_path / "log", ["--queueing=coscheduling"], queueing="coscheduling"):
        before = Run(space, gang("before"))
        before.until("Running")
        assert space.names("podgroups", GROUP) == ["before"]

        whole_api.delete(f"{CRDS}/{NAME}")
        wait_for(lambda: whole_api.get(f"/apis/{GROUP}/podgroups")[0] == 404, WAIT, what="PodGroups are gone")
        during = Run(space, gang("during"))
        wait_for(
            lambda: (
                "until PodGroups can be read: podgroups.v1alpha1.scheduling.x-k8s.io is not known: not installed"
                in str(during.status)
            ),
            WAIT,
            what="the status says what the job waits for",
        )
        wait_for(lambda: "CannotReadPodGroups" in reasons(space), WAIT, what="so does an Event")
        assert sorted(before.pods()) == ["before-work-0", "before-work-1"]
        for pod in before.pods().values():
            end_pod(space.api, space.name, pod["metadata"]["name"])
        before.until("Succeeded")

        create_crd(whole_api)
        during.until("Running")
        assert space.names("podgroups", GROUP) == ["during"]


@pytest.mark.usefixtures("groups")
def test_only_the_runner_creates_the_groups_of_its_jobs(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, tmp_path: Path
) -> None:
    """In Volcano v1.15, a PodGroup of another minimum that exists for half a second lets single pods start."""
    space, settings = Space(whole_api, whole_namespace), ["--queueing=coscheduling"]
    with (
        controller(whole_controlplane, tmp_path, [*RUN, *settings]),
        runner(whole_controlplane, tmp_path / "log", settings, queueing="coscheduling"),
        recorded(whole_controlplane, space.path("podgroups", group=GROUP), LAST) as changes,
    ):
        jobs = [gang(f"gang-{number}") for number in range(5)]
        runs = [Run(space, {**job, "spec": {**job["spec"], "minAvailable": 2}}) for job in jobs]
        for run in runs:
            run.until("Running")
        # The group of a job that has ended is deleted.
        seen = [(change, group) for change, group in changes() if change != "DELETED"]
    written = [(change, group["metadata"]["labels"][MANAGED_BY[0]]) for change, group in seen]
    assert written == [("ADDED", "jobgate-runner")] * len(runs)
