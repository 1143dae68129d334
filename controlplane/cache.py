"""Where built programs are kept between runs, and who may write there."""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from controlplane.progress import Progress

_NEWS_EVERY = 10.0


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The project's cache, outside the tree: `$JOBGATE_CACHE`, `$XDG_CACHE_HOME/jobgate` or `~/.cache/jobgate`."""
    if own := environment.get("JOBGATE_CACHE"):
        return Path(own).absolute()
    # The XDG specification has relative paths ignored.
    if (shared := environment.get("XDG_CACHE_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "jobgate"
    return Path.home() / ".cache" / "jobgate"


def binaries_folder(environment: Mapping[str, str], version: str) -> Path:
    """The folder of one version's programs."""
    return cache_folder(environment) / "controlplane" / version


@contextmanager
def locked(lock: Path, progress: Progress, poll: float = 0.2) -> Iterator[None]:
    """Hold the lock file alone; wait, and say so, while another process has it.

    The kernel lets go of it when its holder ends, however it ends.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w", encoding="ascii") as handle:
        news = 0.0
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= news:
                    progress(f"waiting for another build, which holds {lock}")
                    news = time.monotonic() + _NEWS_EVERY
                time.sleep(poll)
        yield


def is_program(path: Path) -> bool:
    """Whether a non-empty file stands there that may be run."""
    return path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)
