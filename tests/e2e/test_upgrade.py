"""An upgrade to a version with more defaults and rules: stored jobs can still be changed and deleted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.objects import written as stream
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook, on_path, package
from tests.e2e.trial import NEWER, OLDER

TRIAL = NEWER.qualified_plural


def job(name: str, **spec: Any) -> dict[str, Any]:
    """Return a job to which only the newer version adds defaults."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "trainer"}]}}
    tasks = [{"replicas": 2, "template": template}]
    metadata = {"name": name, "finalizers": ["example.com/keep"]}
    return {
        "apiVersion": "trial.example.com/v1alpha1",
        "kind": "TrialJob",
        "metadata": metadata,
        "spec": {"tasks": tasks, **spec},
    }


CLIENT_SIDE, SERVER_SIDE, SCALED = job("client-side"), job("server-side"), job("scaled")

#: Each breaks a rule of the newer version.
UNLAWFUL = {
    "gang": job("gang", minAvailable=5),
    "policies": job(
        "policies",
        policies=[{"event": "PodFailed", "action": "AbortJob"}, {"event": "PodFailed", "action": "RestartJob"}],
    ),
}
#: The findings of the newer version for each.
FAULTS = {"gang": "spec.minAvailable: Invalid value: 5", "policies": "spec.policies[1].event: Duplicate value"}


@pytest.fixture(scope="module")
def user(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    """A user after the upgrade, with jobs that were stored before it."""
    folder: Path = tmp_path_factory.mktemp("upgrade")
    assert webhook.port
    installed = PrivateWebhook(controlplane, folder, kinds=[OLDER])
    user = User(controlplane, installed.namespace)
    with on_path(package(folder / "older", "tests.e2e.trial:OLDER")), installed:
        done, output = user.apply(stream([CLIENT_SIDE, SCALED, *UNLAWFUL.values()]))
        assert done, output
        done, output = user.apply(SERVER_SIDE, "--server-side")
        assert done, output
        # kubectl rejects fields that the older version does not know.
        assert "unknown field" in user.apply(job("newer-words", minSuccess=1))[1]
        installed.stop()
        installed.kinds = (NEWER,)
        with on_path(package(folder / "newer", "tests.e2e.trial:NEWER")):
            installed.start()
            wait_for(lambda: user.apply(job("newer-words", minSuccess=1))[0], every=0.5)
            yield user
    controlplane.client.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{TRIAL}")


@pytest.mark.parametrize("name", UNLAWFUL)
def test_the_newer_rules_apply_to_a_new_job(user: User, name: str) -> None:
    done, output = user.apply({**UNLAWFUL[name], "metadata": {"name": f"new-{name}"}})
    assert not done
    assert FAULTS[name] in output


def test_a_new_job_has_the_newer_defaults_and_fields(user: User) -> None:
    spec = user.stored("newer-words", TRIAL)["spec"]
    assert (spec["queue"], spec["schedulerName"], spec["minAvailable"], spec["minSuccess"]) == (
        "default",
        "volcano",
        2,
        1,
    )


@pytest.mark.parametrize(
    "written, flags", [(CLIENT_SIDE, ()), (SERVER_SIDE, ("--server-side",))], ids=["client-side", "server-side"]
)
def test_after_the_upgrade_the_same_file_can_be_applied_and_has_no_difference(
    user: User, written: dict[str, Any], flags: tuple[str, ...]
) -> None:
    name = written["metadata"]["name"]
    done, output = user.apply(written, *flags)
    assert done, output
    generation = user.stored(name, TRIAL)["metadata"]["generation"]
    done, output = user.kubectl("diff", *flags, "-f", "-", document=written)
    assert done, output
    done, output = user.apply(written, *flags)
    assert done, output
    assert user.stored(name, TRIAL)["metadata"]["generation"] == generation


def test_a_newer_default_does_not_count_as_a_change_of_the_user(user: User) -> None:
    written = yaml.safe_load(yaml.safe_dump(SCALED))
    written["spec"]["tasks"][0]["replicas"] = 3
    done, output = user.apply(written)
    assert done, output
    task = user.stored("scaled", TRIAL)["spec"]["tasks"][0]
    assert (task["replicas"], task["name"]) == (3, "default0")
    # A change of the user is denied, and nothing else is reported.
    written["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["image"] = "another"
    done, output = user.apply(written)
    assert not done
    assert (
        "spec.tasks[0].template.spec.containers[0].image: Forbidden: may not change after the job is created" in output
    )
    assert "* " not in output


@pytest.mark.parametrize("name", UNLAWFUL)
def test_a_stored_job_that_breaks_a_newer_rule_can_be_changed_and_deleted(user: User, name: str) -> None:
    assert user.patch(name, {"metadata": {"labels": {"seen": "yes"}}}, TRIAL)[0]
    done, output = user.apply(UNLAWFUL[name])
    assert done, output
    patch = [{"op": "replace", "path": "/spec/tasks/0/replicas", "value": 3}]
    done, output = user.patch(name, patch, TRIAL)
    assert done, output
    assert "already stored; not enforced" in output
    stored = user.stored(name, TRIAL)
    assert stored["metadata"]["labels"] == {"seen": "yes"}
    assert stored["spec"]["tasks"][0]["replicas"] == 3
    assert user.delete(name, TRIAL)[0]
    done, output = user.patch(name, {"metadata": {"finalizers": None}}, TRIAL)
    assert done, output
    wait_for(lambda: not user.has(name, TRIAL))
