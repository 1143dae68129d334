"""Load on a server, from a separate core."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = Path(__file__).with_name("load.lua")
#: Connections of a server under full load: enough to keep it busy while answers are on their way.
CONNECTIONS = 8
#: For reviews that take so long that the server would shed queued ones.
CONNECTIONS_OF_LARGE = 2


@dataclass(frozen=True)
class Load:
    """Results of the callers, latencies in milliseconds."""

    requests: int
    seconds: float
    failed: int
    wrong: int
    p50: float
    p99: float
    p999: float


@dataclass(frozen=True)
class Sent:
    """Requests: the bodies in a file, one in each line, to a path; each response must contain the words."""

    path: str
    bodies: Path
    words: str


def drive(wrk: str, port: int, sent: Sent, seconds: int, core: int, *, connections: int = CONNECTIONS) -> Load:
    """Send requests for some seconds, as fast as the server responds."""
    command = [wrk, "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"]
    command += ["--timeout", "20s", "--script", str(_SCRIPT), f"https://127.0.0.1:{port}"]
    return _load([*command, "--", sent.path, str(sent.bodies), sent.words], core)


def arrive(port: int, sent: Sent, seconds: int, core: int, rate: float) -> Load:
    """Send requests for some seconds, at random times, at this rate per second."""
    command = [sys.executable, "-m", "bench.comparison.arrivals", str(port), sent.path, str(sent.bodies), sent.words]
    return _load([*command, str(rate), str(seconds)], core)


def _load(command: list[str], core: int) -> Load:
    pinned = ["taskset", "--cpu-list", str(core), *command]
    ran = subprocess.run(pinned, check=True, capture_output=True, text=True)
    return Load(**json.loads(ran.stdout.splitlines()[-1]))
