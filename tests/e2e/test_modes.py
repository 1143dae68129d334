"""Modes of jobgate on a real API server: it only warns, it denies, a namespace opts out, no server runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.plane import ControlPlane, reserve_port
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, jobgate
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook
from tests.kinds.dijob.jobs import job, task

TWICE = job(task("learner", name="a"), task("learner", name="b"), name="twice")
FAULT = 'spec.tasks[1].type: Duplicate value: "learner"'
UNREACHABLE = 'failed calling webhook "dijobs.diengine.opendilab.org.mutate.jobgate.dev"'


@pytest.fixture(scope="module")
def warned(
    controlplane: ControlPlane, webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    """A user in a namespace with a jobgate that only warns; the shared one denies."""
    assert webhook.port
    with PrivateWebhook(controlplane, tmp_path_factory.mktemp("warning"), ["--mode=warn"]) as private:
        yield User(controlplane, private.namespace)


def test_in_warn_mode_an_invalid_job_is_stored_and_its_faults_are_warnings(warned: User) -> None:
    done, output = warned.apply(TWICE)
    assert done, output
    assert f"Warning: {FAULT}" in output
    assert "dijob.diengine.opendilab.org/twice created" in output
    assert warned.stored("twice")["spec"]["tasks"][1]["type"] == "learner"


def test_in_deny_mode_an_invalid_job_is_rejected_until_its_namespace_opts_out(
    controlplane: ControlPlane, webhook: InstalledWebhook, namespace: str
) -> None:
    assert webhook.port
    user = User(controlplane, namespace)
    done, output = user.apply(TWICE)
    assert not done
    assert FAULT in output
    assert "Warning" not in output
    controlplane.kubectl("label", "namespace", namespace, "jobgate.dev/admission=disabled")
    # The label takes effect a moment later.
    wait_for(lambda: user.apply(TWICE)[0], what="the namespace has opted out")
    done, output = user.apply(TWICE | {"metadata": {"name": "again"}})
    assert done, output
    assert "Warning" not in output


class Outage(PrivateWebhook):
    """An installation for one namespace, without a server."""

    def begin(self) -> None:
        """Reserve a port without a server, and issue a CA."""
        jobgate("certs", "issue", "--dir", str(self.folder))
        self._reserved = [reserve_port()]
        self.port = self._reserved[0].getsockname()[1]

    def passed_over(self) -> float:
        """Return the API server's count of failed webhook calls for DIJobs that were ignored."""
        text = self.plane.client.get("/metrics")[1]["text"]
        sample = "apiserver_admission_webhook_fail_open_count{"
        lines = [line for line in text.splitlines() if line.startswith(sample) and "dijobs.diengine" in line]
        return sum(float(line.rpartition(" ")[2]) for line in lines)


@pytest.fixture(scope="module")
def outage(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Outage]:
    """A namespace without a webhook server."""
    assert webhook.port
    folder: Path = tmp_path_factory.mktemp("outage")
    outage = Outage(controlplane, folder)
    outage.begin()
    yield outage
    outage.stop()


@pytest.fixture(scope="module")
def failing(outage: Outage) -> Iterator[User]:
    """A user in that namespace, with the default failure policy."""
    outage.install()
    user = User(outage.plane, outage.namespace)
    # The API server learns of each of the two configurations by itself.
    wait_for(lambda: UNREACHABLE in user.create(SOUND, dry_run=True)[1], what="the server is called to mutate")
    yield user
    outage.uninstall_configurations()


@pytest.fixture(scope="module")
def ignoring(failing: User, outage: Outage) -> User:
    """A user in that namespace, with the failure policy Ignore."""
    outage.install(failure_policy="Ignore")
    wait_for(lambda: failing.create(SOUND, dry_run=True)[0], what="nobody waits for the server")
    return failing


SOUND = job(task("learner"), name="sound")
MISTYPED: dict[str, Any] = job(task("learner"), name="mistyped", priority="urgent")


def test_without_a_server_a_job_is_rejected_with_the_reason(failing: User) -> None:
    done, output = failing.apply(SOUND)
    assert not done
    assert UNREACHABLE in output
    assert "connection refused" in output


def test_with_failure_policy_ignore_only_the_schema_is_enforced(ignoring: User, outage: Outage) -> None:
    before = outage.passed_over()
    done, output = ignoring.apply(TWICE)
    assert done, output
    assert "Warning" not in output
    # Two calls: mutation and validation.
    assert outage.passed_over() == before + 2
    first, second = ignoring.stored("twice")["spec"]["tasks"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert first["replicas"] == 1
    done, output = ignoring.apply(MISTYPED)
    assert not done
    assert 'spec.priority: Unsupported value: "urgent"' in output
