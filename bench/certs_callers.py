"""Callers of the webhook server during certificate rotation, and the address that they call."""

from __future__ import annotations

import asyncio
import base64
import http.client
import itertools
import json
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from bench.comparison import bodies
from controlplane.client import ClusterApi
from controlplane.forwarding import carry
from controlplane.plane import ControlPlane
from jobgate.kinds.dijob import DIJOB
from webhook import Phase

SERVER_NAME = "jobgate-webhook.jobgate-system.svc"
CONFIGURATIONS = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/jobgate" for kind in ("mutating", "validating")
)
JOBS = f"/apis/{DIJOB.group}/{DIJOB.version}/namespaces/default/{DIJOB.plural}"
#: Limit of a call in seconds: the API server's maximum for a webhook call.
TIMEOUT = 30.0
#: Number of failures that are described.
DESCRIBED = 20


class Address:
    """One address for several servers, which get new connections in turn."""

    def __init__(self, backends: Sequence[int]) -> None:
        """Take the ports of the servers."""
        self._turns = itertools.cycle(backends)
        #: Open connections, by the server's port.
        self.open: Counter[int] = Counter()
        self.connections = 0

    def turn(self, backends: Sequence[int]) -> None:
        """Send new connections to other servers."""
        self._turns = itertools.cycle(backends)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until both of its ends are closed."""
        port = next(self._turns)
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        self.connections += 1
        self.open[port] += 1
        try:
            await carry(reader, writer, back, forth)
        finally:
            self.open[port] -= 1


@dataclass
class Tally:
    """The calls of a caller.

    Attributes:
        done: calls with the expected response.
        repeated: handshakes that failed while the CA bundle changed, and were repeated.
        failed: number of failed calls.
        failures: descriptions of the first failed calls.
    """

    done: int = 0
    repeated: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)

    def fail(self, why: str) -> None:
        """Count a failure."""
        self.failed += 1
        if len(self.failures) < DESCRIBED:
            self.failures.append(why)


class Callers:
    """All callers, each in a thread. Use it in a `with`."""

    def __init__(self, plane: ControlPlane, port: int, pause: float) -> None:
        """`port` is the port of the servers; `pause` is the time between two calls of a caller, in seconds."""
        self._plane, self._port, self._pause = plane, port, pause
        self._stop = threading.Event()
        works = {"admissions": self._admit, "handshakes": self._greet, "kept": self._keep}
        self.tallies: dict[str, list[Tally]] = {name: [] for name in works}
        self._threads = [
            threading.Thread(target=self._run, args=(work, name, number), name=f"{name} {number}", daemon=True)
            for name, work in works.items()
            for number in range(2)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def join(self) -> dict[str, Tally]:
        """Wait until all callers have ended, and return the tally of each kind of caller.

        Raises:
            TimeoutError: a caller does not end.
        """
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * TIMEOUT)
            if thread.is_alive():
                raise TimeoutError(f"the caller of {thread.name} does not end")
        return {name: _added(tallies) for name, tallies in self.tallies.items()}

    def _run(self, work: Callable[[ClusterApi, Tally, int], None], name: str, number: int) -> None:
        tally = Tally()
        self.tallies[name].append(tally)
        with self._plane.api() as api:
            try:
                work(api, tally, number)
            except Exception as error:  # noqa: BLE001  # a caller that ends early must count as failed
                tally.fail(f"the caller ended: {error!r}")

    def _admit(self, api: ClusterApi, tally: Tally, _: int) -> None:
        """Let the API server admit a valid job and reject a broken one, in dry runs."""
        turns = itertools.cycle(((sound(), defaulted), (broken(), refused)))
        while not self._stop.wait(self._pause):
            document, judge = next(turns)
            try:
                why = judge(*api.post(JOBS, document, {"dryRun": "All"}))
            except OSError as error:
                why = repr(error)
            if why:
                tally.fail(why)
            else:
                tally.done += 1

    def _greet(self, api: ClusterApi, tally: Tally, number: int) -> None:
        """Make TLS handshakes, one after the other."""
        while not self._stop.wait(self._pause):
            if connection := self._connected(api, tally, number):
                connection.close()
                tally.done += 1

    def _keep(self, api: ClusterApi, tally: Tally, number: int) -> None:
        """Make calls on one connection, until the server closes it."""
        content = bodies.review(sound(), "dijobs", 0)
        connection = None
        while not self._stop.wait(self._pause):
            if connection is None or connection.sock is None:
                tls = self._connected(api, tally, number)
                if tls is None:
                    continue
                connection = http.client.HTTPConnection("127.0.0.1", self._port)
                connection.sock, connection.auto_open = tls, 0
            try:
                connection.request("POST", DIJOB.path(Phase.MUTATE), content, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                allowed = json.loads(answer.read())["response"]["allowed"]
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                tally.fail(f"kept connection: {error!r}")
                connection.close()
                continue
            if answer.status == http.HTTPStatus.OK and allowed:
                tally.done += 1
            else:
                tally.fail(f"kept connection: {answer.status}")
        if connection is not None:
            connection.close()

    def _connected(self, api: ClusterApi, tally: Tally, number: int) -> ssl.SSLSocket | None:
        """Make a handshake that trusts the CA bundle in the webhook configuration.

        The configuration is read before the handshake. If the handshake fails and the configuration has not changed,
        that counts as a failure. If it has changed, the bundle may have been outdated, and the handshake is repeated.
        """
        path = CONFIGURATIONS[number % len(CONFIGURATIONS)]
        configuration = _configuration(api, path)
        while not self._stop.is_set():
            try:
                plain = socket.create_connection(("127.0.0.1", self._port), TIMEOUT)
                try:
                    return trusting(_bundle(configuration)).wrap_socket(plain, server_hostname=SERVER_NAME)
                except BaseException:
                    plain.close()
                    raise
            except OSError as error:
                before, configuration = configuration, _configuration(api, path)
                if configuration["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]:
                    tally.fail(f"handshake: {error!r}")
                    return None
                tally.repeated += 1
        return None


def _added(tallies: Sequence[Tally]) -> Tally:
    return Tally(
        sum(tally.done for tally in tallies),
        sum(tally.repeated for tally in tallies),
        sum(tally.failed for tally in tallies),
        [failure for tally in tallies for failure in tally.failures],
    )


def _configuration(api: ClusterApi, path: str) -> dict[str, Any]:
    status, answer = api.get(path)
    if status != http.HTTPStatus.OK:
        raise RuntimeError(f"{path}: {answer}")
    return answer


def _bundle(configuration: dict[str, Any]) -> bytes:
    return base64.b64decode(configuration["webhooks"][0]["clientConfig"].get("caBundle", ""))


@lru_cache(maxsize=8)
def trusting(bundle: bytes) -> ssl.SSLContext:
    """Return a TLS context that trusts only these CAs, and checks the server's name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=bundle.decode())
    return context


def sound() -> dict[str, Any]:
    """Return a valid job; the webhook gives its task a name."""
    task = {"type": "learner", "template": {"spec": {"containers": [{"name": "di-container", "image": "di"}]}}}
    return {
        "apiVersion": DIJOB.gvk.api_version,
        "kind": DIJOB.kind,
        "metadata": {"name": "soak", "namespace": "default"},
        "spec": {"tasks": [task]},
    }


def broken() -> dict[str, Any]:
    """Return a job that only the webhook rejects."""
    job = sound()
    return {**job, "spec": {**job["spec"], "preemptible": True}}


def defaulted(status: int, answer: dict[str, Any]) -> str:
    """Return the fault of the response to a valid job, or an empty text."""
    if status != http.HTTPStatus.CREATED:
        return f"a sound job: {status} {answer.get('message')}"
    name = answer["spec"]["tasks"][0].get("name")
    return "" if name == "learner" else f"a sound job: its task is called {name!r}, not 'learner'"


def refused(status: int, answer: dict[str, Any]) -> str:
    """Return the fault of the response to a broken job, or an empty text."""
    message = str(answer.get("message"))
    if status < http.HTTPStatus.BAD_REQUEST:
        return f"a broken job: {status}, and must be refused"
    return "" if "spec.preemptible" in message else f"a broken job: {status} {message}"
