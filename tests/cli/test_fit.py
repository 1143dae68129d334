"""`jobgate fit`: CRDs of others, in files and on a real API server."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from msgspec.structs import replace

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from crdgen import crd
from jobgate.cli import main
from jobgate.installation.definitions import resource_of
from jobgate.kinds.mxjob import MXJOB
from webhook import Registry

NAME = MXJOB.qualified_plural
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def fit(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["fit", *arguments], env={"KUBECONFIG": None}, catch_exceptions=False)


def lacking() -> dict[str, Any]:
    """Return the CRD of MxJob as a chart of another may have it: without the mode of a job."""
    made = deepcopy(crd(resource_of(MXJOB)))
    del made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["jobMode"]
    return made


def test_a_file_that_fits_is_told_so() -> None:
    result = fit(f"manifests/chart/jobgate/files/crds/{MXJOB.group}_{MXJOB.plural}.yaml")
    assert result.exit_code == 0, result.output
    assert result.output == f"{NAME}: compatible\n"


def test_a_file_that_does_not_fit_is_reported_by_field(tmp_path: Path) -> None:
    file = tmp_path / "crds.yaml"
    file.write_text(yaml.safe_dump(lacking()))
    result = fit(str(file))
    assert result.exit_code == 1
    assert result.output == f"{NAME}: not compatible\n  * spec.jobMode: dropped: the schema has no such field\n"


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")
    assert fit(str(file)).exit_code == 2
    assert "contain no CRD of a known kind" in fit(str(file)).stderr
    assert fit(str(tmp_path / "none.yaml")).exit_code == 2


def test_discover_says_that_no_crd_has_pod_templates(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: 3\nspec: {versions: 3}\n"
    )
    result = fit("--discover", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no pod templates in 1 CRD other than those of known kinds\n"


def test_the_crds_of_a_cluster_are_compared(
    controlplane: ControlPlane, cluster_api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a group of its own: others use the CRDs of the kinds."""
    group = "fit.example.com"
    kind = replace(MXJOB, group=group, resource=replace(resource_of(MXJOB), group=group))
    monkeypatch.setattr("jobgate.cli.fit.installed", lambda: Registry([kind]))
    name, kubeconfig = f"{MXJOB.plural}.{group}", str(controlplane.kubeconfig)
    gone = fit("--kubeconfig", kubeconfig)
    assert (gone.exit_code, gone.output) == (1, f"{name}: not installed\n")

    stored = lacking()
    stored["metadata"]["name"], stored["spec"]["group"] = name, group
    status, answer = cluster_api.post(PATH, stored)
    assert status == 201, answer
    result = fit("--kubeconfig", kubeconfig, "--output", "json")
    cluster_api.delete(f"{PATH}/{name}")
    assert result.exit_code == 1, result.output
    dropped = {"path": "spec.jobMode", "outcome": "dropped", "message": "the schema has no such field"}
    assert json.loads(result.stdout) == {"definitions": {name: [dropped]}, "notInstalled": []}
