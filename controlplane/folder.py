"""The temporary folder of a control plane, and the removal of folders that killed keepers left."""

import fcntl
import os
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from controlplane.keeper import PIDS_FILE

PREFIX = "jobgate-controlplane-"
_LOCK = "keeper.lock"
# A younger folder may be created and not locked yet.
_MIN_AGE = 60.0


@dataclass(frozen=True)
class LockedFolder:
    """A new folder, and the open descriptor that holds its lock."""

    path: Path
    lock: int


def make_folder() -> LockedFolder:
    """Create a private folder and lock it; pass the descriptor to the keeper, then close it."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return LockedFolder(path, lock)


def reap(parent: Path | None = None, min_age: float = _MIN_AGE) -> list[Path]:
    """End the programs of killed keepers, remove their folders, and return the removed folders."""
    candidates = sorted((parent or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"))
    return [folder for folder in candidates if _is_stale(folder, min_age) and _remove(folder)]


def _is_stale(folder: Path, min_age: float) -> bool:
    try:
        status = folder.lstat()
        if status.st_uid != os.getuid() or time.time() - status.st_mtime < min_age:
            return False
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(folder: Path) -> bool:
    for pid in _recorded_pids(folder):
        if _works_in(pid, folder):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _recorded_pids(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / PIDS_FILE).read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []


def _works_in(pid: int, folder: Path) -> bool:
    """Whether the process runs in the folder: its PID may belong to another process by now."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
    except OSError:
        return False
