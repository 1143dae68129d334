"""The right to use an item, on a whole control plane: labels and annotations do not get around it.

Mallory may edit the namespace, but may not use any item of the cluster; Alice's jobs have an item.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest

from controlplane.client import MERGE_PATCH, ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.kinds import built_in
from jobgate.prerequisites.reference import ANNOTATION
from tests.corpus import ROOT, jobs
from tests.e2e.cluster import User

WAIT = 120.0
ITEM = "secret-of-alice"
NAMED = f"ClusterPrerequisite/{ITEM}"
VARIABLE = "FROM_THE_ITEM"
DENIED = f"cannot use ClusterPrerequisite {ITEM}"
KINDS = {kind.kind: kind for kind in built_in()}
FOLDERS = {"DIJob": "dijob", "Job": "vcjob", "MxJob": "mxjob", "TorchJob": "torchjob"}
#: A service account of another namespace, and a service account with the rights of an operator.
BUILDER, OPERATOR = "system:serviceaccount:ci:builder", "system:serviceaccount:di-system:operator"


class Tenants(User):
    """A namespace with Alice, who is an administrator here, and Mallory."""

    def mallory(self, *arguments: str, document: Any = None) -> tuple[bool, str]:
        return self.kubectl(*arguments, f"--as=mallory-{self.namespace}", document=document)

    def resource(self, document: Any) -> str:
        kind = KINDS.get(document["kind"]) if "." in document["apiVersion"] else None
        return kind.qualified_plural if kind else f"{document['kind']}".lower() + "s"

    def annotates(self, document: Any, value: str = NAMED) -> tuple[bool, str]:
        name = document["metadata"]["name"]
        return self.mallory("annotate", "--overwrite", self.resource(document), name, f"{ANNOTATION}={value}")

    def pods(self, **labels: str) -> list[dict[str, Any]]:
        chosen = ",".join(f"{key}={value}" for key, value in labels.items())
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        return list(self.plane.client.get(path, {"labelSelector": chosen})[1]["items"])


def has_the_item(pod: dict[str, Any]) -> bool:
    return any(VARIABLE in str(container.get("env")) for container in pod["spec"]["containers"])


@pytest.fixture(scope="module")
def tenants(
    whole_webhook: InstalledWebhook, whole_controlplane: WholeControlPlane, whole_api: ClusterApi
) -> Iterator[Tenants]:
    tenants = Tenants(whole_controlplane, open_namespace(whole_api))
    item = {
        "apiVersion": "jobgate.dev/v1alpha1", "kind": "ClusterPrerequisite", "metadata": {"name": ITEM},
        "spec": {"env": [{"name": VARIABLE, "value": "x"}]},
    }  # fmt: skip
    for done, text in (
        tenants.apply(item),
        *(tenants.kubectl("create", "rolebinding", f"edits-{place}", "--clusterrole=edit", f"--user={user}")
          for place, user in enumerate((f"mallory-{tenants.namespace}", BUILDER, OPERATOR))),
        tenants.kubectl("create", "clusterrole", tenants.namespace, "--verb=update",
                        "--resource=dijobs.diengine.opendilab.org/status"),
        tenants.kubectl("create", "clusterrolebinding", tenants.namespace, f"--clusterrole={tenants.namespace}",
                        f"--user={OPERATOR}"),
    ):  # fmt: skip
        assert done, text
    probe = dijob("probe", NAMED)
    wait_for(lambda: tenants.create(probe, dry_run=True)[0], WAIT, what="the server knows the item")
    wait_for(lambda: DENIED in tenants.mallory("create", "-f", "-", document=probe)[1], WAIT, what="mallory may edit")
    yield tenants
    for name in ("clusterrole", "clusterrolebinding"):
        tenants.kubectl("delete", name, tenants.namespace)
    tenants.kubectl("delete", "clusterprerequisite", ITEM)
    whole_api.delete(f"/api/v1/namespaces/{tenants.namespace}")


def dijob(name: str, *names: str) -> dict[str, Any]:
    kind = {"kind": "ClusterPrerequisite"}
    task = {
        "name": "work",
        "prerequisites": [{**kind, "name": item.rpartition("/")[2]} for item in names],
        "template": {"spec": {"containers": [{"name": "main", "image": "ding", "command": ["python"]}]}},
    }
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "metadata": {"name": name},
        "spec": {"tasks": [task]},
    }  # fmt: skip


def minimal(kind: str, name: str) -> dict[str, Any]:
    """The minimal example of a kind."""
    (job,) = jobs(ROOT / FOLDERS[kind] / "minimal.yaml")
    return {**job, "metadata": {"name": name}}


def reviews(webhook: InstalledWebhook, kind: str) -> float:
    """Return how many reviews of a kind the API server has requested."""
    with urlopen(f"http://127.0.0.1:{webhook.health_port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    sample = f'jobgate_reviews_total{{kind="{KINDS[kind].qualified_plural}",'
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(sample))


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_of_metadata_is_reviewed_only_for_the_reviewed_labels_and_annotations(
    tenants: Tenants, whole_webhook: InstalledWebhook, kind: str
) -> None:
    assert tenants.apply(minimal(kind, "marked"))[0]
    path, api = tenants.path("marked", KINDS[kind].qualified_plural), tenants.plane.client
    reviewed = [(field, key) for field, keys in KINDS[kind].reviewed.items() for key in keys]
    assert ("annotations", ANNOTATION) in reviewed
    for field, key in reviewed:
        for value in ("x", None):
            before = reviews(whole_webhook, kind)
            status, answer = api.patch(path, {"metadata": {field: {key: value}}}, content_type=MERGE_PATCH)
            assert reviews(whole_webhook, kind) >= before + 1, (field, key, value, answer)
            if status != 200:
                break  # denied, so there is nothing to remove
    before = reviews(whole_webhook, kind)
    changes: list[dict[str, Any]] = [
        {"labels": {"mine": "x"}},
        {"annotations": {"mine": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        {"finalizers": ["example.com/mine"]},
        {"finalizers": None},
    ]
    for metadata in changes:
        assert api.patch(path, {"metadata": metadata}, content_type=MERGE_PATCH)[0] == 200
    nothing: dict[str, Any]
    for nothing in ({"labels": None, "annotations": None}, {"labels": {}, "annotations": {}}):
        stored = tenants.stored("marked", KINDS[kind].qualified_plural)
        assert api.put(path, {**stored, "metadata": {**stored["metadata"], **nothing}})[0] == 200
    assert reviews(whole_webhook, kind) == before
    of_status = {"metadata": {"annotations": {ANNOTATION: NAMED}}, "status": {"phase": "Running"}}
    api.patch(f"{path}/status", of_status, content_type=MERGE_PATCH)
    assert ANNOTATION not in str(tenants.stored("marked", KINDS[kind].qualified_plural)["metadata"])
    assert reviews(whole_webhook, kind) == before
    assert tenants.delete("marked", KINDS[kind].qualified_plural)[0]


@pytest.mark.parametrize("kind", ["Job", "MxJob", "TorchJob"])
def test_a_user_without_the_right_cannot_annotate_a_stored_job(tenants: Tenants, kind: str) -> None:
    job = minimal(kind, "plain")
    assert tenants.apply(job)[0]
    done, text = tenants.annotates(job)
    assert (done, DENIED in text) == (False, True), text
    operations = [{"op": "add", "path": "/metadata/annotations", "value": {ANNOTATION: NAMED}}]
    for flags in (
        ("--type=json", "-p", json.dumps(operations)),
        ("--type=merge", "-p", json.dumps({"metadata": {"annotations": {ANNOTATION: NAMED}, "labels": {"a": "b"}}})),
    ):
        done, text = tenants.mallory("patch", tenants.resource(job), "plain", *flags)
        assert (done, DENIED in text) == (False, True), text
    assert tenants.delete("plain", tenants.resource(job))[0]


def test_an_annotation_that_was_written_without_review_is_ignored(tenants: Tenants) -> None:
    job = minimal("TorchJob", "slipped")
    assert tenants.apply(job)[0]
    opt = ("label", "--overwrite", "namespace", tenants.namespace)
    assert tenants.kubectl(*opt, "jobgate.dev/admission=disabled")[0]
    wait_for(lambda: tenants.annotates(job)[0], WAIT, what="nothing is reviewed")
    assert tenants.kubectl(*opt, "jobgate.dev/admission-")[0]
    wait_for(lambda: DENIED in tenants.mallory("create", "--dry-run=server", "-f", "-", document=dijob("no", NAMED))[1],
             WAIT, what="the namespace takes part again")  # fmt: skip
    stored = tenants.stored("slipped", tenants.resource(job))
    assert stored["metadata"]["annotations"][ANNOTATION] == NAMED
    owner = {"apiVersion": stored["apiVersion"], "kind": "TorchJob", "name": "slipped", "controller": True,
             "uid": stored["metadata"]["uid"]}  # fmt: skip
    labels = {"group-name": "train.distributed.io", "job-name": "slipped", "task-type": "master", "task-index": "0"}
    (template, *_) = (task["template"] for task in stored["spec"]["torchTaskSpecs"].values())
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
           "metadata": {"name": "slipped-master-0", "labels": labels, "ownerReferences": [owner]}}  # fmt: skip
    done, text = tenants.kubectl("create", "-f", "-", document=pod)
    assert done, text
    assert not has_the_item(tenants.stored("slipped-master-0", "pods"))
    changed = json.dumps({"spec": {"backoffLimit": 7}})
    done, text = tenants.mallory("patch", tenants.resource(job), "slipped", "--type=merge", "-p", changed)
    assert (done, DENIED in text) == (False, True), text


CONTAINER = {"name": "main", "image": "web", "command": ["python"]}


def workload(kind: str, name: str, **of_pods: str) -> dict[str, Any]:
    """A workload without pods yet; `of_pods` are further labels of its template."""
    labels: dict[str, Any] = {"app": name}
    template: dict[str, Any] = {"metadata": {"labels": {**labels, **of_pods}}, "spec": {"containers": [CONTAINER]}}
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    spec: dict[str, Any] = {"template": template}
    match kind:
        case "Job" | "CronJob":
            template["spec"] = {**template["spec"], "restartPolicy": "Never"}
            spec["suspend"] = True
            if kind == "CronJob":
                spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": spec}}
        case "ReplicationController":
            spec |= {"replicas": 0, "selector": labels}
        case "DaemonSet":
            template["spec"] = {**template["spec"], "nodeSelector": {"no": "node"}}
            spec["selector"] = {"matchLabels": labels}
        case _:
            spec |= {"replicas": 0, "selector": {"matchLabels": labels}}
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec}


START: dict[str, Any] = {
    "Job": {"suspend": False},
    "DaemonSet": {"template": {"spec": {"nodeSelector": None}}},
    "CronJob": None,
}
WORKLOADS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet")


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_user_without_the_right_cannot_annotate_a_stored_workload(tenants: Tenants, kind: str) -> None:
    document = workload(kind, kind.lower())
    name = kind.lower()
    resource = f"{name}s.batch" if kind == "Job" else f"{name}s"
    assert tenants.apply(document)[0]
    done, text = tenants.mallory("annotate", resource, name, f"{ANNOTATION}={NAMED}")
    assert done, text  # nothing reads it there
    template: Any = {"template": {"metadata": {"annotations": {ANNOTATION: NAMED}}}}
    spec = {"jobTemplate": {"spec": template}} if kind == "CronJob" else template
    done, text = tenants.mallory("patch", resource, name, "--type=merge", "-p", json.dumps({"spec": spec}))
    assert (done, DENIED in text) == (False, True), text
    if go_on := START.get(kind, {"replicas": 1}):
        done, text = tenants.mallory("patch", resource, name, "--type=merge", "-p", json.dumps({"spec": go_on}))
        assert done, text
        wait_for(lambda: bool(tenants.pods(app=name)), WAIT, what="a pod is made")
        assert not any(map(has_the_item, tenants.pods(app=name)))
    assert tenants.kubectl("delete", resource, name, "--wait=false")[0]


def test_a_user_without_the_right_cannot_create_a_pod_with_the_item(tenants: Tenants) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": {"containers": [CONTAINER]}}
    named = {"name": "alone", "annotations": {ANNOTATION: NAMED}}
    for document in ({**pod, "metadata": named}, {**pod, "metadata": {**named, "generateName": "alone-"}}):
        done, text = tenants.mallory("create", "-f", "-", document=document)
        assert (done, DENIED in text) == (False, True), text
    assert tenants.mallory("create", "-f", "-", document=pod)[0]
    done, text = tenants.annotates(pod)
    assert done, text
    assert not has_the_item(tenants.stored("alone", "pods"))
    assert tenants.kubectl("delete", "pod", "alone", "--wait=false", "--grace-period=0", "--force")[0]


@pytest.fixture(scope="module")
def of_alice(tenants: Tenants) -> dict[str, Any]:
    """Alice's jobs with the item; returns the stored DIJob."""
    torch = minimal("TorchJob", "train")
    torch["metadata"]["annotations"] = {ANNOTATION: NAMED}
    for job in (dijob("train", NAMED), torch):
        done, text = tenants.apply(job)
        assert done, text
    return tenants.stored("train")


def pod_of(job: dict[str, Any], name: str) -> dict[str, Any]:
    """A pod as DI-orchestrator creates it."""
    owner = {"apiVersion": job["apiVersion"], "kind": "DIJob", "name": "train", "uid": job["metadata"]["uid"],
             "controller": True}  # fmt: skip
    metadata = {"name": name, "labels": LABELS, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [CONTAINER]}}


LABELS = {"diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": "work"}
OURS = {"jobgate.dev/kind": "dijobs.diengine.opendilab.org", "jobgate.dev/job": "train", "jobgate.dev/task": "work"}


TORCH = {"group-name": "train.distributed.io", "task-type": "master", "task-index": "0"}


@pytest.mark.parametrize(
    ("name", "kind", "labels"),
    [
        ("our-labels", "ReplicaSet", {**OURS, "jobgate.dev/index": "0"}),
        ("the-operators-labels", "ReplicaSet", {**TORCH, "job-name": "train"}),
        # Its controller sets the label `job-name`.
        ("train", "Job", TORCH),
    ],
)
def test_a_workload_with_the_labels_of_a_job_gets_no_pod_with_its_item(
    tenants: Tenants, of_alice: dict[str, Any], name: str, kind: str, labels: dict[str, str]
) -> None:
    manifest = workload(kind, name, **labels)
    manifest["spec"].pop("suspend", None)
    manifest["spec"] |= {"replicas": 1} if kind == "ReplicaSet" else {}
    done, text = tenants.mallory("create", "-f", "-", document=manifest)
    assert done, text

    def is_denied() -> bool:
        events = tenants.kubectl("get", "events", "-o", "json", f"--field-selector=involvedObject.name={name}")[1]
        return DENIED in events

    wait_for(is_denied, WAIT, what="its controller is denied the pod")
    assert not tenants.pods(app=name)
    assert tenants.kubectl("delete", f"{kind.lower()}s.{manifest['apiVersion'][:-3]}", name, "--wait=false")[0]


@pytest.mark.parametrize(("user", "may"), [(BUILDER, False), (OPERATOR, True)])
def test_only_an_operators_account_of_another_namespace_creates_pods_with_the_item(
    tenants: Tenants, of_alice: dict[str, Any], user: str, may: bool
) -> None:
    pod = pod_of(of_alice, "train-work-0")
    done, text = tenants.kubectl("create", "-f", "-", f"--as={user}", "--as-group=system:serviceaccounts", document=pod)
    assert (done, DENIED in text) == (may, not may), text
    assert not may or has_the_item(tenants.stored("train-work-0", "pods"))
