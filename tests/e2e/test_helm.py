"""The chart with the real Helm on a real API server: installed, upgraded, rolled back, uninstalled, installed again.

Each step is a fixture that records the state after it; the tests check these states.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.assets import Assets
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from jobgate.installation import Installation, objects
from jobgate.kinds import installed as installed_kinds
from jobgate.prerequisites.models import DEFINED
from tests.corpus import holds
from tests.e2e.release import NAMESPACE, TIMEOUT, Release
from tests.kinds.dijob.jobs import job, task

pytestmark = pytest.mark.helm

Key = tuple[str, str]

KINDS = installed_kinds()
MXJOBS = "mxjobs.mxnet.mlkube.io"
CRD = "CustomResourceDefinition"
CHANGE: dict[str, Any] = {"kinds": {MXJOBS: False}, "networkPolicy": True, "replicas": 3}
#: Jobs of a user, which stay in the cluster all the time.
MXJOB = yaml.safe_load(Path("examples/mxjob/minimal.yaml").read_text(encoding="utf-8"))
SOUND = job(task("learner"), task("collector"), name="sound")
TWO_LEARNERS = job(task("learner", name="a"), task("learner", name="b"), name="two-learners")
BAD_MXJOB = yaml.safe_load(Path("examples/mxjob/broken/local-with-servers.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Seen:
    """The state after a step.

    Attributes:
        objects: the stored objects of all installations, by kind and name.
        bundles: the CA bundle of each webhook.
        refused: the denial of an invalid job, by kind; empty if it would be stored.
    """

    objects: Mapping[Key, dict[str, Any]]
    bundles: Mapping[str, str]
    refused: Mapping[str, str]


class Cluster:
    """The cluster, from a user's point of view."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.api = release.plane.client
        self.stored = ClusterObjects(self.api)

    def look(self) -> Seen:
        """Read the whole state."""
        known = {key_of(each): each for choice in ({}, CHANGE) for each in rendered(self.release, choice)}
        stored = {key: self.stored.stored(each, NAMESPACE) for key, each in known.items()}
        existing = {key: each for key, each in stored.items() if each}
        bundles = self.release.bundles() if any(key[0].endswith("WebhookConfiguration") for key in existing) else {}
        return Seen(existing, bundles, {job["kind"]: self.try_job(job) for job in (TWO_LEARNERS, BAD_MXJOB)})

    def try_job(self, document: Mapping[str, Any]) -> str:
        """Create a job in a dry run; return the denial, or an empty text."""
        path = self.stored.collection(document["apiVersion"], document["kind"], "default")
        status, answer = self.api.post(path, document, {"dryRun": "All"})
        return "" if status == 201 else str(answer["message"])

    def revision(self) -> str:
        """Return the current resource version of the cluster."""
        return str(self.api.get("/api/v1/namespaces")[1]["metadata"]["resourceVersion"])

    def deleted(self, objects: Iterable[Mapping[str, Any]], revision: str) -> list[Key]:
        """Return the keys of deleted objects after a revision, in the order of deletion."""
        collections = {self.stored.path(document).rpartition("/")[0] for document in objects}
        deletions: list[tuple[int, Key]] = []
        for path in collections:
            # Past events are sent at once; the watch waits one second for more.
            answer = self.api.get(path, {"watch": "1", "resourceVersion": revision, "timeoutSeconds": "1"})[1]
            for line in answer.get("text", json.dumps(answer)).splitlines():
                event = json.loads(line)
                if event.get("type") == "DELETED":
                    metadata = event["object"]["metadata"]
                    deletions.append((int(metadata["resourceVersion"]), key_of(event["object"])))
        # Helm hooks later delete their own configurations with the same names.
        return list(dict.fromkeys(key for _, key in sorted(deletions)))

    def left(self) -> set[Key]:
        """Return all objects with our label or in our namespace, except those of Helm and of the namespace itself."""
        kinds = ",".join(self.release.plane.kubectl("api-resources", "--verbs=list", "--output=name").stdout.split())
        keys: set[Key] = set()
        for where in (("-A", "-l", "app.kubernetes.io/name=jobgate"), (f"--namespace={NAMESPACE}",)):
            text = self.release.plane.kubectl("get", kinds, *where, "--output=json").stdout
            ours = [
                document
                for document in json.loads(text)["items"]
                if where[0] == "-A" or "namespace" in document["metadata"]
            ]
            keys |= {key_of(document) for document in ours}
        return keys

    def create(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Create a job."""
        status, answer = self.api.post(
            self.stored.collection(document["apiVersion"], document["kind"], "default"), document
        )
        assert status == 201, answer
        return answer


def rendered(release: Release, choices: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of an installation with these values."""
    return objects(KINDS, Installation.model_validate({"createNamespace": False, **release.values, **choices}))


def key_of(document: Mapping[str, Any]) -> Key:
    """Return kind and name, which are unique for our objects over all namespaces."""
    return document["kind"], document["metadata"]["name"]


@pytest.fixture(scope="module")
def release(helm: Path, assets: Assets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """A release, not installed yet, on a new control plane."""
    with ControlPlane(assets) as plane:
        release = Release(helm, plane, tmp_path_factory.mktemp("helm"))
        yield release
        release.stop()


@pytest.fixture(scope="module")
def cluster(release: Release) -> Cluster:
    return Cluster(release)


@pytest.fixture(scope="module")
def installed(release: Release, cluster: Cluster) -> Seen:
    """The state after the installation: certificates are issued, the server is called, jobs are stored."""
    release.helm("install", "jobgate", "--create-namespace", values={})
    release.point_service_here()
    release.rotate()
    release.serve()
    for bad in (TWO_LEARNERS, BAD_MXJOB):
        wait_for(lambda bad=bad: "denied the request" in cluster.try_job(bad), TIMEOUT, what="it is called")  # type: ignore[misc]
    cluster.create(MXJOB)
    cluster.create(SOUND)
    return cluster.look()


@pytest.fixture(scope="module")
def upgraded(release: Release, cluster: Cluster, installed: Seen) -> Seen:
    """The state after an upgrade: one kind less, network policies, one more server. No rotation runs."""
    assert installed.bundles
    release.helm("upgrade", "jobgate", values=CHANGE)
    wait_for(lambda: not cluster.try_job(BAD_MXJOB), TIMEOUT, what="the kind is called for no more")
    return cluster.look()


@pytest.fixture(scope="module")
def rolled_back(release: Release, cluster: Cluster, upgraded: Seen) -> Seen:
    """The state after the rollback of the upgrade; no rotation runs."""
    assert upgraded.objects
    release.helm("rollback", "jobgate", "1")
    wait_for(lambda: cluster.try_job(BAD_MXJOB), TIMEOUT, what="the kind is called for again")
    return cluster.look()


@pytest.fixture(scope="module")
def repaired(release: Release, cluster: Cluster, rolled_back: Seen) -> Seen:
    """The state after the rotation has run again."""
    assert rolled_back.objects
    release.rotate()
    wait_for(lambda: "denied the request" in cluster.try_job(BAD_MXJOB), TIMEOUT, what="it is called again")
    return cluster.look()


@dataclass(frozen=True)
class Gone:
    """The results of an uninstallation.

    Attributes:
        before: the denial of a valid job before it, while no server ran.
        order: kind and name of the deleted objects, in the order of deletion.
        left: kind and name of the objects with our label or in our namespace after it.
        after: the state after it.
    """

    before: str
    order: list[Key]
    left: set[Key]
    after: Seen


@pytest.fixture(scope="module")
def uninstalled(release: Release, cluster: Cluster, repaired: Seen) -> Gone:
    """The state after the uninstallation; the servers were stopped before it."""
    release.stop()
    before = cluster.try_job({**SOUND, "metadata": {"name": "late"}})
    revision = cluster.revision()
    release.helm("uninstall", "jobgate")
    wait_for(lambda: not cluster.try_job(TWO_LEARNERS), TIMEOUT, what="nothing is called for any more")
    return Gone(before, cluster.deleted(repaired.objects.values(), revision), cluster.left(), cluster.look())


def test_the_installed_objects_are_the_rendered_ones(release: Release, installed: Seen) -> None:
    for document in rendered(release, {}):
        assert holds(without_target(installed.objects[key_of(document)]), without_target(document)), key_of(document)


def test_the_server_is_called_and_a_bad_job_is_rejected(cluster: Cluster, installed: Seen) -> None:
    assert 'spec.tasks[1].type: Duplicate value: "learner"' in installed.refused["DIJob"]
    assert "spec.replicaSpecs[0].replicas: Invalid value: 3: must be 1" in installed.refused["MxJob"]
    stored = cluster.stored.stored(SOUND)
    assert stored
    assert [job_task["name"] for job_task in stored["spec"]["tasks"]] == ["learner", "collector"]


def test_an_upgrade_changes_only_the_objects_of_changed_values(
    release: Release, installed: Seen, upgraded: Seen
) -> None:
    before, after = ({key_of(each): each for each in rendered(release, choice)} for choice in ({}, CHANGE))
    versions, newer = (
        {key: each["metadata"]["resourceVersion"] for key, each in seen.objects.items()}
        for seen in (installed, upgraded)
    )
    policies = {key for key in after if key[0] == "NetworkPolicy"}
    assert policies
    assert newer.keys() - versions.keys() == policies
    assert versions.keys() - newer.keys() == set()
    touched = {key for key in versions if newer[key] != versions[key]}
    assert touched == {key for key in before.keys() & after.keys() if before[key] != after[key]}
    for key, each in after.items():
        assert holds(without_target(upgraded.objects[key]), without_target(each)), key


def test_a_kind_that_is_switched_off_keeps_its_crd_and_its_jobs(cluster: Cluster, upgraded: Seen) -> None:
    assert (CRD, MXJOBS) in upgraded.objects
    assert cluster.stored.stored(MXJOB)
    assert not upgraded.refused["MxJob"]
    assert upgraded.refused["DIJob"]
    assert not [name for name in upgraded.bundles if MXJOBS in name]


def test_the_bundle_that_the_rotation_wrote_survives_upgrade_and_rollback(
    installed: Seen, upgraded: Seen, rolled_back: Seen
) -> None:
    assert len(set(installed.bundles.values())) == 1
    assert all(installed.bundles.values())
    assert upgraded.bundles == {name: one for name, one in installed.bundles.items() if MXJOBS not in name}
    # Webhooks that were removed and added again have no bundle until the rotation writes it.
    assert rolled_back.bundles == {name: one if MXJOBS not in name else "" for name, one in installed.bundles.items()}
    assert rolled_back.refused["DIJob"] == installed.refused["DIJob"]


def test_a_rollback_restores_the_installation(
    release: Release, installed: Seen, rolled_back: Seen, repaired: Seen
) -> None:
    assert rolled_back.objects.keys() == installed.objects.keys()
    for document in rendered(release, {}):
        assert holds(without_target(rolled_back.objects[key_of(document)]), without_target(document)), key_of(document)
    assert repaired.bundles == installed.bundles
    assert repaired.refused == installed.refused


def test_no_job_is_rejected_after_the_uninstallation(uninstalled: Gone) -> None:
    assert "failed calling webhook" in uninstalled.before
    assert uninstalled.after.refused == {"DIJob": "", "MxJob": ""}


def test_the_webhook_configurations_go_first(uninstalled: Gone) -> None:
    kinds = [kind for kind, _ in uninstalled.order]
    assert {"Deployment", "Service", "ClusterRole", "ServiceAccount"} <= set(kinds)
    assert set(kinds[:2]) == {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}


def test_only_crds_jobs_and_objects_of_the_programs_stay(cluster: Cluster, uninstalled: Gone) -> None:
    crds = [kind.qualified_plural for kind in KINDS] + [f"{each.names.plural}.{each.group}" for each in DEFINED]
    assert uninstalled.after.objects.keys() == {(CRD, name) for name in crds}
    # The only events are about the Secret; the API server deletes them after an hour.
    events = {key for key in uninstalled.left if key[0] == "Event"}
    assert all(name.startswith("jobgate-webhook-tls.") for _, name in events)
    assert uninstalled.left - events == {
        *uninstalled.after.objects,
        ("Secret", "jobgate-webhook-tls"),
        ("Lease", "jobgate-certificates"),
    }
    assert cluster.stored.stored(MXJOB)
    assert cluster.stored.stored(SOUND)


def test_it_can_be_installed_again(release: Release, cluster: Cluster, uninstalled: Gone) -> None:
    release.helm("install", "jobgate", values={})
    again = cluster.look()
    for key, document in uninstalled.after.objects.items():
        assert again.objects[key]["metadata"]["uid"] == document["metadata"]["uid"]
    assert again.objects.keys() == {key_of(document) for document in rendered(release, {})}
    assert cluster.stored.stored(SOUND)


def without_target(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object; a Service without its target, which the tests have changed."""
    if document["kind"] != "Service":
        return dict(document)
    return {
        **document,
        "spec": {key: value for key, value in document["spec"].items() if key not in {"type", "externalName"}},
    }
