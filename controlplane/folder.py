"""The temporary folder of one control plane, and the removal of folders whose keeper was killed."""

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
# A folder that is younger may be between its making and its locking.
_YOUNGEST_STALE = 60.0


@dataclass(frozen=True)
class LockedFolder:
    """A new folder, and the descriptor of its lock, held while it is open."""

    path: Path
    lock: int


def make_folder() -> LockedFolder:
    """A private folder whose lock we hold; hand the descriptor on to the keeper, then close it."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return LockedFolder(path, lock)


def reap(parent: Path | None = None, youngest: float = _YOUNGEST_STALE) -> list[Path]:
    """Remove the folders of keepers that were killed, end what they started, and name those folders."""
    candidates = sorted((parent or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"))
    return [folder for folder in candidates if _is_stale(folder, youngest) and _remove(folder)]


def _is_stale(folder: Path, youngest: float) -> bool:
    try:
        about = folder.lstat()
        if about.st_uid != os.getuid() or time.time() - about.st_mtime < youngest:
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
    """Whether that process is one of the folder's: its number may be another's by now."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
    except OSError:
        return False
