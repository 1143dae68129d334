"""jobgate on a control plane as in a cluster: replicas behind one address, rotation, controller and runners."""

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError
from urllib.request import urlopen

from controlplane.client import ClusterApi
from controlplane.forwarding import carry
from controlplane.plane import ControlPlane
from controlplane.processes.sandbox import children_of
from controlplane.rights import SYSTEM
from controlplane.runner import KINDS, RUN
from controlplane.runner import install as install_runner
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, PATIENT, InstalledWebhook, environment, jobgate, stop

START = WAIT = 120.0
#: Seconds between two readiness checks of replicas.
READINESS_PERIOD = 0.2


class Program:
    """A process of jobgate; its clock can be shifted.

    Attributes:
        log: its log file.
        process: the process.
    """

    def __init__(self, folder: Path, name: str, *arguments: str, clock: bool = False, log: Path | None = None) -> None:
        """`clock`: whether its clock can be shifted with `ahead`."""
        self.log = log or folder / f"{name}.log"
        self._clock = folder / f"{name}.clock"
        self.ahead(0)
        command = [sys.executable, "-m", "controlplane.clock", str(self._clock)] if clock else COMMAND
        with self.log.open("ab") as lines:
            start = lines.tell()
            self.process = subprocess.Popen(
                [*command, *arguments], stderr=lines, stdout=lines, env=environment(), cwd=Path.cwd()
            )
        self._start = start
        self._ports: dict[str, int] = {}

    def ahead(self, seconds: float) -> None:
        """Shift its clock by this many seconds."""
        written = self._clock.with_suffix(".new")
        written.write_text(str(seconds))
        written.replace(self._clock)

    def lines(self) -> list[dict[str, Any]]:
        """Return its log lines."""
        text = self.log.read_bytes()[self._start :].decode()
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n") and line[0] == "{"]

    def port(self, name: str = "healthPort") -> int:
        """Return the port that it logs at its start; 0 before that."""
        if name not in self._ports:
            for line in self.lines():
                if name in line:
                    self._ports[name] = int(line[name])
                    break
        return self._ports.get(name, 0)

    def ask(self, path: str) -> str:
        """Return the response of its health port; empty if there is no response, or another code than 200."""
        try:
            with urlopen(f"http://127.0.0.1:{self.port()}/{path}", timeout=15) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            error.close()
        except OSError:
            pass
        return ""

    def leads(self) -> bool:
        """Whether it holds its Lease, according to its metrics."""
        return 'leader_election_master_status{name="' in (text := self.ask("metrics")) and "} 1.0" in next(
            line for line in text.splitlines() if line.startswith("leader_election_master_status{")
        )

    def kill(self) -> None:
        """Kill it, like a crash."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it as Kubernetes does."""
        stop(self.process)


class Service:
    """One address for several replicas, like a Service: ready replicas get new connections in turn.

    Attributes:
        port: port of the address.
        replicas: the replicas behind it.
        only_ready: whether only ready replicas get connections.
    """

    def __init__(self) -> None:
        self.replicas: list[Program] = []
        self.only_ready = True
        self._ready: list[Program] = []
        self._turn = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._stopped = threading.Event()
        self._forwarding = threading.Thread(target=self._loop.run_forever, name="service", daemon=True)
        self._forwarding.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._forward, "127.0.0.1", 0), self._loop
        ).result(10)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._checking = threading.Thread(target=self._check, name="readiness", daemon=True)
        self._checking.start()

    def close(self) -> None:
        """Accept no more connections."""
        self._stopped.set()
        self._checking.join()
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._forwarding.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        carrying = asyncio.all_tasks() - {asyncio.current_task()}
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)

    def ready(self) -> int:
        """Return the number of ready replicas."""
        return len(self._targets())

    def _targets(self) -> list[Program]:
        """Return the replicas that get new connections: one that was removed since the last check gets none."""
        if not self.only_ready:
            return [replica for replica in self.replicas if replica.port("port")]
        return [replica for replica in self._ready if replica in self.replicas]

    def _check(self) -> None:
        while not self._stopped.wait(READINESS_PERIOD):
            self._ready = [replica for replica in list(self.replicas) if replica.port() and replica.ask("readyz")]

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        targets = self._targets()
        if not targets:
            writer.close()
            return
        try:
            back, forth = await asyncio.open_connection(
                "127.0.0.1", targets[next(self._turn) % len(targets)].port("port")
            )
        except OSError:
            writer.close()
            return
        await carry(reader, writer, back, forth)


class Installation(InstalledWebhook):
    """jobgate as in a cluster, with a rotated certificate in a Secret.

    Attributes:
        service: the address that the API server calls, with the replicas.
    """

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        super().__init__(plane, folder, RUN)
        self.service = Service()
        self.port = self.service.port
        self._number = itertools.count()

    def _metrics(self) -> str:
        return "".join(replica.ask("metrics") for replica in self.service.replicas)

    def replica(self, *settings: str, clock: bool = False, kubeconfig: Path | None = None) -> Program:
        """Start one more replica."""
        arguments = [
            "serve", PATIENT, "--bind=127.0.0.1", "--port=0", "--health-port=0", f"--tls-secret={SYSTEM}/jobgate-webhook-tls",
            f"--kubeconfig={kubeconfig or self.plane.kubeconfig}", *RUN, *settings,
        ]  # fmt: skip
        replica = Program(self.folder, f"replica-{next(self._number)}", *arguments, clock=clock)
        self.service.replicas.append(replica)
        return replica

    def remove(self, replica: Program, *, kill: bool = False) -> None:
        """Stop a replica after it is removed from the Service, or kill it while it still gets connections."""
        if kill:
            replica.kill()
            time.sleep(READINESS_PERIOD)
        self.service.replicas.remove(replica)
        if not kill:
            replica.stop()

    def rotate(self, *flags: str) -> str:
        """Rotate the certificate if it is due, or with `--force`."""
        addresses = [f"--address=127.0.0.1:{replica.port('port')}" for replica in self.service.replicas]
        return jobgate("certs", "rotate", "--soak=0", *addresses, f"--kubeconfig={self.plane.kubeconfig}", *flags)

    def install(self) -> None:
        """Apply the manifests, and issue the certificate."""
        super().install()
        self.rotate()
        wait_for(lambda: self.service.ready() == len(self.service.replicas), START, what="the replicas are ready")

    def _serve(self) -> None:
        started = [self.replica() for _ in range(2)]
        wait_for(lambda: all(replica.port("port") for replica in started), START, what="the replicas listen")

    def stop(self) -> None:
        """Stop all replicas."""
        for replica in list(self.service.replicas):
            self.remove(replica, kill=True)
        self.service.close()

    def watch(self) -> Program:
        """Start the rotation."""
        addresses = [f"--address=127.0.0.1:{replica.port('port')}" for replica in self.service.replicas]
        arguments = ["certs", "watch", "--health-port=0", "--bind=127.0.0.1", "--soak=0", *addresses]
        return Program(self.folder, "rotation", *arguments, f"--kubeconfig={self.plane.kubeconfig}")

    def controller(self, kubeconfig: Path | None = None) -> Program:
        """Start a controller."""
        arguments = ["control", "--bind=127.0.0.1", "--health-port=0", f"--lease-namespace={SYSTEM}", *RUN]
        return Program(
            self.folder,
            f"controller-{next(self._number)}",
            *arguments,
            f"--kubeconfig={kubeconfig or self.plane.kubeconfig}",
        )

    def runner(self, credentials: Path, *, clock: bool = False) -> Program:
        """Start a runner."""
        arguments = ["run", "--bind=127.0.0.1", "--health-port=0", f"--lease-namespace={SYSTEM}", *RUN]
        return Program(
            self.folder, f"runner-{next(self._number)}", *arguments, f"--kubeconfig={credentials}", clock=clock
        )

    def runner_credentials(self) -> Path:
        """Install the runner's rights, and return the kubeconfig of its account."""
        return install_runner(self.plane, KINDS)


@contextmanager
def running(*programs: Program) -> Iterator[None]:
    """Stop the programs at the end."""
    try:
        yield
    finally:
        for program in programs:
            program.stop()


def pid_of(plane: ControlPlane, name: str) -> int:
    """Return the PID of a program of a control plane."""
    return next(pid for pid in children_of(plane.pid) if Path(f"/proc/{pid}/comm").read_text().strip() == name[:15])


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Pause a process while the block runs."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def account(api: ClusterApi, plane: ControlPlane, namespace: str, name: str, role: str = "edit") -> ClusterApi:
    """Return a client of a service account with a role in the namespace."""
    place = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    assert api.post(place, {"metadata": {"name": name}})[0] in {201, 409}
    binding = {
        "metadata": {"name": f"{name}-{role}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    status, answer = api.post(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings", binding)
    assert status in {201, 409}, answer
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    status, answer = api.post(f"{place}/{name}/token", request)
    assert status == 201, answer
    return ClusterApi(plane.url, plane.ca.read_text(), answer["status"]["token"])


class Load:
    """Sends requests again and again in threads, until the end of the `with`.

    Attributes:
        answers: for each request: its name, the time, the status code and the message.
    """

    def __init__(self, *callers: Any) -> None:
        """`callers` are functions that send a request, and return its name and the response."""
        self.answers: list[tuple[str, float, int, str]] = []
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(caller,), daemon=True) for caller in callers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(WAIT)

    def of(self, prefix: str) -> list[tuple[str, float, int, str]]:
        """Return the responses to requests with this prefix of the name."""
        return [answer for answer in self.answers if answer[0].startswith(prefix)]

    def _call(self, caller: Any) -> None:
        while not self._end.is_set():
            with suppress(OSError):
                name, (status, answer) = caller()
                self.answers.append((name, time.monotonic(), status, str(answer.get("message", ""))))
            self._end.wait(0.05)


def longest_gap(times: Sequence[float]) -> float:
    """Return the longest time between two consecutive times."""
    return max((after - before for before, after in itertools.pairwise(times)), default=0.0)


def shown(figures: str) -> None:
    """Print measurements; `pytest -s` shows them."""
    sys.stdout.write(f"\n{figures}\n")
