"""The chart's life on a real API server, by the real Helm: installed, upgraded, rolled back, uninstalled, and back again.

Each step is a fixture that tells what was seen after it; the tests say what must have been.
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
from tests.e2e.release import NAMESPACE, PATIENCE, Release
from tests.kinds.dijob.jobs import job, task

pytestmark = pytest.mark.helm

Key = tuple[str, str]

KINDS = installed_kinds()
MXJOBS = "mxjobs.mxnet.mlkube.io"
CRD = "CustomResourceDefinition"
CHANGE: dict[str, Any] = {"kinds": {MXJOBS: False}, "networkPolicy": True, "replicas": 3}
#: What a user has in the cluster all the time.
MXJOB = yaml.safe_load(Path("examples/mxjob/minimal.yaml").read_text(encoding="utf-8"))
SOUND = job(task("learner"), task("collector"), name="sound")
TWO_LEARNERS = job(task("learner", name="a"), task("learner", name="b"), name="two-learners")
BAD_MXJOB = yaml.safe_load(Path("examples/mxjob/broken/local-with-servers.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Seen:
    """What was there after a step.

    Attributes:
        objects: all that any of our installations has, as it is stored, by kind and name.
        bundles: of each entry of the webhook configurations.
        refused: what was said of a bad job of each kind, or nothing where it would have been stored.
    """

    objects: Mapping[Key, dict[str, Any]]
    bundles: Mapping[str, str]
    refused: Mapping[str, str]


class Cluster:
    """What a user sees of the cluster."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.api = release.plane.client
        self.stored = ClusterObjects(self.api)

    def look(self) -> Seen:
        """Look at everything."""
        known = {key_of(one): one for choice in ({}, CHANGE) for one in rendered(self.release, choice)}
        found = {key: self.stored.stored(one, NAMESPACE) for key, one in known.items()}
        there = {key: one for key, one in found.items() if one}
        bundles = self.release.bundles() if any(key[0].endswith("WebhookConfiguration") for key in there) else {}
        return Seen(there, bundles, {one["kind"]: self.try_job(one) for one in (TWO_LEARNERS, BAD_MXJOB)})

    def try_job(self, one: Mapping[str, Any]) -> str:
        """Create a job for show; return what was said where it was rejected."""
        path = self.stored.collection(one["apiVersion"], one["kind"], "default")
        status, answer = self.api.post(path, one, {"dryRun": "All"})
        return "" if status == 201 else str(answer["message"])

    def revision(self) -> str:
        """Return where the cluster's history stands."""
        return str(self.api.get("/api/v1/namespaces")[1]["metadata"]["resourceVersion"])

    def deleted(self, objects: Iterable[Mapping[str, Any]], revision: str) -> list[Key]:
        """Return in which order objects were deleted after a revision."""
        collections = {self.stored.path(one).rpartition("/")[0] for one in objects}
        found: list[tuple[int, Key]] = []
        for path in collections:
            # What has happened already is sent at once; what comes later is waited for, for a second.
            answer = self.api.get(path, {"watch": "1", "resourceVersion": revision, "timeoutSeconds": "1"})[1]
            for line in answer.get("text", json.dumps(answer)).splitlines():
                event = json.loads(line)
                if event.get("type") == "DELETED":
                    metadata = event["object"]["metadata"]
                    found.append((int(metadata["resourceVersion"]), key_of(event["object"])))
        # The hooks' own configurations of the same names are deleted too, later.
        return list(dict.fromkeys(key for _, key in sorted(found)))

    def left(self) -> set[Key]:
        """Return all that has our label, or is in our namespace, but for what Helm or the namespace itself keeps."""
        kinds = ",".join(self.release.plane.kubectl("api-resources", "--verbs=list", "--output=name").stdout.split())
        found: set[Key] = set()
        for where in (("-A", "-l", "app.kubernetes.io/name=jobgate"), (f"--namespace={NAMESPACE}",)):
            text = self.release.plane.kubectl("get", kinds, *where, "--output=json").stdout
            ours = [one for one in json.loads(text)["items"] if where[0] == "-A" or "namespace" in one["metadata"]]
            found |= {key_of(one) for one in ours}
        return found

    def create(self, one: Mapping[str, Any]) -> dict[str, Any]:
        """Create a job."""
        status, answer = self.api.post(self.stored.collection(one["apiVersion"], one["kind"], "default"), one)
        assert status == 201, answer
        return answer


def rendered(release: Release, choices: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what an installation with such values is."""
    return objects(KINDS, Installation.model_validate({"createNamespace": False, **release.values, **choices}))


def key_of(one: Mapping[str, Any]) -> Key:
    """Return kind and name; no two namespaces have the same of ours."""
    return one["kind"], one["metadata"]["name"]


@pytest.fixture(scope="module")
def release(helm: Path, assets: Assets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """A release that is not there yet, on a control plane that has heard of nothing."""
    with ControlPlane(assets) as plane:
        release = Release(helm, plane, tmp_path_factory.mktemp("helm"))
        yield release
        release.stop()


@pytest.fixture(scope="module")
def cluster(release: Release) -> Cluster:
    return Cluster(release)


@pytest.fixture(scope="module")
def installed(release: Release, cluster: Cluster) -> Seen:
    """After the installation: certificates are issued, the server is called, jobs are stored."""
    release.helm("install", "jobgate", "--create-namespace", values={})
    release.lead_here()
    release.rotate()
    release.serve()
    for bad in (TWO_LEARNERS, BAD_MXJOB):
        wait_for(lambda bad=bad: "denied the request" in cluster.try_job(bad), PATIENCE, what="it is called")  # type: ignore[misc]
    cluster.create(MXJOB)
    cluster.create(SOUND)
    return cluster.look()


@pytest.fixture(scope="module")
def upgraded(release: Release, cluster: Cluster, installed: Seen) -> Seen:
    """After an upgrade: a kind less, policies for the network, one more server. Nobody rotates meanwhile."""
    assert installed.bundles
    release.helm("upgrade", "jobgate", values=CHANGE)
    wait_for(lambda: not cluster.try_job(BAD_MXJOB), PATIENCE, what="the kind is called for no more")
    return cluster.look()


@pytest.fixture(scope="module")
def rolled_back(release: Release, cluster: Cluster, upgraded: Seen) -> Seen:
    """After the upgrade was taken back; still nobody rotates."""
    assert upgraded.objects
    release.helm("rollback", "jobgate", "1")
    wait_for(lambda: cluster.try_job(BAD_MXJOB), PATIENCE, what="the kind is called for again")
    return cluster.look()


@pytest.fixture(scope="module")
def repaired(release: Release, cluster: Cluster, rolled_back: Seen) -> Seen:
    """After the rotation has come back."""
    assert rolled_back.objects
    release.rotate()
    wait_for(lambda: "denied the request" in cluster.try_job(BAD_MXJOB), PATIENCE, what="it is called again")
    return cluster.look()


@dataclass(frozen=True)
class Gone:
    """What was seen of an uninstallation.

    Attributes:
        before: what was said of a sound job while no server answered any more, but it was installed still.
        order: kind and name of what was deleted, the first first.
        left: kind and name of all that there is with our label then, or in our namespace.
        after: what else there was then.
    """

    before: str
    order: list[Key]
    left: set[Key]
    after: Seen


@pytest.fixture(scope="module")
def uninstalled(release: Release, cluster: Cluster, repaired: Seen) -> Gone:
    """After it was uninstalled, its servers gone before."""
    release.stop()
    before = cluster.try_job({**SOUND, "metadata": {"name": "late"}})
    revision = cluster.revision()
    release.helm("uninstall", "jobgate")
    wait_for(lambda: not cluster.try_job(TWO_LEARNERS), PATIENCE, what="nothing is called for any more")
    return Gone(before, cluster.deleted(repaired.objects.values(), revision), cluster.left(), cluster.look())


def test_what_is_installed_is_what_is_rendered(release: Release, installed: Seen) -> None:
    for one in rendered(release, {}):
        assert holds(without_place(installed.objects[key_of(one)]), without_place(one)), key_of(one)


def test_the_server_is_called_and_a_bad_job_is_rejected(cluster: Cluster, installed: Seen) -> None:
    assert 'spec.tasks[1].type: Duplicate value: "learner"' in installed.refused["DIJob"]
    assert "spec.replicaSpecs[0].replicas: Invalid value: 3: must be 1" in installed.refused["MxJob"]
    stored = cluster.stored.stored(SOUND)
    assert stored
    assert [one["name"] for one in stored["spec"]["tasks"]] == ["learner", "collector"]


def test_an_upgrade_changes_what_its_values_say_and_nothing_else(
    release: Release, installed: Seen, upgraded: Seen
) -> None:
    before, after = ({key_of(one): one for one in rendered(release, choice)} for choice in ({}, CHANGE))
    versions, newer = (
        {key: one["metadata"]["resourceVersion"] for key, one in seen.objects.items()} for seen in (installed, upgraded)
    )
    policies = {key for key in after if key[0] == "NetworkPolicy"}
    assert policies
    assert newer.keys() - versions.keys() == policies
    assert versions.keys() - newer.keys() == set()
    touched = {key for key in versions if newer[key] != versions[key]}
    assert touched == {key for key in before.keys() & after.keys() if before[key] != after[key]}
    for key, one in after.items():
        assert holds(without_place(upgraded.objects[key]), without_place(one)), key


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
    # Entries that were gone and are back have none: the rotation gives it to them.
    assert rolled_back.bundles == {name: one if MXJOBS not in name else "" for name, one in installed.bundles.items()}
    assert rolled_back.refused["DIJob"] == installed.refused["DIJob"]


def test_a_rollback_brings_back_what_was(release: Release, installed: Seen, rolled_back: Seen, repaired: Seen) -> None:
    assert rolled_back.objects.keys() == installed.objects.keys()
    for one in rendered(release, {}):
        assert holds(without_place(rolled_back.objects[key_of(one)]), without_place(one)), key_of(one)
    assert repaired.bundles == installed.bundles
    assert repaired.refused == installed.refused


def test_what_is_uninstalled_rejects_no_job_though_its_servers_went_first(uninstalled: Gone) -> None:
    assert "failed calling webhook" in uninstalled.before
    assert uninstalled.after.refused == {"DIJob": "", "MxJob": ""}


def test_the_webhook_configurations_go_first(uninstalled: Gone) -> None:
    kinds = [kind for kind, _ in uninstalled.order]
    assert {"Deployment", "Service", "ClusterRole", "ServiceAccount"} <= set(kinds)
    assert set(kinds[:2]) == {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}


def test_crds_and_jobs_stay_and_what_the_programs_wrote_and_nothing_else(cluster: Cluster, uninstalled: Gone) -> None:
    crds = [kind.qualified_plural for kind in KINDS] + [f"{one.names.plural}.{one.group}" for one in DEFINED]
    assert uninstalled.after.objects.keys() == {(CRD, name) for name in crds}
    # Events, which the API server forgets after an hour, are about the Secret alone.
    events = {key for key in uninstalled.left if key[0] == "Event"}
    assert all(name.startswith("jobgate-webhook-tls.") for _, name in events)
    assert uninstalled.left - events == {
        *uninstalled.after.objects,
        ("Secret", "jobgate-webhook-tls"),
        ("Lease", "jobgate-certificates"),
    }
    assert cluster.stored.stored(MXJOB)
    assert cluster.stored.stored(SOUND)


def test_it_can_be_installed_again_over_what_was_left(release: Release, cluster: Cluster, uninstalled: Gone) -> None:
    release.helm("install", "jobgate", values={})
    again = cluster.look()
    for key, one in uninstalled.after.objects.items():
        assert again.objects[key]["metadata"]["uid"] == one["metadata"]["uid"]
    assert again.objects.keys() == {key_of(one) for one in rendered(release, {})}
    assert cluster.stored.stored(SOUND)


def without_place(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without where a Service leads: that was changed so that it leads here."""
    if one["kind"] != "Service":
        return dict(one)
    return {**one, "spec": {key: value for key, value in one["spec"].items() if key not in {"type", "externalName"}}}
