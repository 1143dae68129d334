"""jobgate is installed in a cluster with stored invalid jobs: all of them can be edited and deleted."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.installation.definitions import definition
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook, on_path, package
from tests.e2e.trial import ADOPTED
from tests.kinds.dijob.jobs import task, template

JOBS = ADOPTED.qualified_plural
LIMITS = {"limits": {"cpu": "1e1.5"}}

#: Invalid jobs that the API server stored without jobgate.
STORED: dict[str, dict[str, Any]] = {
    "nameless-tasks": {"tasks": [task(), task()]},
    "two-learners": {"tasks": [task("learner"), task("learner", "b")]},
    "min-above-max": {"minReplicas": 5, "maxReplicas": 2, "tasks": [task("learner")]},
    "a-job-with-a-name-of-seventy-characters-which-is-longer-than-pods-allow": {"tasks": [task("learner")]},
    "no-tasks": {"tasks": []},
    "negative-backoff": {"backoffLimit": -1, "tasks": [task("learner")]},
    "no-containers": {"tasks": [task("learner", template=template(containers=[]))]},
    "unreadable-quantity": {
        "tasks": [
            task("learner", template=template(containers=[{"name": "main", "image": "ding", "resources": LIMITS}]))
        ]
    },
}


def permissive(crd: dict[str, Any]) -> dict[str, Any]:
    """Return a CRD of the same kind that accepts any spec, like the operator's minimal CRD."""
    loose = copy.deepcopy(crd)
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for version in loose["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"].update(spec=anything, status=anything)
        version["schema"]["openAPIV3Schema"].pop("required", None)
        version.pop("additionalPrinterColumns", None)
    return loose


@pytest.fixture(scope="module")
def user(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    """A user with invalid jobs, stored with a permissive CRD before jobgate's CRD replaced it."""
    assert webhook.port
    folder: Path = tmp_path_factory.mktemp("adoption")
    ClusterObjects(controlplane.client).apply(permissive(definition(ADOPTED)))
    private = PrivateWebhook(controlplane, folder, kinds=[ADOPTED])
    user = User(controlplane, private.namespace)
    for name, spec in STORED.items():
        done, output = user.create(_job(name, spec))
        assert done, output
    with on_path(package(folder / "adopted", "tests.e2e.trial:ADOPTED")), private:
        yield user
    controlplane.client.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{JOBS}")


def _job(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "finalizers": ["example.com/keep"]}
    return {"apiVersion": ADOPTED.gvk.api_version, "kind": ADOPTED.kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_invalid_job_can_be_read_and_labelled(user: User, name: str) -> None:
    done, output = user.patch(name, {"metadata": {"labels": {"seen": "yes"}}}, JOBS)
    assert (done, output) == (True, "")
    assert user.stored(name, JOBS)["metadata"]["labels"] == {"seen": "yes"}


@pytest.mark.parametrize("name", STORED)
def test_an_edit_of_another_field_is_allowed_with_warnings_about_the_faults(user: User, name: str) -> None:
    done, output = user.patch(name, {"spec": {"priority": "high"}}, JOBS)
    assert done, output
    assert "Warning: " in output
    assert "already stored; not enforced" in output
    assert user.stored(name, JOBS)["spec"]["priority"] == "high"


@pytest.mark.parametrize(
    "name, spec, fault",
    [
        ("two-learners", {"minReplicas": 9}, "spec.minReplicas: Invalid value: 9"),
        ("min-above-max", {"minReplicas": 6}, "spec.minReplicas: Invalid value: 6"),
        ("negative-backoff", {"backoffLimit": -2}, "spec.backoffLimit: Invalid value: -2"),
        ("nameless-tasks", {"preemptible": True}, "spec.preemptible: Forbidden"),
    ],
)
def test_an_edit_that_adds_a_fault_is_rejected(user: User, name: str, spec: dict[str, Any], fault: str) -> None:
    done, output = user.patch(name, {"spec": spec}, JOBS)
    assert not done
    assert fault in output


@pytest.mark.parametrize("name", STORED)
def test_a_stored_invalid_job_can_be_finalized_and_deleted(user: User, name: str) -> None:
    done, output = user.delete(name, JOBS)
    assert done, output
    done, output = user.patch(name, {"metadata": {"finalizers": None}}, JOBS)
    assert done, output
    wait_for(lambda: not user.has(name, JOBS))
