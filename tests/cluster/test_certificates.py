"""The rotation of certificates against a real API server.

Level: real API server; the server behind the Service is a TLS listener of this test.
"""

import asyncio
import base64
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from certs.bundle import read_certificates
from certs.generation import number_of
from controlplane.client import JSON, MERGE_PATCH, ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, environment
from jobgate.cli.certs import certs_group

KINDS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
GROUP = "/apis/admissionregistration.k8s.io/v1"


class Installation:
    """A Secret, both configurations and a Service that is another name of this machine."""

    def __init__(self, plane: ControlPlane, api: ClusterApi, namespace: str, folder: Path) -> None:
        self.plane, self.api, self.namespace, self.folder = plane, api, namespace, folder
        self.configuration = f"{namespace}.test"
        self.port = 1
        self.kubeconfig = plane.kubeconfig

    def grant(self, user: str, patched: Sequence[str]) -> None:
        """Give a user the rights that the handbook says, and act as that user from now on."""
        named = {"apiGroups": ["admissionregistration.k8s.io"], "resourceNames": [self.configuration]}
        everywhere = [{**named, "resources": list(KINDS), "verbs": ["get", "list", "watch"]}]
        everywhere += [{**named, "resources": [kind], "verbs": ["patch"]} for kind in patched]
        secret = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["jobgate-webhook-tls"]}
        within = [
            {**secret, "verbs": ["get", "list", "watch", "patch"]},
            {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list"]},
        ]
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        places = (("Cluster", "", everywhere), ("", f"/namespaces/{self.namespace}", within))
        for prefix, inside, rules in places:
            kind, name = f"{prefix}Role", f"{self.namespace}-{user}"
            reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
            subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]
            role = {"metadata": {"name": name}, "rules": rules}
            self.created(f"{rbac}{inside}/{kind.lower()}s", role)
            binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects}
            self.created(f"{rbac}{inside}/{kind.lower()}bindings", binding)
        self.kubeconfig = self.plane.kubeconfig_for(f"{self.namespace}-{user}")

    def install(self, port: int) -> None:
        self.port = port
        self.created(f"/api/v1/namespaces/{self.namespace}/secrets", self.secret())
        for kind in KINDS:
            self.created(f"{GROUP}/{kind}", self.manifest(kind))
        spec = {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "webhook", "port": port}]}
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "jobgate-webhook"}, "spec": spec}
        self.created(f"/api/v1/namespaces/{self.namespace}/services", service)

    def created(self, path: str, manifest: dict[str, Any]) -> None:
        status, answer = self.api.post(path, manifest)
        assert status == 201, answer

    def secret(self) -> dict[str, Any]:
        data = {"tls.crt": "", "tls.key": ""}
        metadata = {"name": "jobgate-webhook-tls"}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls", "data": data}

    def manifest(self, kind: str) -> dict[str, Any]:
        rule = {"apiGroups": ["test.dev"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}
        service = {"namespace": self.namespace, "name": "jobgate-webhook", "port": self.port}
        entries = [
            {
                "name": f"{name}.test.dev",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": service},
                "sideEffects": "None",
                "rules": [rule],
            }
            for name in ("jobs", "pods")
        ]
        single = {"mutatingwebhookconfigurations": "MutatingWebhookConfiguration"}.get(
            kind, "ValidatingWebhookConfiguration"
        )
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": single,
            "metadata": {"name": self.configuration},
            "webhooks": entries,
        }

    @property
    def options(self) -> list[str]:
        return [
            f"--namespace={self.namespace}",
            f"--configuration={self.configuration}",
            f"--kubeconfig={self.kubeconfig}",
        ]

    def run(self, command: str, *arguments: str) -> Result:
        return CliRunner().invoke(certs_group, [command, *self.options, *arguments])

    def contents(self) -> dict[str, bytes]:
        _, result = self.api.get(f"/api/v1/namespaces/{self.namespace}/secrets/jobgate-webhook-tls")
        return {key: base64.b64decode(value) for key, value in result["data"].items()}

    def trusted(self, kind: str) -> list[list[int | None]]:
        _, result = self.api.get(f"{GROUP}/{kind}/{self.configuration}")
        bundles = [base64.b64decode(entry["clientConfig"].get("caBundle", "")) for entry in result["webhooks"]]
        return [[number_of(certificate) for certificate in read_certificates(bundle)] for bundle in bundles]

    def trusts(self, kind: str, numbers: list[int]) -> bool:
        return self.trusted(kind) == [numbers] * 2

    def wipe(self, kind: str) -> None:
        path = f"{GROUP}/{kind}/{self.configuration}"
        status, answer = self.api.patch(path, {"webhooks": self.manifest(kind)["webhooks"]}, content_type=MERGE_PATCH)
        assert status == 200, answer


@pytest.fixture
def installation(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str, tmp_path: Path
) -> Iterator[Installation]:
    made = Installation(controlplane, cluster_api, namespace, tmp_path)
    yield made
    for kind in KINDS:
        cluster_api.request("DELETE", f"{GROUP}/{kind}/{made.configuration}", None, None, JSON)


@asynccontextmanager
async def serving(installation: Installation) -> AsyncIterator[int]:
    """A server that reads the Secret at each handshake, and shows nothing where nothing can be read."""

    def present(connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        with suppress(ssl.SSLError):
            context = installation_context(installation)
            if context is not None:
                connection.context = context

    front = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    front.sni_callback = present
    server = await asyncio.start_server(lambda _, writer: writer.close(), "localhost", 0, ssl=front)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


def installation_context(installation: Installation) -> ssl.SSLContext | None:
    with installation.plane.api() as api:
        _, result = api.get(f"/api/v1/namespaces/{installation.namespace}/secrets/jobgate-webhook-tls")
    contents = {key: base64.b64decode(value) for key, value in result["data"].items()}
    if not contents["tls.crt"]:
        return None
    for name in ("tls.crt", "tls.key"):
        (installation.folder / name).write_bytes(contents[name])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(installation.folder / "tls.crt", installation.folder / "tls.key")
    return context


async def test_an_installation_is_bootstrapped_rotated_revoked_and_repaired(installation: Installation) -> None:
    async with serving(installation) as port:
        installation.install(port)

        def all_of_it() -> None:
            _bootstrap(installation)
            _rotate(installation)
            _mend(installation)
            _watch(installation)

        await asyncio.to_thread(all_of_it)


async def test_the_rights_of_the_handbook_are_enough_and_a_missing_one_is_named(installation: Installation) -> None:
    async with serving(installation) as port:
        installation.install(port)

        def all_of_it() -> None:
            # The servers are given: Services may not be read.
            options = ["--soak=0", f"--address=localhost:{port}"]
            installation.grant("enough", KINDS)
            done = installation.run("rotate", *options)
            assert done.exit_code == 0, done.output
            assert [installation.trusted(kind) for kind in KINDS] == [[[1], [1]]] * 2

            installation.grant("less", KINDS[:1])
            done = installation.run("rotate", "--force", *options)
            assert done.exit_code == 1
            assert f"cannot patch {KINDS[1]}.admissionregistration.k8s.io" in done.output
            assert installation.contents()["generation"] == b"1"
            assert [installation.trusted(kind) for kind in KINDS] == [[[1, 2]] * 2, [[1]] * 2]

        await asyncio.to_thread(all_of_it)


async def test_a_secret_that_cannot_be_served_is_reported_by_an_event(installation: Installation) -> None:
    path = f"/api/v1/namespaces/{installation.namespace}"

    def reported() -> list[tuple[str, str, str]]:
        _, result = installation.api.get(f"{path}/events")
        _, secret = installation.api.get(f"{path}/secrets/jobgate-webhook-tls")
        about = [item["involvedObject"] for item in result["items"]]
        assert {(each["kind"], each["name"], each.get("uid")) for each in about} == {
            ("Secret", "jobgate-webhook-tls", secret["metadata"]["uid"])
        }
        return sorted((entry["type"], entry["reason"], entry["message"]) for entry in result["items"])

    async with serving(installation) as port:
        installation.install(port)

        def all_of_it() -> None:
            installation.grant("enough", KINDS)
            options = ["--soak=0", f"--address=localhost:{port}"]
            assert installation.run("rotate", *options).exit_code == 0
            first = ("Normal", "CertificateIssued", "no certificate has been issued: issuing the first one")
            assert reported() == [first]

            spoilt = {"data": {"tls.key": base64.b64encode(b"no key").decode()}}
            status, answer = installation.api.patch(f"{path}/secrets/jobgate-webhook-tls", spoilt)
            assert status == 200, answer
            done = installation.run("rotate", *options)
            assert done.exit_code == 0, done.output
            again, before = reported()[1], reported()[0]
            assert before == first
            assert again[:2] == ("Warning", "CertificateReplaced")
            assert again[2].startswith("tls.key")
            assert again[2].endswith("issuing a new one; servers keep the last good certificate until then")

        await asyncio.to_thread(all_of_it)


async def test_a_conversion_that_was_installed_with_a_placeholder_is_trusted_and_the_crd_served(
    installation: Installation,
) -> None:
    async with serving(installation) as port:
        installation.install(port)

        def all_of_it() -> None:
            crd = _converted(installation)
            path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}"
            installation.created(path.rpartition("/")[0], crd)
            try:
                wait_for(lambda: _condition(installation, path, "NamesAccepted") == "True", what="the CRD is looked at")
                assert _condition(installation, path, "Established") != "True"
                done = installation.run("rotate", "--soak=0", f"--crd={crd['metadata']['name']}")
                assert done.exit_code == 0, done.output
                _, result = installation.api.get(path)
                bundle = base64.b64decode(result["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"])
                assert [number_of(certificate) for certificate in read_certificates(bundle)] == [1]
                wait_for(lambda: _condition(installation, path, "Established") == "True", what="the CRD is served")
            finally:
                installation.api.delete(path)

        await asyncio.to_thread(all_of_it)


def _converted(installation: Installation) -> dict[str, Any]:
    """A CRD that our Service converts; its bundle is what charts write where none is known yet."""
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    service = {"namespace": installation.namespace, "name": "jobgate-webhook", "port": installation.port}
    client = {"service": {**service, "path": "/convert"}, "caBundle": "Cg=="}
    plural, group = "things", f"{installation.namespace}.example.com"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": plural},
            "versions": [
                {"name": name, "served": True, "storage": name == "v1", "schema": anything} for name in ("v1", "v2")
            ],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
            },
        },
    }


def _condition(installation: Installation, path: str, kind: str) -> str:
    _, result = installation.api.get(path)
    # Null until the first controller has looked at it.
    conditions = result.get("status", {}).get("conditions") or []
    return next((condition["status"] for condition in conditions if condition["type"] == kind), "")


def _bootstrap(installation: Installation) -> None:
    before = installation.run("status")
    assert before.exit_code == 1
    assert "the Secret contains no certificate" in before.output

    done = installation.run("rotate", "--soak=0")
    assert done.exit_code == 0, done.output
    assert "next: stage the next generation" in done.output
    assert [installation.trusted(kind) for kind in KINDS] == [[[1], [1]]] * 2
    assert installation.contents()["generation"] == b"1"
    assert installation.run("status").exit_code == 0


def _rotate(installation: Installation) -> None:
    assert installation.run("rotate", "--soak=0").output.startswith("next: "), "nothing is due"
    for number in (2, 3):
        done = installation.run("rotate", "--soak=0", "--force")
        assert done.exit_code == 0, done.output
        for kind in KINDS:
            assert installation.trusted(kind) == [[number - 1, number]] * 2
    done = installation.run("rotate", "--soak=0", "--revoke", "--key-type=p384")
    assert done.exit_code == 0, done.output
    for kind in KINDS:
        assert installation.trusted(kind) == [[4]] * 2
    contents = installation.contents()
    assert set(contents) == {"tls.crt", "tls.key", "ca.crt", "generation", "bundle.crt"}

    waits = installation.run("rotate", "--force", "--wait=0")
    assert waits.exit_code == 0, waits.output
    assert "next: promote generation 5 at" in waits.output
    assert installation.contents()["generation"] == b"4"
    assert installation.run("rotate", "--soak=0").exit_code == 0
    assert installation.contents()["generation"] == b"5"


def _mend(installation: Installation) -> None:
    installation.wipe(KINDS[0])
    shown = installation.run("status", "--output=json")
    assert shown.exit_code == 1
    document = json.loads(shown.output)
    assert document["generation"] == 5
    assert [target["trustsGenerations"] for target in document["targets"]] == [[], [4, 5]]
    assert document["served"][0]["generation"] == 5
    assert document["next"]["step"] == "trust"
    done = installation.run("rotate", "--soak=0")
    assert done.exit_code == 0, done.output
    assert installation.trusted(KINDS[0]) == [[4, 5]] * 2
    sound = installation.run("status")
    assert sound.exit_code == 0, sound.output


def _watch(installation: Installation) -> None:
    """A wiped bundle is back within seconds, and SIGTERM gives the Lease back."""
    log = installation.folder / "watch.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [
                *COMMAND,
                "certs",
                "watch",
                "--health-port=0",
                "--bind=127.0.0.1",
                "--soak=0",
                *installation.options,
            ],
            stderr=written,
            env=environment(),
        )
    try:
        wait_for(lambda: "rotation started" in log.read_text(), what="the watch listens")
        health = json.loads(log.read_text().splitlines()[0])["healthPort"]
        wait_for(lambda: b"jobgate_certificates_generation 5.0" in _get(health, "metrics"), what="the first pass")
        # The metrics of a pass are set before it ends.
        wait_for(lambda: _is_ready(health), what="the pass ends")
        for kind in KINDS:
            installation.wipe(kind)
            wait_for(partial(installation.trusts, kind, [4, 5]), what=f"{kind} is repaired")
        process.terminate()
        assert process.wait(120) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["step"] for line in steps if "step" in line] == ["trust", "trust"]
    _, lease = installation.api.get(
        f"/apis/coordination.k8s.io/v1/namespaces/{installation.namespace}/leases/jobgate-certificates"
    )
    assert lease["spec"].get("holderIdentity", "") == ""


def _is_ready(port: int) -> bool:
    try:
        return _get(port, "readyz") == b"ok\n"
    except HTTPError as error:
        error.close()
        return False


def _get(port: int, path: str) -> bytes:
    with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
        return bytes(answer.read())
