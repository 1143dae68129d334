"""The audit of a cluster's jobs, on a real API server: everything that the schema lets in is stored."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from controlplane.client import ClusterApi
from controlplane.controller import install
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlane
from jobgate.cli import main
from jobgate.kinds import installed
from jobgate.offline.audit import ListedObjects
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE
from tests.cli.test_doctor import KUBECONFIG
from tests.kinds.dijob import jobs

JOBS = "/apis/diengine.opendilab.org/v2alpha1/namespaces/{}/dijobs"


@pytest.fixture
def namespace(cluster_api: ClusterApi) -> str:
    """The name of a new namespace that opts out: other tests may have installed the webhook."""
    return new_namespace(cluster_api, {OPT_OUT_LABEL: OPT_OUT_VALUE})


def run(plane: ControlPlane, namespace: str, *flags: str) -> Result:
    arguments = ["audit", "--kubeconfig", str(plane.kubeconfig), "--namespace", namespace, *flags]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_stored_jobs_are_reported_by_job_and_rule(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str
) -> None:
    install(cluster_api)
    sound = jobs.job(jobs.task("learner"), name="sound")
    broken = jobs.job(jobs.task("learner"), jobs.task("learner"), name="broken")
    for document in (sound, broken):
        status, answer = cluster_api.post(JOBS.format(namespace), document)
        assert status == 201, answer
    result = run(controlplane, namespace)
    assert result.exit_code == 1, result.output
    assert f"dijobs.diengine.opendilab.org {namespace}/broken: would be denied" in result.output
    assert "* spec.tasks[1].type: Duplicate value" in result.output
    assert "[at_most_one_task_of_each_type]" in result.output
    assert "at_most_one_task_of_each_type: 1 object\n" in result.output
    assert "2 objects, 1 would be denied" in result.output
    assert "sound" not in result.output

    as_json: dict[str, Any] = json.loads(run(controlplane, namespace, "--output", "json").stdout)
    faults = {job["name"]: [fault["rule"] for fault in job["faults"]] for job in as_json["jobs"]}
    assert "at_most_one_task_of_each_type" in faults["broken"]
    assert faults["sound"] == []

    cluster_api.delete(f"{JOBS.format(namespace)}/broken")
    assert run(controlplane, namespace).exit_code == 0


def test_the_pod_security_level_of_a_jobs_namespace_counts(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str
) -> None:
    install(cluster_api)
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    status, answer = cluster_api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})
    assert status == 200, answer
    status, answer = cluster_api.post(JOBS.format(namespace), jobs.job(jobs.task("learner"), name="plain"))
    assert status == 201, answer
    result = run(controlplane, namespace)
    assert result.exit_code == 1, result.output
    assert "pods_keep_to_the_security_level_of_their_namespace: 1 object\n" in result.output
    assert f"namespace {namespace} enforces Pod Security level restricted" in result.output


def test_who_may_list_jobs_and_no_namespaces_is_told_what_is_not_looked_up(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str
) -> None:
    install(cluster_api)
    who, group = "auditor", "rbac.authorization.k8s.io"
    groups = sorted({kind.group for kind in installed()})
    rules = [{"apiGroups": groups, "resources": ["*"], "verbs": ["list"]}]
    subject = {"kind": "User", "name": who, "apiGroup": group}
    role = {"kind": "ClusterRole", "name": who, "apiGroup": group}
    for plural, document in (
        ("clusterroles", {"kind": "ClusterRole", "rules": rules}),
        ("clusterrolebindings", {"kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}),
    ):
        body = {"apiVersion": f"{group}/v1", "metadata": {"name": who}, **document}
        assert cluster_api.post(f"/apis/{group}/v1/{plural}", body)[0] in {201, 409}
    arguments = ["audit", "--kubeconfig", str(controlplane.kubeconfig_for(who)), "--namespace", namespace]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "warning: namespaces.v1 cannot be listed: the API server responded with 403" in result.stderr


def test_who_may_not_list_jobs_is_told_so(controlplane: ControlPlane, cluster_api: ClusterApi) -> None:
    install(cluster_api)
    kubeconfig = controlplane.kubeconfig_for("nobody-in-particular")
    result = CliRunner().invoke(main, ["audit", "--kubeconfig", str(kubeconfig)], catch_exceptions=False)
    assert result.exit_code == 2
    assert "cannot be listed: the API server responded with 403" in result.stderr


@pytest.mark.parametrize("files", [[], ["examples/dijob/minimal.yaml"]])
def test_a_cluster_that_does_not_answer_is_an_error(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    result = CliRunner().invoke(main, ["audit", "--kubeconfig", str(path), *files], catch_exceptions=False)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: the cluster cannot be reached: ")


def test_what_was_not_listed_is_not_known() -> None:
    listed = ListedObjects({"queues.v1beta1.scheduling.volcano.sh": [{"metadata": {"name": "gpu"}}]})
    assert listed.get("queues.v1beta1.scheduling.volcano.sh", "gpu") is not None
    assert listed.get("queues.v1beta1.scheduling.volcano.sh", "cpu") is None
    with pytest.raises(LookupError):
        listed.get("priorityclasses.v1.scheduling.k8s.io", "high")
