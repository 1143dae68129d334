"""A tenant with the role `edit` cannot release a job that does not fit into its queue."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import JSON_PATCH, ClusterApi
from controlplane.runner import runner
from controlplane.simulation import end_pod, ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.plugins.crew import COMPLETION_INDEX
from jobgate.runner.loop import STATELESS
from tests.e2e.test_queues import why
from tests.e2e.test_runner import RESOURCES, WAIT, Run, dijob, task

RELEASED = {"attempt": 0, "admitted": True}
BY_POLICY = "only the runner creates Jobs with the label jobgate.dev/run"
TOGETHER = "jobgate runs this job, and deletes it with its pods: leave out --cascade=orphan"
BY_RBAC = 'resource "dijobs/status" in API group'
POD: dict[str, Any] = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}


class Tenant:
    """A user with the role `edit` in a namespace."""

    def __init__(self, plane: WholeControlPlane, namespace: str) -> None:
        self._plane = plane
        self._namespace = namespace
        plane.kubectl("-n", namespace, "create", "rolebinding", "tenant", "--clusterrole=edit", "--user=tenant")
        # Even all rights to batch Jobs do not include the rights of the runner.
        plane.kubectl("-n", namespace, "create", "role", "batch", "--verb=*", "--resource=jobs.batch,jobs.batch/status")
        plane.kubectl("-n", namespace, "create", "rolebinding", "batch", "--role=batch", "--user=tenant")

    def kubectl(self, *arguments: str, document: Any = None) -> str:
        """Run kubectl, and return why it is denied; empty if it is not denied."""
        read = [] if document is None else ["-f", "-"]
        command = ["--as=tenant", "-n", self._namespace, *arguments, *read]
        process = self._plane.kubectl(*command, input=None if document is None else json.dumps(document), check=False)
        return process.stderr if process.returncode else ""


class Created(Run):
    """A job that the tenant has created."""

    def __init__(self, space: Space, job: dict[str, Any]) -> None:
        self.space, self.name = space, str(job["metadata"]["name"])
        self.plural, self.version = RESOURCES[job["kind"]]


def state(job: Run) -> dict[str, Any]:
    """The part of a job's state that grants rights."""
    return {key: value for key, value in job.status["jobgate"].items() if key in RELEASED}


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A runner with a queue for one pod."""
    file = tmp_path_factory.mktemp("rights") / "queues.yaml"
    file.write_text("queues: [{name: small, quota: {pods: 1}}]")
    with runner(whole_controlplane, file.with_name("log"), [f"--queues={file}"]):
        yield


def test_a_tenant_cannot_release_a_job_from_its_queue(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str
) -> None:
    space, tenant = Space(whole_api, whole_namespace), Tenant(whole_controlplane, whole_namespace)
    job = dijob("greedy", task("work", 2), queue="small")
    claimed = {"jobgate.dev/run-by": "jobgate", "jobgate.dev/run-state": json.dumps(RELEASED)}
    job["metadata"]["annotations"], job["status"] = claimed, {"jobgate": RELEASED}
    wait_for(lambda: tenant.kubectl("create", "--validate=false", document=job) == "", WAIT, what="the role is bound")
    greedy = Created(space, job)
    wait_for(lambda: why(greedy)[1] == "JobQueued", WAIT, what="it waits")
    assert state(greedy) == {"attempt": 0}
    batch = space.get("jobs", "greedy-work", "batch/v1")
    marks = {
        "labels": {**batch["metadata"]["labels"], COMPLETION_INDEX: "0"},
        "ownerReferences": batch["metadata"]["ownerReferences"],
    }
    template = {"metadata": {"labels": marks["labels"]}, "spec": POD}
    forged = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "forged", **marks}}
    hidden = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hidden"}, "spec": {"template": template}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "forged", **marks}, "spec": POD}
    always = {"metadata": template["metadata"], "spec": {**POD, "restartPolicy": "Always"}}
    deployment = {"selector": {"matchLabels": {"jobgate.dev/job": "greedy"}}, "template": always}
    merge = ("patch", "--type=merge", "-p")
    attempts = [
        ("the state", (*merge, json.dumps({"status": {"jobgate": RELEASED}}), "--subresource=status", "dijob/greedy"), None, BY_RBAC),
        ("the state, beside the spec", (*merge, json.dumps({"status": {"jobgate": RELEASED}}), "dijob/greedy"), None, ""),
        ("annotations", ("annotate", "dijob/greedy", "--overwrite", *(f"{key}={value}" for key, value in claimed.items())), None, ""),
        ("a batch Job of the job", ("create",), {**forged, "spec": {"template": {"spec": POD}}}, BY_POLICY),
        ("a batch Job whose pods are", ("create",), hidden, BY_POLICY),
        ("a pod of the job", ("create",), pod, BY_POLICY),
        ("the suspended batch Job", (*merge, '{"spec":{"suspend":false}}', "job/greedy-work"), None, BY_POLICY),
        ("its size", (*merge, '{"spec":{"parallelism":9,"completions":9}}', "job/greedy-work"), None, BY_POLICY),
        ("its labels", ("label", "job/greedy-work", "jobgate.dev/run-"), None, BY_POLICY),
        ("its owner", (*merge, '{"metadata":{"ownerReferences":null}}', "job/greedy-work"), None, BY_POLICY),
        ("its deletion without pods", ("delete", "--cascade=orphan", "job/greedy-work"), None, TOGETHER),
        ("that of the job", ("delete", "--cascade=orphan", "dijob/greedy"), None, TOGETHER),
        ("its finalizer", (*merge, '{"metadata":{"finalizers":["orphan"]}}', "dijob/greedy"), None, TOGETHER),
        ("a finalizer of others", (*merge, '{"metadata":{"finalizers":["example.com/x"]}}', "dijob/greedy"), None, ""),
        ("none", (*merge, '{"metadata":{"finalizers":null}}', "dijob/greedy"), None, ""),
        ("another annotation of it", ("annotate", "job/greedy-work", "note=x"), None, ""),
        ("a Deployment whose pods are", ("create",), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "forged"}, "spec": deployment}, ""),
    ]  # fmt: skip
    for case, arguments, document, denied in attempts:
        answer = tenant.kubectl(*arguments, document=document)
        assert (denied in answer) if denied else (answer == ""), f"{case}: {answer}"
    # A later job runs, so the runner has handled all attempts.
    Run(space, dijob("honest", task("work", annotations=ends()), queue="small")).until("Succeeded")
    refused = lambda: any(BY_POLICY in event["message"] for event in space.items("events"))  # noqa: E731
    wait_for(refused, WAIT, what="the Deployment's controller is refused as well")
    assert [pod["metadata"]["labels"]["jobgate.dev/job"] for pod in space.items("pods")] == ["honest"]
    assert (why(greedy)[1], state(greedy)) == ("JobQueued", {"attempt": 0})


CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mxjobs.mxnet.mlkube.io"
FIELD = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/jobgate"


def mxjob(name: str) -> dict[str, Any]:
    """An MxJob with one pod."""
    template = {"spec": {"containers": [{"name": "mxnet", "image": "x"}]}}
    about = {"apiVersion": "mxnet.mlkube.io/v1beta1", "kind": "MxJob", "metadata": {"name": name}}
    return {**about, "spec": {"jobMode": "local", "replicaSpecs": [{"template": template}]}}


def stateless(space: Space) -> set[str]:
    """Return the names of jobs with an Event that their state is not stored."""
    return {event["involvedObject"]["name"] for event in space.items("events") if event["reason"] == STATELESS}


def test_a_job_is_not_run_if_its_crd_drops_the_state(whole_api: ClusterApi, whole_namespace: str) -> None:
    space = Space(whole_api, whole_namespace)
    before = Run(space, mxjob("before"))
    before.until("Ready")

    def keeps() -> bool:
        change = {"status": {"jobgate": {"attempt": 7}}}
        path = f"{space.path(before.plural, before.name, before.version)}/status"
        answer = whole_api.patch(path, change, {"dryRun": "All"})[1]
        return bool(answer["status"].get("jobgate", {}).get("attempt") == 7)

    schema: Any = whole_api.get(CRD)[1]
    for step in FIELD.split("/")[1:]:
        schema = schema[int(step) if step.isdigit() else step]
    assert whole_api.patch(CRD, [{"op": "remove", "path": FIELD}], content_type=JSON_PATCH)[0] == 200
    try:
        wait_for(lambda: not keeps(), WAIT, what="the field is dropped")
        later = Run(space, mxjob("later"))
        wait_for(lambda: later.name in stateless(space), WAIT, what="an Event says so")
        assert [batch["metadata"]["labels"]["jobgate.dev/job"] for batch in space.items("jobs", "batch/v1")] == [
            "before"
        ]
        assert list(before.pods()) != []
    finally:
        add = [{"op": "add", "path": FIELD, "value": schema}]
        assert whole_api.patch(CRD, add, content_type=JSON_PATCH)[0] == 200
        wait_for(keeps, WAIT, what="the field is there")
    end_pod(whole_api, space.name, next(iter(before.pods().values()))["metadata"]["name"])
