"""Which pods Kubernetes replaces for the runner, and how soon."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import USER, runner
from controlplane.simulation import ends
from controlplane.space import Object, Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import Run, dijob, task

#: Seconds within which the runner has a pod replaced, on a busy machine; less than the Job controller waits.
AT_ONCE = 8


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The runner."""
    log = tmp_path_factory.mktemp("replacement") / "log"
    with runner(whole_controlplane, log):
        yield log


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str) -> Space:
    """A namespace of the whole control plane."""
    return Space(whole_api, whole_namespace)


def created(pod: Object) -> datetime:
    """When a pod was created."""
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"])


def ended(pod: Object) -> datetime:
    """When the container of a pod ended."""
    (container,) = pod["status"]["containerStatuses"]
    return datetime.fromisoformat(container["state"]["terminated"]["finishedAt"])


def test_a_failed_pod_is_replaced_at_once_and_in_a_crash_loop_after_a_delay(space: Space) -> None:
    run = Run(space, dijob("fails", task("work", annotations=ends(1, "1s")), backoffLimit=2))
    run.until("Failed")
    pods = sorted(space.items("pods"), key=created)
    delays = [(created(after) - ended(before)).total_seconds() for before, after in pairwise(pods)]
    assert len(delays) == run.status["restarts"] == 2
    # Times are in whole seconds. Without the runner, the Job controller waits 10 and 20 seconds.
    assert delays[0] <= AT_ONCE
    assert 9 <= delays[1] <= 10 + AT_ONCE


def test_an_evicted_pod_is_replaced_at_once_and_is_no_failure(space: Space) -> None:
    run = Run(space, dijob("moves", task("work"), backoffLimit=0))
    run.until("Running")
    (pod,) = space.items("pods")
    name = pod["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    begun = datetime.now(UTC)
    assert space.api.post(f"{space.path('pods', name)}/eviction", eviction)[0] == 201
    wait_for(lambda: space.names("pods") not in ([name], []), every=0.2, what="another pod runs")
    assert (max(map(created, space.items("pods"))) - begun).total_seconds() <= AT_ONCE
    run.until("Running")
    assert run.status["restarts"] == 0


def test_the_runner_changes_nothing_of_pods_but_finalizers(space: Space, whole_controlplane: WholeControlPlane) -> None:
    run = Run(space, dijob("watched", task("work")))
    run.until_pods("watched-work-0")
    (name,) = space.names("pods")
    patch = ("--as", USER, "--namespace", space.name, "patch", "pod", name, "--type=merge", "--dry-run=server", "-p")

    def answer(change: str) -> str:
        return whole_controlplane.kubectl(*patch, change, check=False).stderr

    assert answer('{"metadata":{"finalizers":null}}') == ""
    assert answer('{"metadata":{"annotations":{"kueue.x-k8s.io/retriable-in-group":"false"}}}') == ""
    for change in (
        '{"metadata":{"finalizers":["example.com/x"]}}',
        '{"metadata":{"annotations":{"kueue.x-k8s.io/retriable-in-group":"true"}}}',
        '{"metadata":{"labels":{"a":"b"}}}',
        '{"metadata":{"annotations":{"a":"b"}}}',
        '{"metadata":{"ownerReferences":null}}',
        '{"spec":{"activeDeadlineSeconds":9}}',
    ):
        assert "this account may only remove the finalizer batch.kubernetes.io/job-tracking from pods" in answer(
            change
        ), change
