"""A stable installation and a canary on one API server: each serves its namespaces, and neither overwrites the other.

The canary only warns. So a job that is denied was reviewed by the stable server, and one that is stored with a warning
only by the canary.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.assets import Assets
from controlplane.fixtures import new_namespace
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, CONFIGURATIONS, InstalledWebhook, environment, jobgate, stop
from jobgate.kinds import built_in
from jobgate.prerequisites.models import DEFINED
from tests.e2e.cluster import User
from tests.kinds.dijob.jobs import job, task

STABLE, CANARY = ("jobgate", "jobgate-system"), ("canary", "canary-system")
SELECTORS = {
    "jobgate": {"matchExpressions": [{"key": "channel", "operator": "NotIn", "values": ["canary"]}]},
    "canary": {"matchLabels": {"channel": "canary"}},
}
KIND = "dijobs.diengine.opendilab.org"
HOME = "jobgate.dev/installation-namespace"
BAD = job(task("learner", name="a"), task("learner", name="b"), name="two-learners")
DENIED = "Duplicate value"
WAIT = 120.0


class Installed(InstalledWebhook):
    """A named installation, whose server is a process of this machine."""

    def __init__(self, plane: ControlPlane, folder: Path, names: tuple[str, str], settings: Sequence[str] = ()) -> None:
        super().__init__(plane, folder, settings)
        folder.mkdir()
        self.name, self.home = names
        channel = {"channel": "canary"} if self.name == "canary" else {}
        self.namespace = new_namespace(plane.client, channel)

    def rendered(self, *flags: str) -> str:
        return jobgate(
            "manifests",
            f"--name={self.name}",
            f"--namespace={self.home}",
            f"--namespace-selector={json.dumps(SELECTORS[self.name])}",
            f"--ca-bundle={self.folder / 'ca.crt'}",
            f"--service-port={self.port}",
            "--external-name=localhost",
            *flags,
        )

    def start(self) -> "Installed":
        jobgate("certs", "issue", "--dir", str(self.folder), f"--namespace={self.home}")
        self._serve()
        crds = [] if self.name == "jobgate" else ["--no-crd"]
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=self.rendered(*crds))
        names = [
            *(kind.qualified_plural for kind in built_in()),
            *(f"{each.names.plural}.{each.group}" for each in DEFINED),
        ]
        ClusterObjects(self.plane.client).established(*names)
        wait_for(self._is_called, WAIT, what="the API server to call the webhook")
        return self

    def creates(self, document: Any) -> tuple[bool, str]:
        return User(self.plane, self.namespace).create(document, dry_run=True)

    def configured(self) -> list[Any]:
        """Return where the webhooks of this installation are, with their bundles."""
        found = [self.plane.client.get(f"{path}/{self.name}")[1] for path in CONFIGURATIONS]
        return [entry["clientConfig"] for each in found for entry in each["webhooks"]]


@pytest.fixture(scope="module")
def both(assets: Assets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installed, Installed]]:
    folder = tmp_path_factory.mktemp("two")
    with ControlPlane(assets) as plane, ExitStack() as stack:
        stable = stack.enter_context(Installed(plane, folder / "stable", STABLE))
        canary = stack.enter_context(Installed(plane, folder / "canary", CANARY, ["--mode=warn"]))
        yield stable, canary


def test_each_job_is_reviewed_by_one_installation(both: tuple[Installed, Installed]) -> None:
    stable, canary = both
    created, text = stable.creates(BAD)
    assert not created
    assert DENIED in text
    assert "Warning" not in text
    created, text = canary.creates(BAD)
    assert created
    assert DENIED in text


def test_a_namespace_moves_with_its_label(both: tuple[Installed, Installed]) -> None:
    stable, _ = both
    stable.plane.kubectl("label", "namespace", stable.namespace, "channel=canary")
    wait_for(lambda: stable.creates(BAD)[0], WAIT, what="the canary reviews the jobs")
    stable.plane.kubectl("label", "namespace", stable.namespace, "channel-")
    wait_for(lambda: not stable.creates(BAD)[0], WAIT, what="the stable server reviews the jobs again")


@pytest.mark.parametrize("flags", [[], ["--server-side", "--force-conflicts"]], ids=["client-side", "server-side"])
def test_an_installation_that_would_overwrite_another_is_refused(
    both: tuple[Installed, Installed], flags: list[str]
) -> None:
    stable, _ = both
    before = stable.configured()
    other = yaml.safe_load_all(jobgate("manifests", "--namespace=elsewhere", "--external-name=other.example"))
    # The test keeps the policies, which the API server does not protect.
    items = [each for each in other if not each["kind"].startswith("ValidatingAdmission")]
    text = yaml.safe_dump_all(items)
    process = stable.plane.kubectl("apply", *flags, "-f", "-", input=text, check=False)
    assert process.returncode != 0
    output = " ".join((process.stderr + process.stdout).split())
    assert "it belongs to installation jobgate in namespace jobgate-system" in output
    assert "would become one of jobgate in namespace elsewhere" in output
    shared = [each for each in items if "namespace" not in each["metadata"] and each["kind"] != "Namespace"]
    assert output.count("it belongs to installation") == len(shared)
    assert stable.configured() == before


def test_the_crds_have_one_owner(both: tuple[Installed, Installed]) -> None:
    _, canary = both
    process = canary.plane.kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", input=canary.rendered(), check=False
    )
    assert process.returncode != 0
    assert "only one install the CRDs (--no-crd)" in process.stderr
    assert process.stderr.count("it belongs to") == canary.rendered().count("\nkind: CustomResourceDefinition")


def test_an_installation_can_be_applied_again_and_moved_on_purpose(both: tuple[Installed, Installed]) -> None:
    _, canary = both
    canary.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=canary.rendered("--no-crd"))
    role = "clusterrole/canary-jobs-view"
    manifest = json.loads(canary.plane.kubectl("get", role, "-o", "json").stdout)
    manifest["metadata"] = {**manifest["metadata"], "labels": {**manifest["metadata"]["labels"], HOME: "elsewhere"}}
    del manifest["metadata"]["resourceVersion"]
    refused = canary.plane.kubectl("replace", "-f", "-", input=json.dumps(manifest), check=False)
    assert "it belongs to installation canary" in refused.stderr
    canary.plane.kubectl("label", role, f"{HOME}-")
    canary.plane.kubectl("replace", "-f", "-", input=json.dumps(manifest))
    canary.plane.kubectl("label", role, f"{HOME}-")
    canary.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=canary.rendered("--no-crd"))


def test_a_rotation_writes_the_bundles_of_its_installation(both: tuple[Installed, Installed]) -> None:
    stable, canary = both
    before = [installed.configured() for installed in both]
    flags = [
        f"--namespace={canary.home}",
        "--configuration=canary",
        "--wait=0",
        f"--kubeconfig={canary.plane.kubeconfig}",
    ]
    subprocess.run([*COMMAND, "certs", "rotate", *flags], env=environment(), check=False, capture_output=True)
    after = [installed.configured() for installed in both]
    assert after[0] == before[0]
    assert all(len(new["caBundle"]) > len(old["caBundle"]) for old, new in zip(before[1], after[1], strict=True))
    assert not stable.creates(BAD)[0]
    assert canary.creates(BAD)[0]


def test_the_doctor_examines_the_named_installation(both: tuple[Installed, Installed]) -> None:
    stable, canary = both

    def diagnosed(name: str) -> dict[str, Any]:
        command = [*COMMAND, "doctor", f"--name={name}", f"--kubeconfig={stable.plane.kubeconfig}", "--output=json"]
        process = subprocess.run(command, env=environment(), check=False, capture_output=True, text=True)
        report: dict[str, Any] = json.loads(process.stdout)
        return report

    for installed in both:
        report = diagnosed(installed.name)
        settings = report["installation"]
        assert (settings["name"], settings["namespace"]) == (installed.name, installed.home)
        assert settings["namespaceSelector"] == SELECTORS[installed.name]
        ids = {finding["id"] for finding in report["findings"]}
        assert not ids & {"installations-overlap", "namespace-selector-differs", "other-webhook", "entry-missing"}
        assert ("crd-of-another-installation" in ids) is (installed is canary)
    assert [finding["id"] for finding in diagnosed("unknown")["findings"]] == ["not-installed"]
    entries = json.dumps({"webhooks": [{"name": f"{KIND}.validate.jobgate.dev", "namespaceSelector": None}]})
    stable.plane.kubectl("patch", "validatingwebhookconfiguration", "canary", "--patch", entries)
    found = [each for each in diagnosed("jobgate")["findings"] if each["id"] == "installations-overlap"]
    assert [(KIND in each["what"] and stable.namespace) or each["where"] for each in found] == [stable.namespace]
    canary.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=canary.rendered("--no-crd"))


@pytest.mark.parametrize("command", ["control", "run"])
def test_controller_and_runner_serve_their_namespaces(
    both: tuple[Installed, Installed], command: str, tmp_path: Path
) -> None:
    document = job(task("learner"), task("collector"), name=f"of-{command}")
    document["spec"]["plugins"] = {"svc": []}
    resource = "configmaps" if command == "control" else "jobs.batch"
    processes = []

    def owners(installed: Installed) -> set[str]:
        selector = "app.kubernetes.io/managed-by in (jobgate, jobgate-runner)"
        text = installed.plane.kubectl("get", resource, "-n", installed.namespace, "-l", selector, "-o", "json").stdout
        return {each["metadata"]["labels"].get(HOME, "") for each in json.loads(text)["items"]}

    try:
        for installed in both:
            flags = [
                f"--namespace-selector={json.dumps(SELECTORS[installed.name])}",
                f"--lease-name={installed.name}-{command}",
            ]
            run = [f"--run={KIND}"] if command == "run" else []
            arguments = [
                command,
                *flags,
                *run,
                "--bind=127.0.0.1",
                "--health-port=0",
                f"--lease-namespace={installed.home}",
            ]
            with (tmp_path / f"{installed.name}.log").open("wb") as log:
                full = [*COMMAND, *arguments, f"--kubeconfig={installed.plane.kubeconfig}"]
                processes.append(subprocess.Popen(full, stderr=log, stdout=log, env=environment()))
        for installed in both:
            assert User(installed.plane, installed.namespace).create(document)[0]
        wait_for(lambda: all(owners(installed) for installed in both), WAIT, what="both have written objects")
        assert [owners(installed) for installed in both] == [{STABLE[1]}, {CANARY[1]}]
    finally:
        for process in processes:
            stop(process)


def test_without_the_canary_the_other_installation_is_whole(both: tuple[Installed, Installed]) -> None:
    stable, canary = both
    canary.plane.kubectl("delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "canary")
    names = canary.plane.kubectl(
        "delete", "--wait=false", "-f", "-", input=canary.rendered("--no-crd"), check=False
    ).stdout
    assert '"canary-webhook" deleted' in names
    text = canary.plane.kubectl(
        "get", "clusterroles,clusterrolebindings,validatingadmissionpolicies", "-o", "name"
    ).stdout
    assert "/canary" not in text
    wait_for(lambda: DENIED not in canary.creates(BAD)[1], WAIT, what="no server is called there")
    process = stable.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=stable.rendered())
    assert process.returncode == 0
    assert not stable.creates(BAD)[0]
