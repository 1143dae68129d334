"""Running a long command so that the person who waits sees that it is alive, and why it failed."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from controlplane.progress import Progress

_NEWS_EVERY = 10.0
_TOLD_LINES = 25


class BuildError(RuntimeError):
    """A program could not be built; the message says what failed, what it printed, and what to do."""


def run_with_news(
    command: Sequence[str],
    *,
    step: str,
    folder: Path,
    environment: Mapping[str, str],
    progress: Progress,
    remedy: str,
    counting: str = "lines",
    news_every: float = _NEWS_EVERY,
) -> str:
    """Run the command in the folder and give back what it printed on standard output.

    While it runs, the news is its last line on standard error, and how many there were of what it is `counting`.

    Raises:
        BuildError: it could not be started, or ended with another code than 0.
    """
    progress(step)
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        try:
            # In our process group: what interrupts us from outside (Ctrl-C, a CI's time limit) reaches the command too.
            process = subprocess.Popen(command, cwd=folder, env=dict(environment), stdout=out, stderr=errors)
        except OSError as error:
            raise BuildError(f"{step}: {command[0]} does not start: {error}\nTo fix it: {remedy}.") from error
        try:
            code = _wait(process, errors.fileno(), f"{step}: {{}} {counting}, {{}}", progress, news_every)
        except BaseException:
            _end(process)
            raise
        out.seek(0)
        errors.seek(0)
        if code != 0:
            printed = _last_lines(errors.read() + out.read())
            raise BuildError(
                f"{step}: failed with code {code}. Command:\n  {' '.join(map(str, command))}\n"
                f"It printed:\n{printed}\nTo fix it: {remedy}."
            )
        progress(f"{step}: done in {time.monotonic() - start:.0f} s")
        return out.read()


def _wait(process: subprocess.Popen[bytes], errors: int, news: str, progress: Progress, news_every: float) -> int:
    while True:
        try:
            return process.wait(timeout=news_every)
        except subprocess.TimeoutExpired:
            progress(_printed_so_far(errors, news))


def _printed_so_far(errors: int, news: str) -> str:
    """The news with the number of lines and the last one; read apart from the writer's position."""
    lines = os.pread(errors, os.fstat(errors).st_size, 0).decode(errors="replace").splitlines()
    return news.format(len(lines), lines[-1].removeprefix("go: ") if lines else "still at it")


def _last_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("go: downloading ")]
    return "\n".join(f"  {line}" for line in lines[-_TOLD_LINES:])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and wait for it. `go` ends its compilers when interrupted, not when terminated."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
