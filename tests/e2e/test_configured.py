"""Configured kinds on a real API server: faults are warnings or denied, and no object is changed."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.cli import main
from jobgate.configured.binding import configured
from jobgate.configured.catalogue import installable, named_in_catalogue
from tests.configured.crds import crd
from tests.corpus import CATALOGUE, jobs
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook

RAY, JOBSET, TORCH = KINDS = "rayclusters.ray.io", "jobsets.jobset.x-k8s.io", "pytorchjobs.kubeflow.org"


def good(name: str) -> dict[str, Any]:
    (job,) = jobs(CATALOGUE / f"{name}.yaml")
    return job


def broken(name: str) -> dict[str, Any]:
    (job,) = jobs(CATALOGUE / "broken" / f"{name}.yaml")
    return job


@pytest.fixture(scope="module")
def user(
    controlplane: ControlPlane, webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    """A user in a namespace with RayClusters, which only warn, and JobSets, which are denied."""
    assert webhook.port
    entries = [entry for name in KINDS for entry in named_in_catalogue(name)]
    cluster = ClusterObjects(controlplane.client)
    cluster.apply(*map(crd, entries))
    cluster.established(*KINDS)
    flags = [*(f"--kinds={name}" for name in KINDS), f"--deny={JOBSET}"]
    kinds = installable(map(configured, entries), [JOBSET])
    with PrivateWebhook(controlplane, tmp_path_factory.mktemp("configured"), flags, kinds) as private:
        user = User(controlplane, private.namespace)
        wait_for(lambda: not user.create(broken(JOBSET), dry_run=True)[0], what="the webhook is called for JobSets")
        yield user


def test_a_correct_object_is_stored_as_it_is(user: User) -> None:
    for name in (RAY, JOBSET):
        document = good(name)
        done, output = user.create(document)
        assert done, output
        assert "Warning" not in output
        assert user.stored("training", name)["spec"] == document["spec"]


def test_the_faults_of_a_kind_that_warns_are_warnings(user: User) -> None:
    done, output = user.create(broken(RAY))
    assert done, output
    assert (
        'Warning: spec.workerGroupSpecs[0].template.spec.containers[0].volumeMounts[0].name: Not found: "dat' in output
    )


def test_the_faults_of_a_kind_that_denies_are_denied(user: User) -> None:
    done, output = user.create(broken(JOBSET))
    assert not done
    assert 'spec.replicatedJobs[1].dependsOn[0]: Not found: "leaders"' in output


def test_only_the_pods_of_a_job_that_asks_for_plugins_get_them(user: User) -> None:
    document = good(TORCH)
    document["metadata"] = {"name": "asks", "annotations": {"jobgate.dev/plugins": "env"}}
    template = document["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    assert user.create(document)[0]
    assert user.create(good(TORCH))[0]
    prefix = "training.kubeflow.org"
    for job, expected in (("asks", "2"), ("training", None)):
        assert user.stored(job, TORCH)["spec"] == document["spec"]
        labels = {f"{prefix}/job-name": job, f"{prefix}/replica-type": "worker", f"{prefix}/replica-index": "2"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{job}-worker-2", "labels": labels}}
        done, output = user.create(pod | {"spec": template["spec"]})
        assert done, output
        env = user.stored(f"{job}-worker-2", "pods")["spec"]["containers"][0].get("env", ())
        assert {one["name"]: one.get("value") for one in env}.get("VC_TASK_INDEX") == expected


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (RAY, {"ray.io/cluster": "needs-data", "ray.io/group": "gpu"}),
        (JOBSET, {"jobset.sigs.k8s.io/jobset-name": "needs-data", "jobset.sigs.k8s.io/replicatedjob-name": "workers"}),
    ],
)
def test_pods_get_the_prerequisites_of_their_job_if_their_creator_may_use_them(
    user: User, kind: str, labels: dict[str, str]
) -> None:
    item = {"apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "data"}}
    assert user.apply(item | {"spec": {"env": [{"name": "DATA", "value": "/data"}]}})[0]
    document = good(kind) | {"metadata": {"name": "needs-data", "annotations": {"jobgate.dev/prerequisites": "data"}}}

    def is_stored() -> bool:
        return user.create(document)[0] or user.has("needs-data", kind)

    wait_for(is_stored, what="the server knows the item")
    assert user.stored("needs-data", kind)["spec"] == document["spec"]
    name, operator = f"{kind.partition('.')[0]}-pod", f"operator-{kind}-{user.namespace}"
    user.kubectl("create", "role", "creates", "--verb=create", "--resource=pods")
    user.kubectl("create", "rolebinding", f"creates-{kind}", "--role=creates", f"--user={operator}")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}}
    pod["spec"] = {"containers": [{"name": "main", "image": "train", "command": ["train"]}]}
    # The API server knows the first right a moment later.
    wait_for(
        lambda: (
            "cannot use Prerequisite data" in user.kubectl("create", f"--as={operator}", "-f", "-", document=pod)[1]
        ),
        what="the pod is denied for its item",
    )
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "uses"}}
    rule = {"apiGroups": ["jobgate.dev"], "resources": ["prerequisites"], "verbs": ["use"]}
    assert user.apply(role | {"rules": [rule]})[0]
    user.kubectl("create", "rolebinding", f"uses-{kind}", "--role=uses", f"--user={operator}")
    wait_for(lambda: user.kubectl("create", f"--as={operator}", "-f", "-", document=pod)[0], what="the right is known")
    (container,) = user.stored(name, "pods")["spec"]["containers"]
    assert container["env"] == [{"name": "DATA", "value": "/data"}]


def test_an_update_with_a_new_fault_is_denied(user: User) -> None:
    stored = broken(JOBSET) | {"metadata": {"name": "stored"}}
    del stored["spec"]["replicatedJobs"][1]["dependsOn"]
    fixed = deepcopy(stored)
    pods = fixed["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    pods["restartPolicy"] = "Never"
    pods["containers"][0] |= {"volumeMounts": [], "ports": [], "resources": {}}
    assert user.create(fixed)[0]
    done, output = user.patch("stored", {"spec": stored["spec"]}, JOBSET)
    assert not done
    assert "restartPolicy: Unsupported value" in output


def test_objects_that_pods_need_must_exist(user: User, controlplane: ControlPlane) -> None:
    document = good(JOBSET) | {"metadata": {"name": "needs"}}
    pods = document["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pods["priorityClassName"] = "no-such-class"
    done, output = user.create(document, dry_run=True)
    assert done, output
    assert "priorityClassName: there is no PriorityClass no-such-class" in output
    del pods["priorityClassName"]
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": user.namespace},
        "spec": {"hard": {"requests.cpu": "20"}},
    }
    ClusterObjects(controlplane.client).apply(quota)
    wait_for(lambda: not user.create(document, dry_run=True)[0], what="the quota is known")
    _, output = user.create(document, dry_run=True)
    text = "the pods need 32 requests.cpu at the same time, but ResourceQuota small"
    controlplane.client.delete(f"/api/v1/namespaces/{user.namespace}/resourcequotas/small")
    assert text in output


def test_objects_in_files_are_audited_before_they_are_applied(
    user: User, controlplane: ControlPlane, tmp_path: Path
) -> None:
    document = good(RAY)
    pods = document["spec"]["workerGroupSpecs"][0]["template"]["spec"]
    pods["containers"][0]["envFrom"] = [{"secretRef": {"name": "token"}}]
    pods["priorityClassName"] = "no-such-class"
    document["spec"]["workerGroupSpecs"][0]["replicas"] = "2"
    unknown = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other"}}
    (tmp_path / "ray.yaml").write_text(yaml.safe_dump_all([document, unknown]))
    arguments = ["audit", str(tmp_path), "--kubeconfig", str(controlplane.kubeconfig), "--namespace", user.namespace]
    result = CliRunner().invoke(main, [*arguments, "--warnings"], catch_exceptions=False)
    assert result.exit_code == 1, result.output
    for text in (
        f"rayclusters.ray.io {user.namespace}/training: would be denied",
        'replicas: Invalid value: "2": must be an integer',
        f"namespace {user.namespace} has no persistentvolumeclaim data",
        f"namespace {user.namespace} has no secret token",
        "there is no PriorityClass no-such-class",
        "1 object, 1 would be denied",
    ):
        assert text in result.stdout
    assert "not reviewed: Service of v1 is no known kind" in result.stderr
    result = CliRunner().invoke(main, ["audit", str(tmp_path / "none.yaml")], catch_exceptions=False)
    assert result.exit_code == 2


def test_stored_objects_are_audited_with_what_their_pods_name(user: User, controlplane: ControlPlane) -> None:
    user.create(broken(RAY))
    arguments = ["audit", "--kubeconfig", str(controlplane.kubeconfig), "--namespace", user.namespace, "--warnings"]
    result = CliRunner().invoke(main, [*arguments, "--kinds", RAY, "--kinds", JOBSET], catch_exceptions=False)
    assert result.exit_code == 1
    assert "would be denied" in result.stdout
    assert f"namespace {user.namespace} has no persistentvolumeclaim data: pods wait until it exists" in result.stdout
