"""jobgate comes to a cluster whose jobs were stored before it: none of them is ever stuck."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobgate.kinds.dijob import DIJOB
from jobgate.render.definitions import definition
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import wait_for
from tests.controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User
from tests.kinds.dijob.jobs import task, template

LIMITS = {"limits": {"cpu": "1e1.5"}}

#: What a controller that judges too late had let in.
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
    """Return a CRD of the same kind that takes anything, as the operator's minimal one does."""
    loose = copy.deepcopy(crd)
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for version in loose["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"].update(spec=anything, status=anything)
        version["schema"]["openAPIV3Schema"].pop("required", None)
        version.pop("additionalPrinterColumns", None)
    return loose


@pytest.fixture(scope="module")
def user(controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """Somebody on a cluster of their own: bad jobs are stored under a permissive CRD, then ours is installed over it."""
    folder: Path = tmp_path_factory.mktemp("adoption")
    with ControlPlane(controlplane.assets) as plane:
        plane.kubectl("apply", "-f", "-", input=yaml.safe_dump(permissive(definition(DIJOB))))
        plane.kubectl("wait", "--for=condition=Established", "crd", DIJOB.qualified_plural)
        user = User(plane, "default")
        jobs = yaml.safe_dump_all(_job(name, spec) for name, spec in STORED.items())
        done, output = user.kubectl("create", "-f", "-", document=jobs)
        assert done, output
        with InstalledWebhook(plane, folder):
            yield user


def _job(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "finalizers": ["example.com/keep"]}
    return {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("name", STORED)
def test_a_job_that_was_stored_before_can_be_read_and_labelled(user: User, name: str) -> None:
    done, output = user.kubectl("label", "dijob", name, "seen=yes", "--overwrite")
    assert done, output
    assert user.stored(name)["metadata"]["labels"] == {"seen": "yes"}


@pytest.mark.parametrize("name", STORED)
def test_an_edit_of_something_else_is_let_through_and_told_what_is_wrong(user: User, name: str) -> None:
    done, output = user.kubectl("patch", "dijob", name, "--type=merge", "-p", '{"spec":{"priority":"high"}}')
    assert done, output
    assert "Warning: " in output
    assert "was stored so before" in output
    assert user.stored(name)["spec"]["priority"] == "high"


@pytest.mark.parametrize(
    "name, patch, fault",
    [
        ("two-learners", '{"spec":{"minReplicas":9}}', "spec.minReplicas: Invalid value: 9"),
        ("min-above-max", '{"spec":{"minReplicas":6}}', "spec.minReplicas: Invalid value: 6"),
        ("negative-backoff", '{"spec":{"backoffLimit":-2}}', "spec.backoffLimit: Invalid value: -2"),
        ("nameless-tasks", '{"spec":{"preemptible":true}}', "spec.preemptible: Forbidden"),
    ],
)
def test_an_edit_that_adds_a_fault_is_refused(user: User, name: str, patch: str, fault: str) -> None:
    done, output = user.kubectl("patch", "dijob", name, "--type=merge", "-p", patch)
    assert not done
    assert fault in output


@pytest.mark.parametrize("name", STORED)
def test_it_can_be_finalized_and_deleted(user: User, name: str) -> None:
    done, output = user.kubectl("delete", "dijob", name, "--wait=false")
    assert done, output
    done, output = user.kubectl("patch", "dijob", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    assert done, output
    wait_for(lambda: not user.kubectl("get", "dijob", name)[0])
