"""Runs the programs of one control plane, and removes everything when its owner is gone. Run as a script.

The owner keeps the keeper's standard input open. When it closes, because the owner stops, crashes or is killed, the
keeper stops the programs in reverse order (an API server without etcd takes a minute to end) and removes the folder. So
nothing is left behind, even if the owner could not clean up.

`keeper.py FOLDER`. Each line of standard input is a program to start, as JSON: {"name", "argv", "socket",
"environment"}. A program with a socket is up when the socket accepts connections; only then is the next one started.
When a program ends by itself, the keeper prints a line with its name and exit code.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

PIDS_FILE = "pids"

_POLL = 0.1
_SOCKET_WAIT = 30.0
# Their data is thrown away, so there is no reason to wait long.
_STOP_WAIT = 5.0
_PR_SET_PDEATHSIG = 1


class _OwnerGone(Exception):
    """The owner has closed our standard input, or stopped us."""


class _Owner:
    """The process that started the keeper: it writes to our standard input, and reads our standard output."""

    def __init__(self) -> None:
        self.requested: deque[dict[str, Any]] = deque()
        self._half_line = b""

    def listen(self, seconds: float) -> None:
        """Read the programs that the owner requests; wait at most that long."""
        if not select.select([0], [], [], seconds)[0]:
            return
        content = os.read(0, 1 << 16)
        if not content:
            raise _OwnerGone
        *lines, self._half_line = (self._half_line + content).split(b"\n")
        self.requested.extend(map(json.loads, lines))

    def report(self, line: str) -> None:
        """Write a line to the owner."""
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            raise _OwnerGone from None


def main(folder: Path) -> None:
    """Run the requested programs until the owner is gone, and leave nothing behind."""
    signal.signal(signal.SIGTERM, _raise_owner_gone)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        _keep(_Owner(), running, folder)
    except _OwnerGone:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for process in reversed(running.values()):
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _raise_owner_gone(number: int, frame: object) -> None:
    raise _OwnerGone


def _keep(owner: _Owner, running: dict[str, subprocess.Popen[bytes]], folder: Path) -> None:
    reported: set[str] = set()
    while True:
        owner.listen(_POLL)
        while owner.requested:
            program = owner.requested.popleft()
            process = running[program["name"]] = _start(program, folder)
            with (folder / PIDS_FILE).open("a", encoding="ascii") as pids:
                pids.write(f"{process.pid}\n")
            if program["socket"]:
                _await_socket(folder / program["socket"], process, owner)
        for name, process in running.items():
            if name not in reported and process.poll() is not None:
                reported.add(name)
                owner.report(f"{name} (code {process.returncode})")


def _start(program: dict[str, Any], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / f"{program['name']}.log").open("ab") as log:
        # Safe: this process has only one thread.
        return subprocess.Popen(
            program["argv"],
            cwd=folder,
            env={**os.environ, **program["environment"]},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_keeper,  # noqa: PLW1509 - see above
        )


def _die_with_keeper() -> None:
    """Make Linux kill the program if the keeper is killed; `reap` then removes the folder."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _await_socket(path: Path, process: subprocess.Popen[bytes], owner: _Owner) -> None:
    deadline = time.monotonic() + _SOCKET_WAIT
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                # Relative: a socket's path has at most 108 bytes.
                probe.connect(path.name)
            except OSError:
                owner.listen(0.01)
            else:
                return


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    main(Path(sys.argv[1]))
