"""`jobgate dev` with a package that `jobgate new` writes, on a real API server."""

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.fixtures import new_namespace
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane, reserve_port
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, environment, jobgate
from tests.e2e.cluster import User

CRD = "buckets.example.com"
NAME = "dev-ada"
GOOD: dict[str, Any] = {"apiVersion": "example.com/v1alpha1", "kind": "Bucket", "metadata": {"name": "good"}}
GOOD["spec"] = {"region": "north", "minimum": 2}
BAD = {**GOOD, "metadata": {"name": "bad"}, "spec": {**GOOD["spec"], "maximum": 1}}
FAULT = "must be at least spec.minimum, 2"
WAIT = 120.0


class Session:
    """A process of `jobgate dev`, and a package that it serves."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.folder = plane, folder
        self.user, self.other = (User(plane, new_namespace(plane.client)) for _ in range(2))
        self.rules = folder / "bucket" / "rules.py"
        self.process: subprocess.Popen[bytes] | None = None
        self.flags = list[str]()
        self.reserved = reserve_port()
        self.port = self.reserved.getsockname()[1]
        jobgate("new", "kind", "Bucket", "--no-tasks", "--directory", str(folder))
        info = folder / "bucket-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bucket\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text("[jobgate.kinds]\nbucket = bucket:KIND\n")

    @property
    def command(self) -> list[str]:
        flags = [f"--namespace={self.user.namespace}", f"--name={NAME}", f"--port={self.port}"]
        return [*COMMAND, "dev", f"--kubeconfig={self.plane.kubeconfig}", *flags, *self.flags]

    @property
    def environment(self) -> dict[str, str]:
        return {**environment(), "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *flags: str) -> str:
        """Run the command until it ends, and return its output."""
        done = subprocess.run(
            [*self.command, *flags],
            check=False,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WAIT,
        )
        return " ".join(done.stdout.split())

    def start(self) -> None:
        """Start the command, and wait until it denies."""
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log)
        self.wait_for("dev-ada serves buckets.example.com")
        ClusterObjects(self.plane.client).established(CRD)
        wait_for(lambda: FAULT in self.creates_bad(), WAIT, what="the API server to call the server")

    def output(self) -> str:
        return (self.folder / "log").read_text()

    def wait_for(self, text: str, times: int = 1) -> None:
        """Wait until the command has printed a text."""
        wait_for(lambda: self.output().count(text) >= times, WAIT, what=f"{text!r} in the output")

    def creates_bad(self) -> str:
        """Try to create an object that is denied; return the faults."""
        return self.user.create(BAD, dry_run=True)[1]

    def edit(self, before: str, after: str) -> None:
        """Change the rules of the package."""
        text = self.rules.read_text()
        assert before in text
        self.rules.write_text(text.replace(before, after))

    def end(self, number: signal.Signals) -> int:
        """End the command by a signal, and return its exit status."""
        assert self.process is not None
        process, self.process = self.process, None
        process.send_signal(number)
        return process.wait(WAIT)

    def registered(self) -> list[str]:
        """Return what is in the cluster."""
        text = self.plane.kubectl("get", "mutatingwebhookconfiguration,validatingwebhookconfiguration,crd", "-oname")
        return sorted(re.findall(rf"^([a-z]+)\.[a-z0-9.]+/(?:{NAME}|{CRD})$", text.stdout, re.MULTILINE))

    def age(self) -> None:
        """Let the last renewal be long ago."""
        until = "jobgate.dev/dev-until=2020-01-01T00:00:00+00:00"
        self.plane.kubectl("annotate", "validatingwebhookconfiguration", NAME, until, "--overwrite")


ALL = ["customresourcedefinition", "mutatingwebhookconfiguration", "validatingwebhookconfiguration"]


@pytest.fixture
def session(controlplane: ControlPlane, tmp_path: Path) -> Iterator[Session]:
    session = Session(controlplane, tmp_path / "package")
    with session.reserved:
        yield session
        if session.process is not None:
            session.end(signal.SIGTERM)
    for resource in ALL:
        name = CRD if resource == ALL[0] else NAME
        controlplane.kubectl("delete", resource, name, "--ignore-not-found")


def test_objects_of_named_namespaces_are_reviewed_and_everything_is_removed(session: Session) -> None:
    session.start()
    applied, text = session.user.apply(BAD)
    assert not applied
    assert FAULT in text
    denied = rf"denied  validate CREATE Bucket {session.user.namespace}/bad  [0-9.]+ ms  spec\.maximum: .*{FAULT}"
    wait_for(lambda: re.search(denied, session.output()), WAIT, what="the review in the output")
    assert session.other.create(BAD, dry_run=True)[0]
    assert "jobgate-dev-probe" not in session.output()
    assert session.registered() == ALL
    assert re.fullmatch(
        rf"Error: {NAME} is in use by .+ on .+, process [0-9]+: "
        "stop that, wait 40s if it was killed, or choose another --name",
        session.run(),
    )
    assert f"{NAME} is in use by" in session.run("--clean")
    assert session.end(signal.SIGINT) == 0
    assert session.registered() == []
    assert "Traceback" not in session.output()


def test_no_request_is_unanswered_while_a_package_is_reloaded(session: Session) -> None:
    session.start()
    answers, stop = list[str](), threading.Event()

    def create() -> None:
        while not stop.is_set():
            answers.append(session.creates_bad())

    thread = threading.Thread(target=create)
    thread.start()
    try:
        session.edit("must be at least spec.minimum", "must not be less than spec.minimum")
        session.wait_for("reloaded")
    finally:
        stop.set()
        thread.join()
    assert {text for text in answers if not re.search("must be at least|must not be less", text)} == set()
    assert "must not be less than spec.minimum" in session.creates_bad()


def test_broken_code_is_shown_and_the_server_from_before_goes_on(session: Session) -> None:
    session.start()
    session.edit("DEFAULTS =", "DEFAULTS = = ")
    session.wait_for("not reloaded")
    assert re.search("bucket:KIND of the package bucket.*SyntaxError: invalid syntax.*rules.py", session.output())
    assert FAULT in session.creates_bad()
    session.edit("DEFAULTS = = ", "DEFAULTS =")
    session.wait_for("\nreloaded")
    models = session.rules.with_name("models.py")
    models.write_text(models.read_text().replace("minimum:", "smallest: int = 1\n    minimum:"))
    session.wait_for("\nreloaded", 2)
    stored = session.plane.kubectl("get", "crd", CRD, "-oyaml").stdout
    assert "smallest:" in stored


def test_what_a_killed_session_leaves_is_taken_by_the_next_one(session: Session) -> None:
    session.start()
    session.end(signal.SIGKILL)
    wait_for(lambda: session.user.create(BAD, dry_run=True)[0], WAIT, what="the server to end")
    assert session.registered() == ALL
    assert session.user.create(GOOD)[0]
    assert f"{NAME} is in use by" in session.run()
    session.age()
    session.start()
    assert f"{NAME} was killed: this session takes what it has left" in session.output()
    session.end(signal.SIGTERM)
    assert f"CRD {CRD} is left: it has objects" in session.output()
    assert session.registered() == ALL[:1]
    assert session.user.has("good", CRD)


def test_clean_removes_what_a_killed_session_leaves(session: Session) -> None:
    session.start()
    session.end(signal.SIGKILL)
    session.age()
    assert session.run("--clean") == f"{NAME} is removed from the cluster"
    assert session.registered() == []


def test_a_session_whose_registration_is_gone_ends_and_removes_nothing(session: Session) -> None:
    session.start()
    assert session.process is not None
    session.plane.kubectl("delete", "validatingwebhookconfiguration", NAME)
    assert session.process.wait(WAIT) == 1
    assert "the webhooks of dev-ada are no longer those of this session" in session.output()
    assert session.registered() == ALL[:2]
    session.run("--clean")
    assert session.registered() == []


def give_away(plane: ControlPlane) -> None:
    """Give the CRD to another installation, in two steps, because a policy protects what has an owner."""
    for label in ("jobgate.dev/installation-namespace-", "jobgate.dev/installation-namespace=elsewhere"):
        plane.kubectl("label", "crd", CRD, label)


def test_crds_of_others_stay_as_they_are(session: Session) -> None:
    session.start()
    give_away(session.plane)
    session.end(signal.SIGTERM)
    assert session.registered() == ALL[:1]
    session.start()
    assert f"left as they are, because they are not of this session: CRDs {CRD}" in session.output()
    session.end(signal.SIGTERM)
    assert session.registered() == ALL[:1]


def test_rights_for_crds_are_not_needed_without_crds(session: Session) -> None:
    session.start()
    give_away(session.plane)
    session.end(signal.SIGTERM)
    user, group = f"{session.user.namespace}-user", "admissionregistration.k8s.io"
    webhooks = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    rules = [
        {"apiGroups": [group], "resources": webhooks, "verbs": ["get", "list", "create", "patch", "delete"]},
        {"apiGroups": ["jobgate.dev"], "resources": ["*"], "verbs": ["list", "watch"]},
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": user}}
    session.plane.kubectl("create", "-f", "-", input=json.dumps({**role, "rules": rules}))
    session.plane.kubectl("create", "clusterrolebinding", user, f"--clusterrole={user}", f"--user={user}")
    session.flags = [f"--kubeconfig={session.plane.kubeconfig_for(user)}", "--no-crds"]
    session.start()
    assert session.end(signal.SIGTERM) == 0
    assert session.registered() == ALL[:1]


def test_missing_rights_are_named(session: Session) -> None:
    kubeconfig = session.plane.kubeconfig_for("ada")
    text = session.run(f"--kubeconfig={kubeconfig}", "--no-crds")
    for verb in ("get", "list", "create", "patch", "delete"):
        for phase in ("mutating", "validating"):
            assert f"{verb} {phase}webhookconfigurations.admissionregistration.k8s.io" in text
    assert "watch prerequisites.jobgate.dev" in text
    assert "customresourcedefinitions" not in text
    assert "create customresourcedefinitions.apiextensions.k8s.io" in session.run(f"--kubeconfig={kubeconfig}")


def test_a_broken_package_registers_nothing(session: Session) -> None:
    session.edit("DEFAULTS =", "DEFAULTS = = ")
    assert "SyntaxError" in session.run()
    assert session.registered() == []


def test_a_crd_that_is_left_needs_no_conversion(controlplane: ControlPlane, tmp_path: Path) -> None:
    package, crd = Path("examples/own-database").resolve(), "databases.db.example.com"
    session = Session(controlplane, tmp_path / "package")
    (session.folder / "database").symlink_to(package / "database")
    info = session.folder / "bucket-0.1.0.dist-info" / "entry_points.txt"
    info.write_text("[jobgate.kinds]\ndatabase = database:DATABASE\n")

    def served() -> tuple[str, list[str]]:
        spec = json.loads(controlplane.kubectl("get", "crd", crd, "-ojson").stdout)["spec"]
        return spec["conversion"]["strategy"], [each["name"] for each in spec["versions"] if each["served"]]

    try:
        with (session.folder / "log").open("wb") as log:
            session.process = subprocess.Popen(session.command, env=session.environment, stdout=log, stderr=log)
        session.wait_for(f"dev-ada serves {crd}")
        assert served() == ("Webhook", ["v1", "v1alpha1"])
        ClusterObjects(controlplane.client).established(crd)
        applied, text = session.user.apply((package / "objects" / "older.yaml").read_text())
        assert applied, text
        session.wait_for("convert to db.example.com/v1: converted")
        assert session.end(signal.SIGTERM) == 0
        assert f"CRD {crd} is left: it has objects" in session.output()
        assert served() == ("None", ["v1"])
        assert session.user.has("orders", crd)
    finally:
        if session.process is not None:
            session.end(signal.SIGTERM)
        session.reserved.close()
        controlplane.kubectl("delete", "crd", crd, "--ignore-not-found")
