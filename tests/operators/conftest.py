"""Where the operators are tested: a namespace of the whole control plane, in which jobgate leaves everything as it is."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.space import Space
from controlplane.whole import WholeControlPlane

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def job_kinds(whole_controlplane: WholeControlPlane) -> None:
    """The CRDs of all kinds."""
    whole_controlplane.kubectl("apply", "--kustomize", str(ROOT / "manifests" / "crds"))
    whole_controlplane.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/name=jobgate")


@pytest.fixture
def space(whole_api: ClusterApi, whole_namespace: str, job_kinds: None) -> Space:
    """A namespace in which jobs can be made. Where jobgate is installed, it is off there."""
    label = {"metadata": {"labels": {"jobgate.dev/admission": "disabled"}}}
    assert whole_api.patch(f"/api/v1/namespaces/{whole_namespace}", label)[0] == 200
    return Space(whole_api, whole_namespace)


def example(path: str) -> dict[str, Any]:
    """A job of `examples/`."""
    job: dict[str, Any] = yaml.safe_load((ROOT / "examples" / path).read_text(encoding="utf-8"))
    return job


def stored(job: dict[str, Any], namespace: str = "lab") -> dict[str, Any]:
    """A job as the API server gives it."""
    return {**job, "metadata": {**job["metadata"], "namespace": namespace, "uid": "0123", "generation": 1}}


def env_of(container: dict[str, Any]) -> dict[str, str]:
    """The variables of a container; of two of one name, the last counts."""
    return {each["name"]: each.get("value", "") for each in container.get("env") or ()}
