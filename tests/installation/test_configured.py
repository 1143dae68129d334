"""Manifests for configured kinds: no CRD, no mutating entry, a failure policy that fits their mode."""

from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.configured.catalogue import named_in_catalogue
from jobgate.configured.file import read_entries

TORCH = "pytorchjobs.kubeflow.org"
OWN = "trainings.ml.example.com"
DESCRIBED = """\
group: ml.example.com
versions: [v1]
kind: Training
plural: trainings
like: rayclusters.ray.io
members: null
"""
RAY, JOBSET, RUNTIME = "rayclusters.ray.io", "jobsets.jobset.x-k8s.io", "clustertrainingruntimes.trainer.kubeflow.org"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a kind that is not in the catalogue."""
    file = tmp_path_factory.mktemp("kinds") / "training.yaml"
    file.write_text(DESCRIBED)
    return str(file)


@pytest.fixture(scope="module")
def manifests(described: str) -> list[dict[str, Any]]:
    flags = [flag for name in (RAY, JOBSET, RUNTIME, TORCH, described) for flag in ("--kinds", name)]
    result = CliRunner().invoke(main, ["manifests", *flags, "--deny", JOBSET], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def named(manifests: list[dict[str, Any]], kind: str, start: str = "") -> dict[str, Any]:
    (result,) = [
        manifest
        for manifest in manifests
        if manifest["kind"] == kind and manifest["metadata"]["name"].startswith(start)
    ]
    return result


def test_they_bring_no_crd_and_no_rights_of_users(manifests: list[dict[str, Any]]) -> None:
    assert not [manifest for manifest in manifests if manifest["metadata"]["name"] == RAY]
    for name in ("jobgate-jobs-view", "jobgate-jobs-edit"):
        assert "ray.io" not in str(named(manifests, "ClusterRole", name))


def test_objects_are_validated_but_never_changed(manifests: list[dict[str, Any]]) -> None:
    validating = {
        webhook["name"]: webhook for webhook in named(manifests, "ValidatingWebhookConfiguration")["webhooks"]
    }
    mutating = {each["name"] for each in named(manifests, "MutatingWebhookConfiguration")["webhooks"]}
    assert not {f"{name}.mutate.jobgate.dev" for name in (RAY, JOBSET, RUNTIME)} & mutating
    policies = {name: validating[f"{name}.validate.jobgate.dev"]["failurePolicy"] for name in (RAY, JOBSET, RUNTIME)}
    assert policies == {RAY: "Ignore", JOBSET: "Fail", RUNTIME: "Ignore"}
    assert validating[f"{RUNTIME}.validate.jobgate.dev"]["rules"][0]["scope"] == "*"


def test_server_and_controller_read_the_same_entries(manifests: list[dict[str, Any]]) -> None:
    config = named(manifests, "ConfigMap", "jobgate-kinds-")
    (entry,) = read_entries(config["data"][f"{OWN}.yaml"].encode(), "")
    assert (entry.tasks, entry.members) == (named_in_catalogue(RAY)[0].tasks, None)
    of_server = [RAY, JOBSET, RUNTIME, TORCH, f"/etc/jobgate/configured/{OWN}.yaml"]
    # The controller needs only kinds with plugins.
    for name, expected in (("jobgate-webhook", of_server), ("jobgate-controller", [TORCH])):
        spec = named(manifests, "Deployment", name)["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        given = [arg.removeprefix("--kinds=") for arg in container["args"] if arg.startswith("--kinds")]
        assert given == expected
        assert {"name": "kinds", "configMap": {"name": config["metadata"]["name"]}} in spec["volumes"]
    server = named(manifests, "Deployment", "jobgate-webhook")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert [arg for arg in server if arg.startswith("--deny")] == [f"--deny={JOBSET}"]


def test_the_server_may_read_what_the_rules_look_up_but_no_secrets(manifests: list[dict[str, Any]]) -> None:
    rules = named(manifests, "ClusterRole", "jobgate-webhook")["rules"]
    read = {(group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}
    assert {("", "resourcequotas"), ("scheduling.k8s.io", "priorityclasses"), ("kueue.x-k8s.io", "localqueues")} <= read
    assert not {("", "secrets"), ("", "configmaps")} & read


def test_a_kind_that_is_not_configured_cannot_be_denied() -> None:
    result = CliRunner().invoke(main, ["manifests", "--kinds", RAY, "--deny", JOBSET])
    assert result.exit_code == 2
    assert f"--deny {JOBSET}: must be a kind of --kinds: {RAY}" in result.stderr
