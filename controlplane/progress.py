"""Progress lines for the terminal, with the elapsed time."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

# Called with one line at a time.
Progress = Callable[[str], None]


class Terminal:
    """Writes each line with the time since the start: `[ 1:02] compiling kube-apiserver`."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._start = clock()

    def __call__(self, line: str) -> None:
        """Write the line, and flush it."""
        stream = self._stream or sys.stderr
        stream.write(f"[{clock_face(self._clock() - self._start)}] {line}\n")
        stream.flush()


def silent(line: str) -> None:
    """Show nothing."""


def clock_face(seconds: float) -> str:
    """Minutes and seconds, aligned for the first ninety-nine minutes: ` 1:02`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:2d}:{rest:02d}"
