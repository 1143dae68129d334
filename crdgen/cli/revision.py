"""Files as they were at a git revision."""

import subprocess
from pathlib import Path
from shutil import which

from crdgen.cli.command import Unusable


def at_revision(path: str, revision: str) -> dict[str, bytes]:
    """Return a file, or all files below a folder, as they were: their texts by name; empty where there was nothing.

    Raises:
        Unusable: There is no git, no repository or no such revision.
    """
    here = Path(path).absolute()
    folder, name = (here, ".") if here.is_dir() else (here.parent, here.name)
    if not folder.is_dir():
        raise Unusable(f"{path}: no such file or folder")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise Unusable(f"{path}: {revision} is no revision of its git repository, or there is none")
    tree = commit.decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", tree, "--", name) or b""
    names = [entry.decode("utf-8", "surrogateescape") for entry in listed.split(b"\x00")]
    return {found: _git(folder, "show", f"{tree}:./{found}") or b"" for found in names if found}


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints, or None where it fails."""
    program = which("git")
    if program is None:
        raise Unusable("git is not installed: compare two files instead")
    done = subprocess.run([program, "-C", str(folder), *arguments], capture_output=True, check=False)  # noqa: S603
    return done.stdout if done.returncode == 0 else None
