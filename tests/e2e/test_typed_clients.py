"""Operators that read jobs into Go structs and write them back: with zero values, and without unknown fields."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook

SYSTEM = "di-system"
OPERATOR = "di-operator"

#: The fields in the Go types of DI-orchestrator v1.1.
SPEC_OF_DI_ORCHESTRATOR = ("priority", "cleanPodPolicy", "preemptible", "backoffLimit", "volumes", "tasks")
TASK_OF_DI_ORCHESTRATOR = ("name", "type", "replicas", "template")

DIJOB = """
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: job, labels: {team: games}}
spec:
  minAvailable: 1
  minReplicas: 2
  maxReplicas: 8
  queue: research
  plugins: {env: []}
  policies:
  - {event: PodFailed, action: RestartJob}
  tasks:
  - type: learner
    template: {spec: {containers: [{name: di-container, image: ding}]}}
  - type: collector
    replicas: 2
    minAvailable: 2
    dependsOn: {name: [learner]}
    policies: [{event: PodEvicted, action: RestartTask}]
    template:
      spec:
        containers:
        - {name: di-container, image: ding, resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}
"""

VCJOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: job}
spec:
  minAvailable: 2
  plugins: {env: [], svc: [--publish-not-ready-addresses]}
  policies:
  - {event: PodEvicted, action: RestartJob, timeout: 5m}
  volumes:
  - mountPath: /checkpoints
    volumeClaim: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
  tasks:
  - name: trainer
    replicas: 2
    policies: [{exitCode: 137, action: RestartPod}]
    template:
      spec:
        restartPolicy: Never
        containers: [{name: trainer, image: trainer, resources: {limits: {cpu: "0.5", memory: 1.5Gi}}}]
"""


@pytest.fixture(scope="module")
def private(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrivateWebhook]:
    """A jobgate with the account of a forgetful DI-orchestrator in its settings."""
    folder: Path = tmp_path_factory.mktemp("forgetful")
    settings = [f"--forgetful-writer=system:serviceaccount:{SYSTEM}:{OPERATOR}"]
    with PrivateWebhook(controlplane, folder, settings) as installed:
        yield installed


@pytest.fixture(scope="module")
def accounts(private: PrivateWebhook, controlplane: ControlPlane) -> Iterator[dict[str, ClusterApi]]:
    """Clients of two service accounts with all rights in the namespace: the operator's, and another one."""
    clients: dict[str, ClusterApi] = {}
    with controlplane.api() as admin:
        admin.post("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
        core = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
        for name in (OPERATOR, "another"):
            assert admin.post(core, {"metadata": {"name": name}})[0] == 201
            _, answer = admin.post(
                f"{core}/{name}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
            )
            clients[name] = ClusterApi(controlplane.url, controlplane.ca.read_text(), answer["status"]["token"])
        binding = {
            "metadata": {"name": "all"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": SYSTEM, "name": name} for name in clients],
        }
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{private.namespace}/rolebindings"
        assert admin.post(path, binding)[0] == 201
    for client in clients.values():
        wait_for(lambda client=client: client.get(jobs_of(private))[0] == 200)  # type: ignore[misc]
    yield clients
    for client in clients.values():
        client.close()


def jobs_of(private: PrivateWebhook) -> str:
    """Return the path of the namespace's DIJobs."""
    return f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{private.namespace}/dijobs"


class Forgetful:
    """DI-orchestrator for one job: reads it into its Go structs, and writes these back."""

    def __init__(self, api: ClusterApi, path: str) -> None:
        self.api = api
        self.path = path

    def read(self) -> dict[str, Any]:
        """Return the job as the Go client would write it."""
        status, job = self.api.get(self.path)
        assert status == 200, job
        spec = {key: job["spec"][key] for key in SPEC_OF_DI_ORCHESTRATOR if key in job["spec"]}
        if not spec.get("preemptible"):
            spec.pop("preemptible", None)
        spec["tasks"] = [_typed_task(task) for task in spec["tasks"]]
        return {**job, "spec": spec}

    def write(self, job: dict[str, Any], subresource: str = "") -> dict[str, Any]:
        """Write the whole job, and return the stored job."""
        status, answer = self.api.put(f"{self.path}{subresource}", job, {"fieldManager": "di-operator"})
        assert status == 200, answer
        return answer

    def reconcile(self) -> dict[str, Any]:
        """Write the job back as it was read, as DI-orchestrator does again and again."""
        return self.write(self.read())


def _typed_task(task: dict[str, Any]) -> dict[str, Any]:
    typed = copy.deepcopy({key: task[key] for key in TASK_OF_DI_ORCHESTRATOR if key in task})
    return {**typed, "template": _typed_template(typed["template"])}


def _typed_template(template: dict[str, Any]) -> dict[str, Any]:
    template["metadata"] = {"creationTimestamp": None, **template.get("metadata", {})}
    for container in template["spec"]["containers"]:
        container.setdefault("resources", {})
        container.pop("resizePolicy", None)  # new in Kubernetes 1.27, and unknown to older clients
    return template


@pytest.fixture
def job(private: PrivateWebhook, controlplane: ControlPlane) -> Iterator[User]:
    """A user in a namespace with the job `job`, created by server-side apply."""
    user = User(controlplane, private.namespace)
    ClusterObjects(controlplane.client).apply(yaml.safe_load(DIJOB), namespace=private.namespace)
    yield user
    user.patch("job", {"metadata": {"finalizers": None}})
    user.delete("job")
    assert not user.has("job")


@pytest.fixture
def operator(job: User, private: PrivateWebhook, accounts: dict[str, ClusterApi]) -> Forgetful:
    """DI-orchestrator for that job."""
    return Forgetful(accounts[OPERATOR], f"{jobs_of(private)}/job")


def test_a_forgetful_write_changes_nothing_at_all(job: User, operator: Forgetful) -> None:
    _, before = operator.api.get(operator.path)
    for _ in range(3):
        assert operator.reconcile() == before
    for flags in ((), ("--server-side",)):
        done, output = job.kubectl("diff", *flags, "-f", "-", document=DIJOB)
        assert done, output


def test_fields_that_a_forgetful_writer_adds_are_stored(job: User, operator: Forgetful) -> None:
    before = job.stored("job")["spec"]
    typed = operator.read()
    typed["spec"]["tasks"][0]["template"]["spec"]["schedulerName"] = "gangs"
    spec = operator.write(typed)["spec"]
    assert spec["tasks"][0]["template"]["spec"].pop("schedulerName") == "gangs"
    assert spec == before


@pytest.mark.parametrize("word", ["plugins", "policies", "maxReplicas", "queue"])
def test_a_field_that_its_owner_removes_after_a_forgetful_write_stays_removed(
    job: User, operator: Forgetful, word: str
) -> None:
    operator.reconcile()
    less = yaml.safe_load(DIJOB)
    del less["spec"][word]
    ClusterObjects(job.plane.client).apply(less, namespace=job.namespace)
    assert word not in job.stored("job")["spec"]
    assert word not in operator.reconcile()["spec"]


def test_a_client_side_apply_removes_a_field_after_a_forgetful_write(
    private: PrivateWebhook, controlplane: ControlPlane, accounts: dict[str, ClusterApi]
) -> None:
    user = User(controlplane, private.namespace)
    written = yaml.safe_load(DIJOB)
    written["metadata"]["name"] = "client-side"
    done, output = user.apply(written)
    assert done, output
    Forgetful(accounts[OPERATOR], f"{jobs_of(private)}/client-side").reconcile()
    del written["spec"]["policies"], written["spec"]["tasks"][1]["dependsOn"]
    done, output = user.apply(written)
    assert done, output
    spec = user.stored("client-side")["spec"]
    assert "policies" not in spec
    assert "dependsOn" not in spec["tasks"][1]
    assert spec["minAvailable"] == 1


def test_metadata_and_status_of_a_forgetful_writer_are_stored(job: User, operator: Forgetful) -> None:
    spec = operator.reconcile()["spec"]
    typed = operator.read()
    typed["metadata"]["annotations"] = {"diengine/seen": "yes"}
    typed["metadata"]["finalizers"] = ["diengine.opendilab.org/pods"]
    answer = operator.write(typed)
    assert answer["metadata"]["annotations"] == {"diengine/seen": "yes"}
    assert answer["metadata"]["finalizers"] == ["diengine.opendilab.org/pods"]
    assert answer["spec"] == spec
    typed = operator.read()
    typed["status"] = {"phase": "Running", "replicas": 3, "readyReplicas": 3, "taskStatus": {"learner": {"Running": 1}}}
    answer = operator.write(typed, "/status")
    assert answer["status"]["taskStatus"] == {"learner": {"Running": 1}}
    assert answer["spec"] == spec


def test_a_forgetful_writer_can_remove_its_finalizer_from_a_deleted_job(job: User, operator: Forgetful) -> None:
    typed = operator.read()
    typed["metadata"]["finalizers"] = ["diengine.opendilab.org/pods"]
    operator.write(typed)
    done, output = job.delete("job")
    assert done, output
    typed = operator.read()
    typed["metadata"]["finalizers"] = []
    operator.write(typed)
    wait_for(lambda: not job.has("job"))


@pytest.mark.parametrize("who", ["a person", "an account that is not listed"])
def test_fields_that_another_account_removes_stay_removed(
    job: User, private: PrivateWebhook, accounts: dict[str, ClusterApi], cluster_api: ClusterApi, who: str
) -> None:
    api = cluster_api if who == "a person" else accounts["another"]
    spec = Forgetful(api, f"{jobs_of(private)}/job").reconcile()["spec"]
    assert not {"minAvailable", "plugins", "policies", "minReplicas", "maxReplicas", "queue"} & spec.keys()
    assert "dependsOn" not in spec["tasks"][1]


class Volcano:
    """Volcano's controller for one job: it knows every field, and writes zero values."""

    def __init__(self, api: ClusterApi, path: str) -> None:
        self.api = api
        self.path = path

    def read(self) -> dict[str, Any]:
        """Return the job as a Go client writes it."""
        status, job = self.api.get(self.path)
        assert status == 200, job
        return typed_vcjob(job)

    def write(self, job: dict[str, Any], subresource: str = "") -> dict[str, Any]:
        """Write the whole job, and return the stored job."""
        status, answer = self.api.put(f"{self.path}{subresource}", job, {"fieldManager": "vc-controller-manager"})
        assert status == 200, answer
        return answer


def typed_vcjob(job: dict[str, Any]) -> dict[str, Any]:
    """Return a job with the zero values that a Go client writes."""
    job = copy.deepcopy(job)
    job["metadata"].setdefault("creationTimestamp", None)
    job["status"] = {"state": {"lastTransitionTime": None}} | job.get("status", {})
    for task in job["spec"]["tasks"]:
        _typed_template(task["template"])
    for volume in job["spec"].get("volumes", []):
        volume["volumeClaim"].setdefault("resources", {})
    return job


@pytest.fixture
def vcjob(webhook: InstalledWebhook, controlplane: ControlPlane, namespace: str) -> User:
    """A user in a namespace with the Volcano Job `job`."""
    user = User(controlplane, namespace)
    done, output = user.create(yaml.safe_load(VCJOB))
    assert done, output
    return user


@pytest.fixture
def volcano(vcjob: User, cluster_api: ClusterApi) -> Volcano:
    """Volcano's controller for that job."""
    return Volcano(cluster_api, f"/apis/batch.volcano.sh/v1alpha1/namespaces/{vcjob.namespace}/jobs/job")


def unfilled(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec without the zero values that a Go client fills in."""
    spec = copy.deepcopy(spec)
    for task in spec["tasks"]:
        if not task["template"].get("metadata"):
            task["template"].pop("metadata", None)
        for container in task["template"]["spec"]["containers"]:
            if container.get("resources") == {}:
                del container["resources"]
    return spec


def test_a_go_client_can_create_a_volcano_job(
    webhook: InstalledWebhook, cluster_api: ClusterApi, namespace: str
) -> None:
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{namespace}/jobs"
    status, answer = cluster_api.post(path, typed_vcjob(yaml.safe_load(VCJOB)))
    assert status == 201, answer
    assert answer["spec"]["tasks"][0]["minAvailable"] == 2


def test_volcanos_updates_change_nothing_else(vcjob: User, volcano: Volcano) -> None:
    before = vcjob.stored("job", "jobs.batch.volcano.sh")["spec"]
    first = volcano.write(volcano.read())
    assert unfilled(first["spec"]) == before
    assert volcano.write(volcano.read())["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_volcano_can_write_the_names_of_claims(vcjob: User, volcano: Volcano) -> None:
    done, output = vcjob.apply(VCJOB)
    assert done, output
    before = vcjob.stored("job", "jobs.batch.volcano.sh")["spec"]
    job = volcano.read()
    job["spec"]["volumes"][0]["volumeClaimName"] = "job-volume-12bcd"
    spec = volcano.write(job)["spec"]
    assert spec["volumes"][0].pop("volumeClaimName") == "job-volume-12bcd"
    assert unfilled(spec) == before
    # The user applies the same file again: the list is the user's again, and Volcano has to write the name again.
    done, output = vcjob.apply(VCJOB)
    assert done, output


def test_volcano_can_write_finalizers_and_status(vcjob: User, volcano: Volcano) -> None:
    job = volcano.read()
    job["metadata"]["finalizers"] = ["batch.volcano.sh/claims"]
    stored = volcano.write(job)
    assert stored["metadata"]["finalizers"] == ["batch.volcano.sh/claims"]
    job = typed_vcjob(stored)
    job["status"] = {
        "state": {"phase": "Pending", "lastTransitionTime": None},
        "minAvailable": 2,
        "taskStatusCount": {"trainer": {"phase": {"Pending": 2}}},
        "pending": 2,
        "conditions": [{"status": "Pending", "lastTransitionTime": None}],
        "controlledResources": {"plugin-env": "env", "plugin-svc": "svc"},
    }
    status = volcano.write(job, "/status")["status"]
    assert status["state"] == {"phase": "Pending"}
    assert status["taskStatusCount"] == {"trainer": {"phase": {"Pending": 2}}}
    assert status["conditions"] == [{"status": "Pending"}]
    job = volcano.read()
    job["metadata"]["finalizers"] = None
    assert "finalizers" not in volcano.write(job)["metadata"]
