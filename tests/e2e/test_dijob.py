"""DIJobs on a real API server, from a user's point of view."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User

EXAMPLES = Path("examples/dijob")
STATUS = """
conditions:
- {lastTransitionTime: "2022-05-26T07:25:11Z", lastUpdateTime: "2022-05-26T07:25:11Z", message: job created.,
   reason: JobPending, status: "False", type: Pending}
- {lastTransitionTime: "2022-05-26T07:25:11Z", lastUpdateTime: "2022-05-26T07:25:11Z",
   message: job is starting since all pods are created., reason: JobStarting, status: "False", type: Starting}
phase: Starting
profilings: {}
readyReplicas: 0
replicas: 4
taskStatus: {learner: {Pending: 1}, evaluator: {Pending: 1}, collector: {Pending: 2}}
reschedules: 0
restarts: 0
allocation: [node-a, node-b]
completionTimestamp: "2022-05-26T08:25:11Z"
"""


@pytest.fixture
def user(webhook: InstalledWebhook, controlplane: ControlPlane, namespace: str) -> User:
    return User(controlplane, namespace)


def test_faults_of_schema_and_rules_are_reported_together(user: User) -> None:
    job = yaml.safe_load((EXAMPLES / "broken" / "four-faults.yaml").read_text())
    job["spec"]["tasks"][0]["replicas"] = 0
    job["spec"]["priority"] = "urgent"
    done, output = user.kubectl("create", "-f", "-", document=job)
    assert not done
    for fault in (
        'spec.priority: Unsupported value: "urgent"',
        "spec.tasks[0].replicas: Invalid value: 0: must be at least 1",
        "spec.tasks[1].type: Duplicate",
        "spec.tasks[2].name: Required",
        "spec.minReplicas: Invalid value: 3",
        "metadata.name: Too long",
    ):
        assert fault in output, output


def test_the_status_subresource_stores_the_whole_status(user: User, cluster_api: ClusterApi) -> None:
    text = (EXAMPLES / "with-tasks.yaml").read_text()
    done, output = user.apply(text)
    assert done, output
    job = user.stored("job-with-tasks")
    job["status"] = yaml.safe_load(STATUS)
    path = f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{user.namespace}/dijobs/job-with-tasks"
    code, answer = cluster_api.put(f"{path}/status", job)
    assert code == 200, answer
    assert user.stored("job-with-tasks")["status"] == yaml.safe_load(STATUS)


def test_labels_and_annotations_of_a_template_survive(user: User) -> None:
    job = yaml.safe_load((EXAMPLES / "minimal.yaml").read_text())
    metadata = {"labels": {"team": "games"}, "annotations": {"example.com/why": "because"}}
    job["spec"]["tasks"][0]["template"]["metadata"] = metadata
    done, output = user.apply(job)
    assert done, output
    assert "Warning: spec.tasks[0].template.metadata: DI-orchestrator does not copy these fields" in output
    assert user.stored("minimal")["spec"]["tasks"][0]["template"]["metadata"] == metadata


def test_a_generated_name_is_checked_with_its_random_suffix(user: User) -> None:
    job = yaml.safe_load((EXAMPLES / "minimal.yaml").read_text())
    job["metadata"] = {"generateName": "sweep-"}
    done, output = user.kubectl("create", "-f", "-", document=job)
    assert done, output
    job["metadata"] = {"generateName": "a-sweep-over-very-many-parameters-of-a-very-long-name-"}
    done, output = user.kubectl("create", "-f", "-", document=job)
    assert not done
    assert "Too long" in output


def test_an_operators_update_is_not_rejected(user: User, cluster_api: ClusterApi) -> None:
    """Go clients write their typed structs: with zero values, and without unknown fields."""
    done, output = user.apply((EXAMPLES / "minimal.yaml").read_text())
    assert done, output
    job = user.stored("minimal")
    for task in job["spec"]["tasks"]:
        task["template"]["metadata"] = {"creationTimestamp": None}
        for container in task["template"]["spec"]["containers"]:
            container.setdefault("resources", {})
    path = f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{user.namespace}/dijobs/minimal"
    code, answer = cluster_api.put(path, job)
    assert code == 200, answer
    written = copy.deepcopy(answer)
    code, answer = cluster_api.put(path, written)
    assert (code, answer["metadata"]["generation"]) == (200, written["metadata"]["generation"])


def test_writes_that_do_not_change_the_spec_never_reach_the_webhook(user: User, webhook: InstalledWebhook) -> None:
    done, output = user.apply((EXAMPLES / "minimal.yaml").read_text())
    assert done, output
    assert user.kubectl("label", "dijobs.diengine.opendilab.org", "minimal", "seen=yes")[0]
    assert user.kubectl(
        "patch",
        "dijobs.diengine.opendilab.org",
        "minimal",
        "--type=merge",
        "-p",
        '{"metadata":{"finalizers":["a.b/c"]}}',
    )[0]
    assert user.kubectl(
        "patch", "dijobs.diengine.opendilab.org", "minimal", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'
    )[0]
    assert user.kubectl("delete", "dijobs.diengine.opendilab.org", "minimal", "--wait=false")[0]
    # The log is written in batches, so a late line may be of the creation.
    assert user.apply((EXAMPLES / "minimal.yaml").read_text().replace("minimal", "after"))[0]
    whole, _, _ = webhook.log.read_text().rpartition("\n")
    lines = [json.loads(line) for line in whole.splitlines()]
    ours = [line for line in lines if line.get("name") == "minimal" and line.get("namespace") == user.namespace]
    assert {line["operation"] for line in ours} <= {"CREATE"}


def test_namespaces_that_opted_out_are_not_reviewed(
    user: User, cluster_api: ClusterApi, webhook: InstalledWebhook
) -> None:
    job = yaml.safe_load((EXAMPLES / "minimal.yaml").read_text())
    job["spec"]["preemptible"] = True
    assert "spec.preemptible" in user.apply(job)[1]
    done, output = user.kubectl("label", "namespace", user.namespace, "jobgate.dev/admission=disabled")
    assert done, output
    # The label takes effect a moment later.
    wait_for(lambda: user.apply(job)[0], what="the namespace has opted out")
