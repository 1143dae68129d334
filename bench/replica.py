"""Runs `jobgate serve` as a process on loopback, and measures its memory and descriptors over time."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from controlplane.webhook import COMMAND, environment, stop

#: Limits for the start of a server on a busy machine, and for its end, in seconds.
START, STOP = 120.0, 40.0
#: How much more a server may hold in the last quarter than in the first: the noise of the memory allocator.
MEMORY_SHARE, MEMORY_MIB, DESCRIPTORS = 0.10, 8.0, 4


@dataclass
class Replica:
    """A server process, and its measurements."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int
    health: int
    memory: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def measure(self, known: int = 0) -> None:
        """Record memory in MiB, and the number of descriptors, except `known` connections.

        Raises:
            FileNotFoundError: the process is gone.
        """
        self.memory.append(self.resident())
        self.descriptors.append(len(list(Path(f"/proc/{self.process.pid}/fd").iterdir())) - known)

    def forget(self) -> None:
        """Discard the measurements."""
        self.memory.clear()
        self.descriptors.clear()

    def resident(self, word: str = "VmRSS") -> float:
        """Return the resident memory in MiB; with `VmHWM` its peak."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split(f"{word}:")[1].split()[0]) / 1024

    def ready(self) -> bool:
        """Whether `/readyz` succeeds."""
        try:
            with urlopen(f"http://127.0.0.1:{self.health}/readyz", timeout=5) as answer:  # its own port
                return bool(answer.status == 200)
        except HTTPError as error:
            error.close()
            return False
        except OSError:
            return False

    def stop(self) -> None:
        """Stop it as Kubernetes does."""
        stop(self.process, STOP)


@contextmanager
def serving(log: Path, *flags: str, files: int | None = None) -> Iterator[Replica]:
    """Run a server with these flags on free loopback ports; `files` is its soft limit of open files.

    Raises:
        RuntimeError: it ends before it listens.
        TimeoutError: it does not listen in time.
    """
    arguments = ["serve", "--bind=127.0.0.1", "--port=0", "--health-port=0", *flags]
    with log.open("wb") as file:
        process = subprocess.Popen([*COMMAND, *arguments], stderr=file, env=environment())
    if files is not None:
        hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (files, hard))
    try:
        line = _listening(process, log)
        yield Replica(process, log, line["port"], line["healthPort"])
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _listening(process: subprocess.Popen[bytes], log: Path) -> dict[str, int]:
    end = time.monotonic() + START
    while time.monotonic() < end:
        for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
            if '"serving"' in line and line.endswith("\n"):
                ports: dict[str, int] = json.loads(line)
                return ports
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {log.read_text(encoding='utf-8')[-1000:]}")
        time.sleep(0.05)
    raise TimeoutError(f"the server does not listen ({log.name}): not after {START:g} s")


def quarters(values: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the first and the last quarter."""
    quarter = max(1, len(values) // 4)
    return statistics.median(values[:quarter]), statistics.median(values[-quarter:])


def grown(replicas: Sequence[Replica]) -> Iterator[str]:
    """Report each server that uses more memory or descriptors at the end than at the start."""
    for number, replica in enumerate(replicas):
        first, last = quarters(replica.memory)
        if last - first > max(MEMORY_MIB, MEMORY_SHARE * first):
            yield f"server {number}: {first:.1f} MiB of memory in the first quarter, {last:.1f} in the last"
        first, last = quarters(replica.descriptors)
        if last - first > DESCRIPTORS:
            yield f"server {number}: {first:g} descriptors in the first quarter, {last:g} in the last"
