"""Runs a long command: shows that it is alive, and reports why it fails."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from controlplane.progress import Progress

_PROGRESS_PERIOD = 10.0
_REPORTED_LINES = 25


class BuildError(RuntimeError):
    """A build failed; the message says which step, its output, and what to do."""


def run_with_progress(
    command: Sequence[str],
    *,
    step: str,
    folder: Path,
    environment: Mapping[str, str],
    progress: Progress,
    remedy: str,
    counting: str = "lines",
    period: float = _PROGRESS_PERIOD,
) -> str:
    """Run the command in the folder, and return its standard output.

    While it runs, report its last line on standard error, and the number of lines, named by `counting`.

    Raises:
        BuildError: it does not start, or its exit code is not 0.
    """
    progress(step)
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        try:
            # In our process group, so that Ctrl-C or a CI's time limit interrupts the command, too.
            process = subprocess.Popen(command, cwd=folder, env=dict(environment), stdout=out, stderr=errors)
        except OSError as error:
            raise BuildError(f"{step}: {command[0]} does not start: {error}\nTo fix it: {remedy}.") from error
        try:
            code = _wait(process, errors.fileno(), f"{step}: {{}} {counting}, {{}}", progress, period)
        except BaseException:
            _end(process)
            raise
        out.seek(0)
        errors.seek(0)
        if code != 0:
            output = _last_lines(errors.read() + out.read())
            raise BuildError(
                f"{step}: failed with code {code}. Command:\n  {' '.join(map(str, command))}\n"
                f"It printed:\n{output}\nTo fix it: {remedy}."
            )
        progress(f"{step}: done in {time.monotonic() - start:.0f} s")
        return out.read()


def _wait(process: subprocess.Popen[bytes], errors: int, text: str, progress: Progress, period: float) -> int:
    while True:
        try:
            return process.wait(timeout=period)
        except subprocess.TimeoutExpired:
            progress(_progress_line(errors, text))


def _progress_line(errors: int, text: str) -> str:
    """The text with the number of lines and the last line. `pread` does not move the writer's position."""
    lines = os.pread(errors, os.fstat(errors).st_size, 0).decode(errors="replace").splitlines()
    return text.format(len(lines), lines[-1].removeprefix("go: ") if lines else "still at it")


def _last_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("go: downloading ")]
    return "\n".join(f"  {line}" for line in lines[-_REPORTED_LINES:])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command, and wait for it. `go` ends its compilers on SIGINT, but not on SIGTERM."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
