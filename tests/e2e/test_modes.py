"""Bringing jobgate in step by step, on a real API server: it only warns, it refuses, a namespace opts out."""

from collections.abc import Iterator

import pytest

from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import wait_for
from tests.controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook
from tests.kinds.dijob.jobs import job, task

TWICE = job(task("learner", name="a"), task("learner", name="b"), name="twice")
SAID = 'spec.tasks[1].type: Duplicate value: "learner"'


@pytest.fixture(scope="module")
def warned(
    controlplane: ControlPlane, webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    """Somebody in a namespace whose jobgate only warns, beside the session's, which refuses."""
    assert webhook.port
    with PrivateWebhook(controlplane, tmp_path_factory.mktemp("warning"), ["--mode=warn"]) as private:
        yield User(controlplane, private.namespace)


def test_where_jobgate_only_warns_a_bad_job_is_stored_and_its_faults_are_warnings(warned: User) -> None:
    done, output = warned.apply(TWICE)
    assert done, output
    assert f"Warning: {SAID}" in output
    assert "dijob.diengine.opendilab.org/twice created" in output
    assert warned.stored("twice")["spec"]["tasks"][1]["type"] == "learner"


def test_elsewhere_it_is_refused_until_its_namespace_opts_out(
    controlplane: ControlPlane, webhook: InstalledWebhook, namespace: str
) -> None:
    assert webhook.port
    user = User(controlplane, namespace)
    done, output = user.apply(TWICE)
    assert not done
    assert SAID in output
    assert "Warning" not in output
    controlplane.kubectl("label", "namespace", namespace, "jobgate.dev/admission=disabled")
    # The API server learns of the label by itself, a moment later.
    wait_for(lambda: user.apply(TWICE)[0], timeout=60, what="the namespace has opted out")
    done, output = user.apply(TWICE | {"metadata": {"name": "again"}})
    assert done, output
    assert "Warning" not in output
