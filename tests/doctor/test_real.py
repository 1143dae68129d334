"""Faults planted in one installation on a real API server, and reported by the doctor.

Level: real API server, real Secret, bundles and rights; a TLS listener of this test is the server. There are no
controllers and kubelets: pods, endpoints, Leases and statuses are made by hand, as these would.
"""

import asyncio
import json
import socketserver
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from certs import Generation
from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from jobgate.cli import main
from jobgate.cluster.access import is_allowed
from jobgate.cluster.bundles import CRDS
from jobgate.cluster.client import Client
from jobgate.configured.catalogue import installable, kinds_of
from jobgate.configured.file import read_entries
from jobgate.doctor import FoundFault, diagnose
from jobgate.doctor.look import ServerAccess, look
from jobgate.doctor.observed import NAMESPACES, ClusterSnapshot, Ref
from tests.configured.crds import crd
from tests.doctor.faults import FAULTS, POLICY_FAULTS, Round, of_round
from tests.doctor.test_kinds import DESCRIBED
from tests.doctor.world import KINDS, SYSTEM, TEAM, World, sound

#: Each of them is awaited: rights, CRDs and namespaces take effect some time after they are stored.
SOON = 300.0


class Server(socketserver.ThreadingTCPServer):
    """Shows a generation's certificate to whoever makes a handshake."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)
        self._folder = folder
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def serve(self, generation: Generation) -> None:
        names = {"tls.crt": generation.certificate, "tls.key": generation.key}
        for name, content in names.items():
            (self._folder / name).write_bytes(content)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "tls.crt", self._folder / "tls.key")
        self._context = context

    def get_request(self) -> tuple[socket, Any]:
        connection, address = super().get_request()
        return self._context.wrap_socket(connection, server_side=True), address


class Installed:
    """A sound installation on an API server, into which faults are planted."""

    def __init__(self, plane: ControlPlane, api: ClusterApi, folder: Path) -> None:
        self.plane, self.api = plane, api
        # So that nothing sound expires before the tests are over.
        entries = read_entries(DESCRIBED, "training.yaml")
        described = installable(kinds_of(entries))
        self.world = sound(datetime.now(UTC), lease_seconds=3600, described=described, policies=True)
        self.world.put(*map(crd, entries))
        self.server = Server(folder)
        self.server.serve(self.world.current)

    def install(self) -> None:
        rendered = [one for ref, one in self.world.objects.items() if _is_rendered(ref)]
        self.plane.kubectl("apply", "-f", "-", input=yaml.dump_all(map(_stated, rendered), Dumper=yaml.CSafeDumper))
        names = [ref.name for ref in self.world.objects if ref.resource == CRDS]
        self.plane.kubectl("wait", "--for=condition=Established", "crd", *names)
        before = self.world.copy()
        before.objects = {ref: _stated(one) for ref, one in self.world.objects.items() if _is_rendered(ref)}
        before.objects |= {ref: one for ref, one in self.world.objects.items() if ref.resource in {CRDS, NAMESPACES}}
        self.api.post("/api/v1/namespaces", self.world.get("Namespace", TEAM))
        self.change(before, self.world)

    def change(self, before: World, after: World) -> None:
        """Make of one world the other."""
        for ref in {**before.objects, **after.objects}:
            old, new = before.objects.get(ref), after.objects.get(ref)
            path = ref.resource.path_of(ref.name, ref.namespace)
            if new is None:
                self._done(self.api.delete(path, params={"gracePeriodSeconds": "0"}))
            elif old is None:
                wait_for(partial(self._made, path, new), timeout=SOON, what=f"{ref} is made")
                self._write_status(path, {}, new)
            else:
                if changes := _changes(_stated(old), _stated(new)):
                    self._done(self.api.patch(path, changes))
                self._write_status(path, old, new)

    def look(self) -> tuple[list[FoundFault], ClusterSnapshot]:
        async def looking() -> tuple[list[FoundFault], ClusterSnapshot]:
            async with await Client.connect(self.plane.kubeconfig) as client:
                seen = await look(client, KINDS, {}, self.way)
            return diagnose(*seen), seen[0]

        return asyncio.run(looking())

    @property
    def way(self) -> ServerAccess:
        host, port = self.server.server_address[:2]
        return ServerAccess(addresses=((str(host), port),), timeout=30.0)

    def _made(self, path: str, manifest: dict[str, Any]) -> bool:
        status, answer = self.api.post(path.rpartition("/")[0], _stated(manifest))
        # A namespace that opts out does so a moment later; a CRD that goes is there a moment longer.
        assert status in {201, 404, 409, 500}, answer
        return status == 201

    def _write_status(self, path: str, old: dict[str, Any], new: dict[str, Any]) -> None:
        if old.get("status") != new.get("status") and "customresourcedefinitions" not in path:
            self._done(self.api.patch(f"{path}/status", {"status": new["status"]}))

    def _done(self, answer: tuple[int, dict[str, Any]]) -> None:
        assert answer[0] in {200, 201, 202}, answer


def _is_rendered(ref: Ref) -> bool:
    if ref.resource == NAMESPACES:
        return ref.name == SYSTEM
    return ref.resource.plural not in {"pods", "leases", "secrets", "endpointslices"}


def _stated(one: dict[str, Any]) -> dict[str, Any]:
    """An object without the fields that only the API server sets."""
    return {key: value for key, value in one.items() if key != "status"}


def _changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that makes of one the other."""
    found: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            if inner := _changes(old[key], value):
                found[key] = inner
        elif value != old.get(key):
            found[key] = value
    return found


@pytest.fixture(scope="module")
def installed(controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """An installation on a control plane of its own: others install themselves on the shared one."""
    with ControlPlane(controlplane.assets) as plane, plane.api() as api:
        made = Installed(plane, api, tmp_path_factory.mktemp("doctor"))
        with made.server as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                made.install()
                yield made
            finally:
                server.shutdown()
                thread.join()


def test_a_sound_installation_has_no_fault_and_everything_is_looked_at(installed: Installed) -> None:
    def nothing_is_found() -> bool:
        # On a machine that is busy an answer may be late: what it says is then not looked at.
        findings, observed = installed.look()
        return (findings, observed.not_checked()) == ([], {})

    wait_for(nothing_is_found, timeout=SOON, what="no fault, with everything looked at")


@pytest.mark.parametrize("round_", Round)
def test_planted_faults_are_found_and_nothing_else(installed: Installed, round_: Round) -> None:
    world = installed.world.copy()
    for planted in of_round(round_).values():
        planted.plant(world)
    # Each fault alone, and that none hides another, is tested on what an API server holds: here, that it is read.
    expected = {(one.id, one.where) for one in world.diagnosed()}
    installed.change(installed.world, world)
    installed.server.serve(world.current)
    found: list[FoundFault] = []

    def all_of_them() -> bool:
        found[:] = installed.look()[0]
        return {(one.id, one.where) for one in found} == expected

    try:
        wait_for(all_of_them, timeout=SOON, what=f"{len(expected)} faults are found")
        result = " ".join(f"{one.where}: {one.what}" for one in found)
        assert [planted.says for planted in of_round(round_).values() if planted.says not in result] == []
    finally:
        installed.change(world, installed.world)
        installed.server.serve(installed.world.current)


def test_faults_of_admission_policies_are_found(installed: Installed) -> None:
    world = installed.world.copy()
    named = [planted for planted in POLICY_FAULTS.values() if planted.round]
    for planted in named:
        planted.plant(world)
    installed.change(installed.world, world)
    try:
        found = installed.look()[0]
    finally:
        installed.change(world, installed.world)
    result = " ".join(f"{one.where}: {one.what}" for one in found)
    assert {one.id for one in found} == {planted.id for planted in named}
    assert [planted.says for planted in named if planted.says not in result] == []


def test_the_command_tells_a_sound_installation_and_a_fault(installed: Installed) -> None:
    host, port = installed.way.addresses[0]
    arguments = ["doctor", f"--kubeconfig={installed.plane.kubeconfig}", f"--address={host}:{port}"]
    arguments += ["--handshake-seconds=30"]

    def run(*more: str) -> Any:
        return CliRunner().invoke(main, [*arguments, *more], catch_exceptions=False)

    wait_for(lambda: run().exit_code == 0, timeout=SOON, every=1.0, what="the command finds no fault")
    world = installed.world.copy()
    FAULTS["an entry calls another path"].plant(world)
    installed.change(installed.world, world)
    try:
        result = run("--output=json")
        document = json.loads(result.stdout)
        assert (result.exit_code, document["healthy"]) == (1, False)
        assert [one["id"] for one in document["findings"]] == ["entry-calls-elsewhere"]
    finally:
        installed.change(world, installed.world)


def test_who_may_read_little_is_told_what_was_not_looked_at_and_of_no_fault(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configurations and nothing else: no right to Secrets, Services, rights, or anything in the namespace."""
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]}
    name = "reads-configurations"
    role = {"metadata": {"name": name}, "rules": [rule]}
    subjects = [{"apiGroup": group, "kind": "User", "name": name}]
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": name}
    binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects}
    installed.api.post(f"/apis/{group}/v1/clusterroles", role)
    installed.api.post(f"/apis/{group}/v1/clusterrolebindings", binding)
    credentials = installed.plane.kubeconfig_for(name)
    host, port = installed.way.addresses[0]
    arguments = ["doctor", f"--kubeconfig={credentials}", f"--address={host}:{port}", "--handshake-seconds=30"]

    def run() -> Any:
        return CliRunner().invoke(main, arguments, catch_exceptions=False)

    wait_for(lambda: run().exit_code == 0, timeout=SOON, every=1.0, what="no fault is found")
    asked: list[Any] = []

    async def counted(*arguments: Any, **attributes: Any) -> bool:
        asked.append(attributes)
        return await is_allowed(*arguments, **attributes)

    monkeypatch.setattr("jobgate.doctor.look.is_allowed", counted)
    result = run().stdout
    assert len(asked) == 1
    assert "secrets/jobgate-webhook-tls in jobgate-system" in result
    assert "permissions of jobgate-webhook" in result
    assert "this account cannot get secrets" in result
    assert "no faults found in what was checked" in result


def test_who_may_read_nothing_is_told_so(installed: Installed) -> None:
    credentials = installed.plane.kubeconfig_for("reads-nothing")
    result = CliRunner().invoke(main, ["doctor", f"--kubeconfig={credentials}"], catch_exceptions=False)
    assert result.exit_code == 2
    assert "webhook configurations cannot be read: this account cannot get" in result.stderr
