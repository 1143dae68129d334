"""Keeps the programs of one control plane, and takes everything away when its owner is gone. Run as a script.

The owner holds the other end of our standard input. When that closes (it stopped us, it crashed, it was killed), the
programs are stopped, the last started first (an API server without its etcd takes a minute to end), and the folder is
removed. So nothing is left behind, not even by an owner that had no chance to tidy up.

`keeper.py FOLDER`. Each line of standard input is a program to start: {"name", "argv", "socket", "environment"}, as
JSON. A program with a socket is up when the socket takes connections; the next one is started then. Standard output
carries one line when a program ends by itself: its name and its code.
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
# What they keep is thrown away, so there is no reason to wait long.
_STOP_WAIT = 5.0
_PR_SET_PDEATHSIG = 1


class _OwnerGone(Exception):
    """The owner let go of us."""


class _Owner:
    """Who started us: it speaks through our standard input, and listens to our standard output."""

    def __init__(self) -> None:
        self.wanted: deque[dict[str, Any]] = deque()
        self._half_line = b""

    def listen(self, seconds: float) -> None:
        """Wait that long for something to be said, and note the programs that are wanted."""
        if not select.select([0], [], [], seconds)[0]:
            return
        said = os.read(0, 1 << 16)
        if not said:
            raise _OwnerGone
        *lines, self._half_line = (self._half_line + said).split(b"\n")
        self.wanted.extend(map(json.loads, lines))

    def tell(self, line: str) -> None:
        """Say something, unless nobody is there to hear it."""
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            raise _OwnerGone from None


def main(folder: Path) -> None:
    """Start what the owner wants, keep it until the owner lets go, and leave nothing."""
    signal.signal(signal.SIGTERM, _let_go)
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


def _let_go(number: int, frame: object) -> None:
    raise _OwnerGone


def _keep(owner: _Owner, running: dict[str, subprocess.Popen[bytes]], folder: Path) -> None:
    reported: set[str] = set()
    while True:
        owner.listen(_POLL)
        while owner.wanted:
            program = owner.wanted.popleft()
            process = running[program["name"]] = _start(program, folder)
            with (folder / PIDS_FILE).open("a", encoding="ascii") as pids:
                pids.write(f"{process.pid}\n")
            if program["socket"]:
                _await_socket(folder / program["socket"], process, owner)
        for name, process in running.items():
            if name not in reported and process.poll() is not None:
                reported.add(name)
                owner.tell(f"{name} (code {process.returncode})")


def _start(program: dict[str, Any], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / f"{program['name']}.log").open("ab") as log:
        # Safe: this process has one thread, which lives as long as it does.
        return subprocess.Popen(
            program["argv"],
            cwd=folder,
            env={**os.environ, **program["environment"]},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_the_keeper,  # noqa: PLW1509 - see above
        )


def _die_with_the_keeper() -> None:
    """Ask Linux to end the program when the keeper itself is killed; the folder is then left to `reap`."""
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
