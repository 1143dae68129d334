"""The kind of the tutorial without tasks on a real API server: denials, look-ups, both versions, migration, audit."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.cli import main
from tests.corpus import announced, holds
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook, on_path, package
from tests.e2e.test_conversion import store_in
from tests.jobs.test_without_tasks import ZONE
from tests.kinds.tutorials import Tutorial

TUTORIAL = Tutorial("kind-without-tasks.md", "examples/own-database", "database", "Database")
NAME = "databases.db.example.com"
CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
OBJECTS = TUTORIAL.package / "objects"


@pytest.fixture(scope="module")
def private(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrivateWebhook]:
    """A server with the package, in a cluster with the StorageClasses of its examples."""
    assert webhook.port
    site: Path = tmp_path_factory.mktemp("site")
    classes = _read("classes.yaml")["items"]
    cluster = ClusterObjects(controlplane.client)
    with (
        TUTORIAL.installed(site) as kind,
        on_path(site, package(site / "zones", "tests.jobs.test_without_tasks:ZONE")),
    ):
        cluster.apply(*classes)
        with PrivateWebhook(controlplane, tmp_path_factory.mktemp("database"), kinds=[kind, ZONE]) as private:
            cluster.established(NAME, ZONE.qualified_plural)
            yield private
        for crd in (CRD, CRD.replace(NAME, ZONE.qualified_plural)):
            controlplane.client.delete(crd)
        for each in classes:
            controlplane.client.delete(f"/apis/storage.k8s.io/v1/storageclasses/{each['metadata']['name']}")


@pytest.fixture
def user(private: PrivateWebhook, controlplane: ControlPlane) -> Iterator[User]:
    """A user whose databases are deleted after the test."""
    user = User(controlplane, private.namespace)
    yield user
    user.kubectl("delete", NAME, "--all")


def _read(file: str) -> Any:
    return yaml.safe_load((OBJECTS / file).read_text(encoding="utf-8"))


def _command(plane: ControlPlane, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--kubeconfig", str(plane.kubeconfig)], catch_exceptions=False)


@pytest.mark.parametrize("file", ["minimal.yaml", "full.yaml"])
def test_a_good_database_is_stored_as_it_is_and_applied_again_without_a_change(user: User, file: str) -> None:
    written = _read(file)
    done, output = user.apply(written)
    assert done, output
    stored = user.stored("orders", NAME)
    assert holds(stored, written)
    assert stored["spec"]["replicas"] == written["spec"].get("replicas", 1)
    for flags in ((), ("--server-side", "--force-conflicts")):
        assert user.apply(written, *flags)[0]
        assert user.stored("orders", NAME)["spec"] == stored["spec"]
    assert user.kubectl("diff", "-f", "-", document=written) == (True, "")


def test_a_broken_database_is_denied_for_what_the_tutorial_shows(user: User) -> None:
    done, output = user.kubectl("apply", "-f", str(OBJECTS / "broken/five-faults.yaml"))
    assert not done
    (shown,) = (session for session in TUTORIAL.sessions if session.startswith("$ kubectl apply"))
    assert [line.rstrip() for line in output.splitlines()] == shown.splitlines()[1:]
    assert len(announced(OBJECTS / "broken/five-faults.yaml")) == output.count("\n* ")


@pytest.mark.parametrize(
    ("class_name", "size", "fault"),
    [
        ("large", "30Gi", ""),
        ("fast", "30Gi", "the StorageClass fast has no allowVolumeExpansion"),
        ("large", "10Gi", "may not shrink: it is 20Gi"),
    ],
)
def test_storage_grows_if_its_class_allows_it(user: User, class_name: str, size: str, fault: str) -> None:
    written = _read("full.yaml")
    written["spec"]["storage"]["className"] = class_name
    assert user.apply(written)[0]
    done, output = user.patch("orders", {"spec": {"storage": {"size": size}}}, NAME)
    assert (done, fault in output) == (not fault, True), output


def test_a_new_class_is_known_without_a_restart(user: User, controlplane: ControlPlane) -> None:
    written = _read("full.yaml")
    written["spec"]["storage"]["className"] = "new"
    assert not user.apply(written)[0]
    new = {**_read("classes.yaml")["items"][0], "metadata": {"name": "new"}}
    ClusterObjects(controlplane.client).apply(new)
    try:
        wait_for(lambda: user.apply(written)[0], what="the new class to be known")
    finally:
        controlplane.client.delete("/apis/storage.k8s.io/v1/storageclasses/new")
    # The class is gone, and the stored database still changes.
    done, output = user.patch("orders", {"spec": {"version": "16.4"}}, NAME)
    assert done, output


def test_both_versions_are_read_and_written(user: User) -> None:
    assert user.apply(_read("older.yaml"))[0]
    stored = user.stored("orders", NAME)
    assert (stored["apiVersion"], stored["spec"]["storage"]["size"]) == ("db.example.com/v1", "20Gi")
    path = user.path("orders", NAME).replace("/v1/", "/v1alpha1/")
    older = user.plane.client.get(path)[1]
    assert older["spec"] == {"engine": "postgres:16.3", "storageGiB": 20, "users": ["shop"]}
    older["spec"]["engine"] = "postgres:9.6"
    status, answer = user.plane.client.put(path, older)
    assert (status, 'spec.version: Unsupported value: "9.6"' in answer["message"]) == (422, True)


def test_objects_of_the_cluster_are_reviewed(user: User) -> None:
    zone = {"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "north"}, "spec": {"compacted": True}}
    done, output = user.apply(zone)
    assert done, output
    done, output = user.apply({**zone, "spec": {"compacted": True, "partitions": 2}})
    assert (done, "spec.partitions: Forbidden: must be 1 if the topic is compacted" in output) == (False, True), output
    assert user.kubectl("delete", "zones", "north")[0]


def test_objects_that_were_stored_before_are_audited_and_migrated(
    user: User, private: PrivateWebhook, controlplane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = _read("minimal.yaml")
    bad["spec"] |= {"version": "9.6"}
    private.uninstall_configurations()
    try:
        wait_for(lambda: user.apply(bad)[0], what="the webhooks to be gone")
    finally:
        private.install()
    audit = _command(controlplane, "audit", "--namespace", user.namespace)
    assert (audit.exit_code, "the_engine_has_the_version: 1 object" in audit.output) == (1, True), audit.output
    # What is stored already blocks no other change.
    done, output = user.patch("orders", {"spec": {"backups": {"schedule": "0 3 * * *"}}}, NAME)
    assert done, output
    store_in(controlplane, NAME, "v1alpha1")
    assert _stored_in(controlplane) == {"v1", "v1alpha1"}
    store_in(controlplane, NAME, "v1")
    monkeypatch.setattr("jobgate.cluster.migration._SETTLING", timedelta())
    migrated = _command(controlplane, "migrate", NAME)
    assert (migrated.exit_code, _stored_in(controlplane)) == (0, {"v1"}), migrated.output


def _stored_in(plane: ControlPlane) -> set[str]:
    return set(plane.client.get(CRD)[1]["status"]["storedVersions"])
