"""The source of the server's certificate: accepted and rejected certificates, a Secret on a real API server, signals."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from certs import Generation, issue_generation, service_names
from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import environment
from jobgate.cli import main
from jobgate.cluster import Page, Resource
from jobgate.serving.certificate import SecretName, SecretSource
from jobgate.serving.metrics import ServingMetrics
from tests.webhook.server.wire import shown_files, until
from webhook.server.certificates import Certificates

NAME = "jobgate-webhook-tls"
#: A control plane of many tests may be slow to answer.
PATIENCE = 60.0


def issued(namespace: str = "jobgate-system", age: timedelta = timedelta(0)) -> Generation:
    return issue_generation(service_names("jobgate-webhook", namespace), datetime.now(UTC) - age)


def secret(generation: Generation, number: int, namespace: str = "jobgate-system") -> dict[str, Any]:
    contents = {
        "tls.crt": generation.certificate,
        "tls.key": generation.key,
        "ca.crt": generation.ca_certificate,
        "generation": str(number).encode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": NAME, "namespace": namespace, "resourceVersion": str(number)},
        "data": {key: base64.b64encode(content).decode() for key, content in contents.items()},
    }


# Options of the command line


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--tls-cert=FILE",),
        ("--tls-key=FILE",),
        ("--tls-secret=jobgate-webhook-tls", "--tls-cert=FILE", "--tls-key=FILE"),
        ("--tls-secret=jobgate-webhook-tls", "--tls-key=FILE"),
    ],
)
def test_the_certificate_comes_from_one_place(flags: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = CliRunner().invoke(main, ["serve", *(flag.replace("FILE", str(file)) for flag in flags)])
    assert result.exit_code == 2
    assert "either --tls-secret, or both --tls-cert and --tls-key, are required" in " ".join(result.output.split())


@pytest.mark.parametrize("text", ["", "/", "a/", "A", "a/b/c", "a b", "a/B"])
def test_a_secret_is_named_by_namespace_and_name(text: str) -> None:
    result = CliRunner().invoke(main, ["serve", "--tls-secret", text])
    assert result.exit_code == 2
    assert "must be [NAMESPACE/]NAME" in " ".join(result.output.split())


def test_outside_a_pod_a_secret_is_looked_for_where_installations_are() -> None:
    assert SecretName.parse(NAME) == SecretName(NAME, "jobgate-system")
    assert SecretName.parse(f"ours/{NAME}").server == "jobgate-webhook.ours.svc"


@pytest.mark.parametrize("flags, says", [((), "must be the key of"), (("--tls-name=other.svc",), "must be the key of")])
def test_files_that_can_never_be_served_end_the_server(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    shown = shown_files(issued(), tmp_path)
    shown.key.write_bytes(issued().key)
    result = CliRunner().invoke(main, ["serve", f"--tls-cert={shown.certificate}", f"--tls-key={shown.key}", *flags])
    assert result.exit_code == 1
    assert says in " ".join(result.output.split())
    assert "PRIVATE" not in result.output


def test_files_without_the_wanted_name_end_the_server(tmp_path: Path) -> None:
    shown = shown_files(issued(), tmp_path)
    files = [f"--tls-cert={shown.certificate}", f"--tls-key={shown.key}"]
    result = CliRunner().invoke(main, ["serve", *files, "--tls-name=jobgate-webhook.elsewhere.svc"])
    assert result.exit_code == 1
    assert "must hold jobgate-webhook.elsewhere.svc" in " ".join(result.output.split())


# Certificates in a Secret, with a simulated API server


class Played:
    """An API server with one Secret, or none."""

    def __init__(self, found: Mapping[str, Any] | None = None) -> None:
        self.found = found
        self.events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        yield Page([dict(self.found)] if self.found else [], "1")

    async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        while True:
            yield await self.events.get()

    def say(self, change: str, found: Mapping[str, Any]) -> None:
        self.events.put_nowait({"type": change, "object": dict(found)})


class Watched:
    """A source that follows a simulated API server."""

    def __init__(self, found: Mapping[str, Any] | None = None) -> None:
        self.metrics = ServingMetrics()
        self.certificates = Certificates(self.metrics, "jobgate-webhook.jobgate-system.svc")
        self.source = SecretSource(self.certificates, SecretName(NAME, "jobgate-system"), None, self.metrics)
        self.api = Played(found)
        self._tasks = [
            asyncio.create_task(self.source.known.run(self.api)),
            asyncio.create_task(self.source._offer()),
        ]

    def serves(self, generation: int) -> bool:
        return self.certificates.served is not None and self.certificates.served.generation == generation

    def counted(self, result: str) -> float:
        results = self.metrics.registry.get_sample_value("jobgate_certificate_reloads_total", {"result": result})
        assert results is not None
        return results

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    """A source whose Secret has generation 1."""
    one = Watched(secret(issued(), 1))
    await until(lambda: one.serves(1))
    yield one
    await one.end()


async def test_what_is_staged_is_neither_kept_nor_news(watched: Watched) -> None:
    kept = watched.source.known.get(NAME, "jobgate-system")
    assert kept
    assert "PRIVATE" not in repr(kept)
    staged = secret(issued(), 1)
    contents = {"tls.crt": kept.certificate, "tls.key": kept.key, "ca.crt": kept.authority}
    staged["data"] |= {key: base64.b64encode(value).decode() for key, value in contents.items()}
    staged["data"]["next.tls.key"] = "AAAA"
    watched.api.say("MODIFIED", staged)
    watched.api.say("MODIFIED", secret(issued(), 2))
    await until(lambda: watched.counted("served") == 2)  # counted in the thread that serves it, a moment later
    assert watched.serves(2)


async def test_a_deleted_secret_is_served_from_memory_until_another_comes(watched: Watched) -> None:
    watched.api.say("DELETED", secret(issued(), 1))
    await until(lambda: watched.counted("missing") == 1)
    assert watched.serves(1)
    assert watched.certificates.lacking() == ""
    watched.api.say("ADDED", secret(issued(), 2))
    await until(lambda: watched.serves(2))


@pytest.mark.parametrize(
    "data, fault",
    [
        ({"tls.key": "%%%"}, "missing"),
        ({"tls.crt": 7}, "missing"),
        ({"tls.crt": ""}, "missing"),
        ({"tls.key": None}, "missing"),
        ({"ca.crt": "AAAA"}, "unreadable"),
    ],
)
async def test_a_secret_that_holds_none_is_rejected(watched: Watched, data: dict[str, Any], fault: str) -> None:
    spoilt = secret(issued(), 2)
    spoilt["data"] |= data
    watched.api.say("MODIFIED", spoilt)
    await until(lambda: watched.counted(fault) == 1)
    assert watched.serves(1)
    watched.api.say("MODIFIED", secret(issued(), 3))
    await until(lambda: watched.serves(3))


async def test_an_empty_secret_is_waited_for() -> None:
    empty = secret(issued(), 0)
    one = Watched({key: value for key, value in empty.items() if key != "data"})
    await until(lambda: one.counted("missing") == 1)
    assert one.certificates.lacking() == "no certificate yet: tls.crt is missing or empty"
    one.api.say("MODIFIED", secret(issued(), 1))
    await until(lambda: one.serves(1))
    await one.end()


# A real API server, and the server's own rights there


class Process:
    """A server process that watches a Secret."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log
        (line,) = wait_for(lambda: self.lines("serving"), PATIENCE, what="the server")
        self.port, self.health_port = line["port"], line["healthPort"]

    def lines(self, message: str) -> list[dict[str, Any]]:
        result = [line for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in map(json.loads, result) if line["message"] == message]

    def readiness(self) -> str:
        try:
            with urlopen(f"http://127.0.0.1:{self.health_port}/readyz", timeout=10) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            with error:
                return error.read().decode()

    def shows(self, generation: Generation, name: str) -> bool:
        """Whether a client that trusts this generation alone can make a handshake."""
        client = ssl.create_default_context(cadata=generation.ca_certificate.decode())
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=10) as plain,
            client.wrap_socket(plain, server_hostname=name),
        ):
            return True
        return False

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


#: The command on a read-only or full disk, as in a container. Only where temporary files
#: are can be written, because the client of the API server puts a kubeconfig's own certificates there; a pod has none.
ON_A_FULL_DISK = """
import errno, os, sys, tempfile

allowed = tempfile.gettempdir() + os.sep

def refuse(event, arguments):
    wanted = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if wanted and isinstance(arguments[0], str) and not arguments[0].startswith(allowed):
        raise OSError(errno.EROFS, "Read-only file system", arguments[0])

sys.dont_write_bytecode = True
sys.addaudithook(refuse)
from jobgate.cli import main
main()
"""


@contextmanager
def serving(kubeconfig: Path, namespace: str, folder: Path) -> Iterator[Process]:
    log, credentials = folder / "log", folder / "credentials"
    credentials.mkdir()
    flags = [f"--tls-secret={namespace}/{NAME}", f"--kubeconfig={kubeconfig}", "--no-cluster", "--bind=127.0.0.1"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", ON_A_FULL_DISK, "serve", *flags, "--port=0", "--health-port=0"],
            stderr=file,
            env=environment() | {"TMPDIR": str(credentials)},
        )
    try:
        yield Process(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture
def reader(controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str) -> Path:
    """The kubeconfig of a user who may read this Secret, and nothing else."""
    user = f"reader-{namespace}"
    prefix = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rule = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [NAME], "verbs": ["get", "list", "watch"]}
    role = {"metadata": {"name": "reader"}, "rules": [rule]}
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    assert cluster_api.post(f"{prefix}/roles", role)[0] == 201
    assert cluster_api.post(f"{prefix}/rolebindings", binding)[0] == 201
    return controlplane.kubeconfig_for(user)


def stored(generation: Generation, number: int, namespace: str) -> dict[str, Any]:
    result = secret(generation, number, namespace)
    del result["metadata"]["resourceVersion"]
    return result


def test_a_secret_is_served_without_a_disk_as_it_comes_changes_goes_and_comes_back(
    reader: Path, cluster_api: ClusterApi, namespace: str, tmp_path: Path
) -> None:
    name, path = f"jobgate-webhook.{namespace}.svc", f"/api/v1/namespaces/{namespace}/secrets"
    first, second, third = (issued(namespace) for _ in range(3))
    with serving(reader, namespace, tmp_path) as server:
        assert server.readiness().startswith("no certificate yet")
        assert not server.shows(first, name)

        assert cluster_api.post(path, stored(first, 1, namespace))[0] == 201
        wait_for(lambda: server.readiness() == "ok\n", PATIENCE, what="the first certificate")
        assert server.shows(first, name)

        assert cluster_api.patch(f"{path}/{NAME}", stored(second, 2, namespace))[0] == 200
        wait_for(lambda: server.shows(second, name), PATIENCE, what="the second certificate")
        assert not server.shows(first, name)

        key = {"data": {"tls.key": base64.b64encode(first.key).decode()}}
        assert cluster_api.patch(f"{path}/{NAME}", key)[0] == 200
        (line,) = wait_for(lambda: server.lines("certificate rejected"), PATIENCE, what="the refusal")
        assert (line["fault"], line["kept"]) == ("key", 2)
        assert server.shows(second, name)

        assert cluster_api.delete(f"{path}/{NAME}")[0] == 200
        wait_for(lambda: len(server.lines("certificate rejected")) == 2, PATIENCE, what="the deletion")
        assert server.shows(second, name)
        assert server.readiness() == "ok\n"

        assert cluster_api.post(path, stored(third, 3, namespace))[0] == 201
        wait_for(lambda: server.shows(third, name), PATIENCE, what="the third certificate")
        kept = [file.read_bytes() for file in (tmp_path / "credentials").rglob("*") if file.is_file()]
        assert not any(each.certificate in file for file in kept for each in (first, second, third))
        assert server.stop() == 0
        assert "PRIVATE" not in server.log.read_text()


def test_a_server_that_waits_for_its_certificate_stops_when_it_is_told_to(
    reader: Path, namespace: str, tmp_path: Path
) -> None:
    with serving(reader, namespace, tmp_path) as server:
        assert server.readiness().startswith("no certificate yet")
        assert server.stop() == 0
