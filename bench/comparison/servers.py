"""The compared servers, each a process on one core."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

from certs import issue_generation, service_names
from controlplane.webhook import stop

JOBGATE, GO, TEMPLATES, CONSTANT = "jobgate", "controller-runtime", "Go, full templates", "constant"
#: Seconds in which a server must listen.
STARTS_WITHIN = 60.0
#: Seconds in which it must have listed the largest cluster.
READY_WITHIN = 300.0
_NAMES = service_names("jobgate-webhook", "jobgate-system", extra_names=["127.0.0.1"])
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    port: int
    pid: int

    def cpu(self) -> float:
        """Return the CPU seconds of all its threads and worker processes so far."""
        return sum(_cpu(pid) for pid in self._processes())

    def rss(self) -> float:
        """Return the memory of all its processes, in MiB."""
        return sum(_status(pid, "VmRSS") for pid in self._processes())

    def peak(self) -> float:
        """Return the peak memory of its processes, in MiB."""
        return sum(_status(pid, "VmHWM") for pid in self._processes())

    def _processes(self) -> list[int]:
        pids = [self.pid]
        for pid in pids:  # the list grows in the loop
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
        return pids


def _cpu(pid: int) -> float:
    # utime and stime, proc(5); the name before them is in brackets and may have blanks.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def write_certificate(folder: Path) -> str:
    """Write tls.crt and tls.key, and return the CA certificate."""
    generation = issue_generation(_NAMES, datetime.now(UTC))
    (folder / "tls.crt").write_bytes(generation.certificate)
    (folder / "tls.key").write_bytes(generation.key)
    return generation.ca_certificate.decode()


def jobgate(tls: Path, port: int, metrics: int, *further: str) -> list[str]:
    """Return the command of the server, as users start it; $BENCH_JOBGATE is the program of another version."""
    program = os.environ.get("BENCH_JOBGATE", str(Path(sys.executable).with_name("jobgate")))
    command = [program, "serve", "--bind", "127.0.0.1", "--port", str(port)]
    command += ["--health-port", str(metrics)]
    return [*command, "--tls-cert", str(tls / "tls.crt"), "--tls-key", str(tls / "tls.key"), *further]


def commands(
    tls: Path, ports: Mapping[str, tuple[int, int]], built: Mapping[str, Path], kubeconfig: Path
) -> dict[str, list[str]]:
    """Return the command of each server, with its port and that of its metrics."""
    served = {JOBGATE: jobgate(tls, *ports[JOBGATE], "--kubeconfig", str(kubeconfig))}
    served[CONSTANT] = [sys.executable, "-m", "bench.comparison.constant"]
    served[CONSTANT] += ["--port", str(ports[CONSTANT][0]), "--tls", str(tls)]
    for name, program in built.items():
        port, metrics = ports[name]
        served[name] = [str(program), "-port", str(port), "-metrics", f"127.0.0.1:{metrics}", "-cert-dir", str(tls)]
    return served


def await_ready(metrics: int) -> None:
    """Wait until `/readyz` succeeds: the server has then listed the cluster's objects."""
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{metrics}/readyz", timeout=5):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise RuntimeError("the server does not become ready") from error
        time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    """Return free ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def started(
    name: str, command: Sequence[str], port: int, core: int | None, log: Path, within: float = STARTS_WITHIN
) -> Iterator[Server]:
    """Run a server while the block runs, on one core or on all. Its log goes to a file."""
    pinned = [] if core is None else ["taskset", "--cpu-list", str(core)]
    environment = {**os.environ, "GOMAXPROCS": "1"}
    with log.open("wb") as lines:
        process = subprocess.Popen([*pinned, *command], env=environment, stdout=lines, stderr=lines)
    try:
        deadline = time.monotonic() + within
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} does not listen: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)
        yield Server(name, port, process.pid)
    finally:
        stop(process, 10.0)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
