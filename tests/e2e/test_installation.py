"""The installed objects on a real API server."""

from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.objects import read
from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook, jobgate


def test_kustomize_builds_the_committed_base_and_crds(webhook: InstalledWebhook, controlplane: ControlPlane) -> None:
    for folder, files in (("base", "base"), ("crds", "chart/jobgate/files/crds")):
        built = read(controlplane.kubectl("kustomize", f"manifests/{folder}").stdout)
        paths = Path("manifests", files).glob("[!k]*.yaml")
        committed = [document for path in paths for document in read(path.read_text())]
        names = sorted((document["kind"], document["metadata"]["name"]) for document in committed)
        assert sorted((document["kind"], document["metadata"]["name"]) for document in built) == names


@pytest.mark.parametrize(
    "role, verb, allowed",
    [("view", "get", "yes"), ("view", "create", "no"), ("edit", "create", "yes"), ("edit", "delete", "yes")],
)
def test_the_roles_of_the_cluster_include_jobs(
    webhook: InstalledWebhook, cluster_api: ClusterApi, role: str, verb: str, allowed: str
) -> None:
    # No controller aggregates roles here, so the rules of our own role are checked.
    _, rules = cluster_api.get(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/jobgate-jobs-{role}")
    assert rules["metadata"]["labels"][f"rbac.authorization.k8s.io/aggregate-to-{role}"] == "true"
    assert (verb in rules["rules"][0]["verbs"]) is (allowed == "yes")


def test_the_crd_can_be_applied_client_side(controlplane: ControlPlane, webhook: InstalledWebhook) -> None:
    process = controlplane.kubectl(
        "apply", "-f", "manifests/chart/jobgate/files/crds/diengine.opendilab.org_dijobs.yaml"
    )
    assert "configured" in process.stdout or "unchanged" in process.stdout


def test_a_ca_bundle_without_a_certificate_is_rejected(tmp_path: Path) -> None:
    for content in ("", "-----BEGIN PRIVATE KEY-----\n"):
        bundle = tmp_path / "bundle.pem"
        bundle.write_text(content)
        with pytest.raises(RuntimeError, match="code 2"):
            jobgate("manifests", f"--ca-bundle={bundle}")
