"""A kind in two versions on a real API server, which has its objects converted by jobgate."""

import asyncio
import copy
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.cli import main
from jobgate.cluster.client import Client
from jobgate.cluster.migration import DEFINITIONS, PROGRESS, StoredVersions, migrate
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook, on_path, package
from tests.versions import CREW, GROUP, REST, crew, older

CREWS = CREW.qualified_plural
CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CREWS}"


@pytest.fixture(scope="module")
def private(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrivateWebhook]:
    assert webhook.port
    folder: Path = tmp_path_factory.mktemp("conversion")
    with (
        on_path(package(folder / "crew", "tests.versions:CREW")),
        PrivateWebhook(controlplane, folder, kinds=[CREW]) as private,
    ):
        wait_for(lambda: _established(controlplane), what="the CRD")
        yield private
    controlplane.client.delete(CRD)


@pytest.fixture
def user(private: PrivateWebhook, controlplane: ControlPlane) -> User:
    return User(controlplane, private.namespace)


def _established(plane: ControlPlane) -> bool:
    conditions = plane.client.get(CRD)[1].get("status", {}).get("conditions", [])
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def _read(user: User, name: str, version: str) -> Any:
    """Return an object as a client of a version reads it, or the message of the failure."""
    path = f"/apis/{GROUP}/{version}/namespaces/{user.namespace}/{CREW.plural}/{name}"
    status, answer = user.plane.client.get(path)
    return answer if status == 200 else answer["message"]


def store_in(plane: ControlPlane, name: str, version: str) -> None:
    """Make another version the storage version of a CRD, and wait until the API server follows."""
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    plural, _, group = name.partition(".")

    def followed() -> str:
        """Return what stands for the storage version in discovery; until it changes, objects are stored in the former."""
        resources = plane.client.get(f"/apis/{group}/v1")[1]["resources"]
        return next(str(each["storageVersionHash"]) for each in resources if each["name"] == plural)

    before, versions = followed(), copy.deepcopy(plane.client.get(path)[1]["spec"]["versions"])
    for each in versions:
        each["storage"] = each["name"] == version
    assert plane.client.patch(path, {"spec": {"versions": versions}})[0] == 200
    wait_for(lambda: followed() != before, what=f"objects are stored in {version}")


def _migrate(plane: ControlPlane, *names: str) -> Result:
    arguments = ["migrate", "--kubeconfig", str(plane.kubeconfig), *names]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_a_client_of_each_version_sees_the_same_object(user: User) -> None:
    done, output = user.apply(older(3, name="old"))
    assert done, output
    assert _read(user, "old", "v1")["spec"]["tasks"][0]["replicas"] == 3
    assert _read(user, "old", "v1alpha1")["spec"]["workers"] == 3
    done, output = user.apply(crew("workers", "evaluator", name="new"))
    assert done, output
    as_older = _read(user, "new", "v1alpha1")
    assert as_older["spec"]["workers"] == 2
    # A client of the older version changes its part, and keeps the rest.
    as_older["spec"]["workers"] = 7
    path = f"/apis/{GROUP}/v1alpha1/namespaces/{user.namespace}/{CREW.plural}/new"
    assert user.plane.client.put(path, as_older)[0] == 200
    stored = _read(user, "new", "v1")
    assert [task["replicas"] for task in stored["spec"]["tasks"]] == [7, 2]
    assert REST not in stored["metadata"].get("annotations", {})


def test_an_object_of_the_older_version_is_reviewed_as_one_of_the_newer(user: User) -> None:
    done, output = user.apply(older(101, name="large"))
    assert not done
    assert "spec.tasks[0].replicas: Invalid value: 101: must be at most 100" in output


def test_what_breaks_the_schema_of_the_older_version_is_named(user: User) -> None:
    broken = {**older(name="broken-spec"), "spec": {"workers": "two"}}
    done, output = user.apply(broken)
    assert not done
    assert "spec.workers: Invalid value: " in output
    assert "spec.template: Required value: must be set" in output


def test_a_list_with_an_object_without_equivalent_names_it(user: User) -> None:
    assert user.apply(crew("chief", name="chief"))[0]
    done, output = user.kubectl("get", f"crews.v1alpha1.{GROUP}")
    assert not done
    assert f"Crew {user.namespace}/chief: spec.tasks[0].name: v1alpha1 has only workers, not chief" in output
    assert user.kubectl("get", CREWS)[0]
    assert user.delete("chief", CREWS)[0]


def test_a_storage_version_is_migrated_and_an_interrupted_migration_continues(
    user: User, private: PrivateWebhook, controlplane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_in(controlplane, CREWS, "v1alpha1")
    assert _versions(controlplane) == ["v1", "v1alpha1"]
    names = [f"stored-{index:02}" for index in range(30)]
    assert user.kubectl("delete", CREWS, "--all")[0]
    for name in names:
        done, output = user.create(older(name=name))
        assert done, output
    store_in(controlplane, CREWS, "v1")
    monkeypatch.setattr("jobgate.cluster.migration._STEP", 10)
    monkeypatch.setattr(StoredVersions, "settling", lambda *_: 0.01)

    annotation = asyncio.run(_interrupted(controlplane.kubeconfig))
    assert annotation.endswith(f" v1 {user.namespace}/stored-09")
    assert _versions(controlplane) == ["v1", "v1alpha1"]

    result = _migrate(controlplane, CREWS)
    assert (result.exit_code, result.stdout) == (0, f"{CREWS}: 20 objects rewritten in v1\n")
    assert f"{CREWS}: waits 0 s until all API servers store v1\n" in result.stderr
    assert f"{CREWS}: continues after {user.namespace}/stored-09" in result.stderr
    assert _versions(controlplane) == ["v1"]
    assert PROGRESS not in controlplane.client.get(CRD)[1]["metadata"].get("annotations", {})
    again = _migrate(controlplane, CREWS)
    assert (again.exit_code, again.stdout) == (0, f"{CREWS}: all objects are stored in v1\n")

    # Now nothing needs to be converted to be read as v1: not even a server.
    private.stop()
    try:
        for name in names:
            assert _read(user, name, "v1")["spec"]["tasks"][0]["name"] == "workers"
        assert "conversion webhook" in _read(user, names[0], "v1alpha1")
    finally:
        private.use()
    # The API server notices the new address of the server after a moment.
    wait_for(lambda: not isinstance(_read(user, names[0], "v1alpha1"), str), what="the server is asked again")
    assert _read(user, names[0], "v1alpha1")["spec"]["workers"] == 2


@pytest.mark.usefixtures("private")
def test_a_migration_waits_after_a_change_of_the_versions_and_after_no_other_write(controlplane: ControlPlane) -> None:
    store_in(controlplane, CREWS, "v1alpha1")
    store_in(controlplane, CREWS, "v1")

    async def check() -> None:
        async with await Client.connect(controlplane.kubeconfig) as client:
            crd = await client.get(DEFINITIONS, CREWS)
            assert crd is not None
            now = client.time.now()
            seconds = StoredVersions.of(crd).settling(now)
            assert 0 < seconds <= 65
            assert StoredVersions.of(crd).settling(now + timedelta(seconds=65)) == 0
            await asyncio.sleep(1.1)  # the times in managedFields are whole seconds
            written = await client.patch(DEFINITIONS, crd, {"metadata": {"annotations": {PROGRESS: "1 v1 a/b"}}})
            assert StoredVersions.of(written).settling(now) == seconds
            await client.patch(DEFINITIONS, written, {"metadata": {"annotations": {PROGRESS: None}}})
            # Writes are not known, as a client may clear them, or their times.
            for unknown in (None, [{"fieldsV1": None}, {"fieldsV1": {"f:spec": {}}}]):
                written["metadata"]["managedFields"] = unknown
                assert StoredVersions.of(written).settling(now) == 65

    asyncio.run(check())


def _versions(plane: ControlPlane) -> list[str]:
    return sorted(plane.client.get(CRD)[1]["status"]["storedVersions"])


async def _interrupted(kubeconfig: Path) -> str:
    """Begin a migration that is interrupted after 20 objects, and return the progress that it has stored."""

    def progress(done: int) -> None:
        if done == 20:
            raise InterruptedError

    async with await Client.connect(kubeconfig) as client:
        crd = await client.get(DEFINITIONS, CREWS)
        assert crd is not None
        assert StoredVersions.of(crd).older == ("v1alpha1",)
        with pytest.raises(InterruptedError):
            await migrate(client, StoredVersions.of(crd), progress)
        crd = await client.get(DEFINITIONS, CREWS)
        assert crd is not None
        return str(crd["metadata"]["annotations"][PROGRESS])


def test_a_crd_that_does_not_exist_is_an_error(controlplane: ControlPlane) -> None:
    result = _migrate(controlplane, "things.example.com")
    assert (result.exit_code, result.stderr) == (2, "Error: there is no CRD things.example.com\n")
