"""Attempts of tenants to get more rights, on a whole control plane.

The queue `small` has room for one pod. Alice is an administrator of the cluster; no other user may use her item `private`.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.runner import runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.prerequisites.reference import ANNOTATION
from tests.e2e.cluster import DIJOBS, User
from tests.e2e.test_queues import torchjob, why
from tests.e2e.test_rights import workload
from tests.e2e.test_runner import WAIT, Run, dijob, task

JOBS = (
    "dijobs.diengine.opendilab.org,jobs.batch.volcano.sh,mxjobs.mxnet.mlkube.io,"
    "torchjobs.train.distributed.io,torchjobs.train.distributed.io/scale"
)
WORKLOADS = "pods,pods/status,deployments.apps,cronjobs.batch,jobs.batch,jobs.batch/status"
#: Users who may write jobs; jobs and workloads with their status; and users with the roles `edit` and `admin`.
JOE, PAT, EVE, ANN = "joe", "pat", "eve", "ann"

NAMED = "ClusterPrerequisite/private"
TOKEN = "ab-"
ITEM = {
    "apiVersion": "jobgate.dev/v1alpha1", "kind": "ClusterPrerequisite", "metadata": {"name": "private"},
    "spec": {"templateVariables": [{"name": "token", "pattern": f"{TOKEN}[0-9]+"}],
             "env": [{"name": "TOKEN", "value": "{{ token }}"}]},
}  # fmt: skip
REFUSED = "cannot use ClusterPrerequisite private"
CONTAINER = {"name": "main", "image": "x", "command": ["python"]}


class Tenants(User):
    """A namespace with the rights of all users."""

    def kubectl_as(self, user: str, *arguments: str, document: Any = None) -> str:
        """Run kubectl as a user, and return why it is denied; empty if it is not denied."""
        read = () if document is None else ("-f", "-")
        done, text = self.kubectl(*arguments, *read, f"--as={user}", document=document)
        return "" if done else text

    def tries(self, *attempts: tuple[str, str, tuple[str, ...], Any, str]) -> None:
        """Assert that each attempt is denied for its reason, or allowed if the reason is empty."""
        for case, user, arguments, document, reason in attempts:
            answer = self.kubectl_as(user, *arguments, document=document)
            assert (reason in answer) if reason else (answer == ""), f"{case}: {answer}"


@pytest.fixture(scope="module", autouse=True)
def process(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A runner with a queue for one pod."""
    file = tmp_path_factory.mktemp("tenants") / "queues.yaml"
    file.write_text("queues: [{name: small, quota: {pods: 1}}]")
    with runner(whole_controlplane, file.with_name("log"), [f"--queues={file}"]):
        yield


@pytest.fixture(scope="module")
def tenants(whole_controlplane: WholeControlPlane, whole_api: ClusterApi) -> Iterator[Tenants]:
    tenants = Tenants(whole_controlplane, open_namespace(whole_api))
    for name, resources, users in (("jobs", JOBS, (JOE, PAT)), ("workloads", WORKLOADS, (PAT,))):
        assert tenants.kubectl("create", "role", name, "--verb=*", f"--resource={resources}")[0]
        given = [f"--user={user}" for user in users]
        assert tenants.kubectl("create", "rolebinding", name, f"--role={name}", *given)[0]
    for user, role in ((EVE, "edit"), (ANN, "admin")):
        assert tenants.kubectl("create", "rolebinding", user, f"--clusterrole={role}", f"--user={user}")[0]
    assert tenants.apply(ITEM)[0]
    bound = lambda: REFUSED in tenants.kubectl_as(JOE, "create", document=named("ab-1"))  # noqa: E731
    wait_for(bound, WAIT, what="rights and items are known")
    yield tenants
    tenants.kubectl("delete", "clusterprerequisite", "private")
    # Simulated pods do not end in a deleted namespace, so the jobs are deleted first.
    tenants.kubectl("delete", "dijobs", "--all")
    whole_api.delete(f"/api/v1/namespaces/{tenants.namespace}")


@pytest.fixture
def space(tenants: Tenants, whole_api: ClusterApi) -> Space:
    return Space(whole_api, tenants.namespace)


def named(token: str | None = None, **fields: Any) -> dict[str, Any]:
    """A DIJob with Alice's item."""
    values = {} if token is None else {"templateVariables": {"token": token}}
    item = {"kind": "ClusterPrerequisite", "name": "private", **values}
    return dijob("named", task("work", prerequisites=[item], **fields))


def torch(name: str, **annotations: str) -> dict[str, Any]:
    """A TorchJob with one pod, and these annotations in its template."""
    job = torchjob(name, "default")
    job["spec"]["torchTaskSpecs"]["Master"]["template"]["metadata"]["annotations"] = annotations
    return job


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": {"containers": [CONTAINER]},
    }


def merge(change: Any, *flags: str) -> tuple[str, ...]:
    return ("patch", "--type=merge", *flags, "-p", json.dumps(change))


def test_no_write_adds_an_item_without_the_right(tenants: Tenants) -> None:
    value = json.dumps([{"kind": "ClusterPrerequisite", "name": "private", "templateVariables": {"token": "ab-1"}}])
    cron = workload("CronJob", "alice")
    cron["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["annotations"] = {ANNOTATION: value}
    assert tenants.apply(cron)[0]
    assert tenants.apply(torch("mine", note=value))[0]
    assert tenants.kubectl("annotate", "torchjob/mine", f"note={value}")[0]
    place = f"/metadata/annotations/{ANNOTATION.replace('/', '~1')}"
    copies = json.dumps([{"op": "copy", "from": "/metadata/annotations/note", "path": place}])
    generated = {**torch("x", **{ANNOTATION: value}), "metadata": {"generateName": "x-"}}
    applied = torch("mine")
    applied["metadata"]["annotations"] = {ANNOTATION: value}
    apply = ("apply", "--server-side", "--force-conflicts", "--field-manager=jobgate-runner")
    tenants.tries(
        ("a job whose name is generated", JOE, ("create",), generated, REFUSED),
        ("a template of a kind with a field", JOE, ("create",), dijob("x", task("w", annotations={ANNOTATION: value})), "names its prerequisites in"),
        ("a copy of another annotation", JOE, ("patch", "torchjob/mine", "--type=json", "-p", copies), None, REFUSED),
        ("the runner's field manager", JOE, apply, applied, REFUSED),
        ("what a dry run would show", JOE, ("create", "--dry-run=server", "-oyaml"), named("ab-1"), REFUSED),
        ("a CronJob of alice's", PAT, ("create", "job", "--from=cronjob/alice", "x"), None, REFUSED),
        ("that CronJob as it is", PAT, ("annotate", "cronjob/alice", "note=x"), None, ""),
    )  # fmt: skip
    assert tenants.kubectl("delete", "torchjob/mine", "cronjob/alice")[0]


@pytest.mark.parametrize("token", [None, "x"])
def test_a_denial_does_not_reveal_the_content_of_an_item(tenants: Tenants, token: str | None) -> None:
    values = {} if token is None else {"templateVariables": {"token": token}}
    value = json.dumps([{"kind": "ClusterPrerequisite", "name": "private", **values}])
    deployment = workload("Deployment", "x")
    deployment["spec"]["template"]["metadata"]["annotations"] = {ANNOTATION: value}
    documents = (named(token), torch("x", **{ANNOTATION: value}), pod("x", annotations={ANNOTATION: value}), deployment)
    for document in documents:
        answer = tenants.kubectl_as(PAT, "create", document=document)
        assert REFUSED in answer
        assert not [text for text in ("token", TOKEN) if text in answer], answer
    assert "token" in tenants.kubectl("create", "-f", "-", document=named(token))[1]  # Alice sees the reason


def test_a_namespace_administrator_cannot_grant_more_rights_than_their_own(tenants: Tenants) -> None:
    bind = ("create", "rolebinding", "x", "--user=ann")
    tenants.tries(
        *((f"the role {name}", ANN, (*bind, f"--clusterrole=jobgate-{name}"), None, "not currently held")
          for name in ("clusterprerequisites-use", "clusterprerequisites-edit", "runner", "controller", "webhook")),
        ("a role of their own", ANN, ("create", "role", "x", "--verb=patch", f"--resource={DIJOBS}/status"), None, "not currently held"),
        ("the state of a job", EVE, merge({}, "--subresource=status", "dijob/x"), None, "dijobs/status"),
        ("the token of the runner", EVE, ("create", "token", "jobgate-runner", "-n", "jobgate-system"), None, "serviceaccounts/token"),
        ("the namespace", ANN, ("label", "namespace", tenants.namespace, "jobgate.dev/admission=disabled"), None, "cannot patch"),
    )  # fmt: skip


BY_POLICY = "ValidatingAdmissionPolicy 'jobgate-runner-"
TOGETHER = "jobgate runs this job, and deletes it with its pods"


def test_pods_of_a_running_job_cannot_be_released_from_it(tenants: Tenants, space: Space) -> None:
    run = Run(space, dijob("train", task("work")))
    run.until_pods("train-work-0")
    (running_pod,) = run.pods().values()
    batch, pod_name = "job/train-work", f"pod/{running_pod['metadata']['name']}"
    labels = [
        key for key in running_pod["metadata"]["labels"] if "batch.kubernetes.io/" in key or key == "controller-uid"
    ]
    assert len(labels) == 4
    index = "batch.kubernetes.io/job-completion-index"
    changes: list[tuple[str, Any]] = [
        *((pod_name, {"labels": {key: None}}) for key in labels),
        (pod_name, {"labels": {"jobgate.dev/run": None}}),
        (pod_name, {"annotations": {index: "1"}}),
        (batch, {"labels": {"jobgate.dev/run": None}}),
        (batch, {"ownerReferences": None}),
        *((batch, {"finalizers": [name]}) for name in ("example.com/mine", "orphan", "foregroundDeletion")),
    ]
    jobs = f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{space.name}/dijobs"
    collection, batches = f"{jobs}?propagationPolicy=Orphan", f"/apis/batch/v1/namespaces/{space.name}/jobs"
    tenants.tries(
        *((f"{of} {change} {flags}", PAT, merge({"metadata": change}, *flags, of), None, BY_POLICY)
          for of, change in changes for flags in ((), ("--subresource=status",))),
        ("all jobs but their pods", JOE, ("delete", "--raw", collection), None, TOGETHER),
        ("the same, as it was", JOE, ("delete", "--raw", f"{jobs}/train?orphanDependents=true"), None, TOGETHER),
        ("all batch Jobs but their pods", PAT, ("delete", "--raw", f"{batches}?propagationPolicy=Orphan"), None, TOGETHER),
        ("a label of their own", PAT, ("label", pod_name, batch, "mine=x"), None, ""),
    )  # fmt: skip
    assert tenants.kubectl_as(JOE, "delete", "dijob/train") == ""
    wait_for(lambda: not space.names("pods"), WAIT, what="the pods go with the job")


def test_a_released_job_counts_in_its_first_queue(tenants: Tenants, space: Space) -> None:
    first = Run(space, dijob("first", task("work"), queue="small"))
    wait_for(lambda: first.status.get("jobgate", {}).get("admitted"), WAIT, what="it is released")
    tenants.tries(("another queue", JOE, merge({"spec": {"queue": "default"}}, "dijob/first"), None, ""))
    second = Run(space, dijob("second", task("work"), queue="small"))
    wait_for(lambda: why(second)[1] == "JobQueued", WAIT, what="the next one waits")
    assert "queue small has 1 of pods" in why(second)[2]
    tenants.tries(
        ("a finalizer", JOE, merge({"metadata": {"finalizers": ["example.com/mine"]}}, "dijob/first"), None, ""),
        ("its deletion, while its pods go on", JOE, ("delete", "--wait=false", "dijob/first"), None, ""),
        ("one that waits", JOE, merge({"spec": {"queue": "default"}}, "dijob/second"), None, ""),
    )
    second.until("Running")
    third = Run(space, dijob("third", task("work"), queue="small"))
    wait_for(lambda: why(third)[1] == "JobQueued", WAIT, what="a job that cannot go counts")
    assert (first.job["spec"]["queue"], first.status["jobgate"]["queue"]) == ("default", "small")
    tenants.tries(("no finalizer", JOE, merge({"metadata": {"finalizers": None}}, "dijob/first"), None, ""))
    third.until("Running")


def test_jobs_that_cannot_start_do_not_delay_other_namespaces(
    tenants: Tenants, space: Space, whole_api: ClusterApi, whole_namespace: str
) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    volumes = [{"mountPath": f"/{place}", "volumeClaimName": f"none-{place}"} for place in range(900)]
    spec = {"volumes": volumes, "tasks": [{"name": "w", "replicas": 1, "template": template}]}
    version = "batch.volcano.sh/v1alpha1"
    for place in range(34):
        job = {"apiVersion": version, "kind": "Job", "metadata": {"name": f"many-{place}"}, "spec": spec}
        space.create("jobs", job, version)
    honest = Run(Space(whole_api, whole_namespace), dijob("honest", task("work")))
    # It would take two minutes on an idle machine if namespaces did not take turns.
    wait_for(honest.pods, 60, what="it runs")
    assert tenants.kubectl_as(JOE, "delete", "jobs.batch.volcano.sh", "--all", "--wait=false") == ""
