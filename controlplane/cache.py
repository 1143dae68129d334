"""The cache of built programs, and its lock."""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from controlplane.progress import Progress

_PROGRESS_PERIOD = 10.0


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The project's cache folder: `$JOBGATE_CACHE`, `$XDG_CACHE_HOME/jobgate` or `~/.cache/jobgate`."""
    if own := environment.get("JOBGATE_CACHE"):
        return Path(own).absolute()
    # The XDG specification says to ignore relative paths.
    if (shared := environment.get("XDG_CACHE_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "jobgate"
    return Path.home() / ".cache" / "jobgate"


def binaries_folder(environment: Mapping[str, str], version: str) -> Path:
    """The folder of a version's programs."""
    return cache_folder(environment) / "controlplane" / version


@contextmanager
def locked(lock: Path, progress: Progress, poll: float = 0.2) -> Iterator[None]:
    """Hold the lock file; wait while another process holds it, and report that.

    The kernel releases the lock when the process ends, however it ends.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w", encoding="ascii") as handle:
        next_report = 0.0
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= next_report:
                    progress(f"waiting for another build, which holds {lock}")
                    next_report = time.monotonic() + _PROGRESS_PERIOD
                time.sleep(poll)
        yield


def is_program(path: Path) -> bool:
    """Whether the path is an executable file that is not empty."""
    return path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)
