"""What is installed, asked of a real API server."""

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
        names = sorted((one["kind"], one["metadata"]["name"]) for one in committed)
        assert sorted((one["kind"], one["metadata"]["name"]) for one in built) == names


@pytest.mark.parametrize(
    "role, verb, allowed",
    [("view", "get", "yes"), ("view", "create", "no"), ("edit", "create", "yes"), ("edit", "delete", "yes")],
)
def test_users_get_at_jobs_through_the_roles_of_the_cluster(
    webhook: InstalledWebhook, cluster_api: ClusterApi, role: str, verb: str, allowed: str
) -> None:
    # Aggregation is a controller's work, and there is none here: the rule is asked of our own role.
    _, rules = cluster_api.get(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/jobgate-jobs-{role}")
    assert rules["metadata"]["labels"][f"rbac.authorization.k8s.io/aggregate-to-{role}"] == "true"
    assert (verb in rules["rules"][0]["verbs"]) is (allowed == "yes")


def test_the_crd_takes_a_plain_client_side_apply(controlplane: ControlPlane, webhook: InstalledWebhook) -> None:
    done = controlplane.kubectl("apply", "-f", "manifests/chart/jobgate/files/crds/diengine.opendilab.org_dijobs.yaml")
    assert "configured" in done.stdout or "unchanged" in done.stdout


def test_a_bundle_that_is_a_key_or_nothing_is_rejected(tmp_path: Path) -> None:
    for content in ("", "-----BEGIN PRIVATE KEY-----\n"):
        bundle = tmp_path / "bundle.pem"
        bundle.write_text(content)
        with pytest.raises(RuntimeError, match="code 2"):
            jobgate("manifests", f"--ca-bundle={bundle}")
