"""Wheels for tests: those of this checkout, as `make dist` builds them, and those of all locked packages."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from controlplane.cache import cache_folder

UV = Path(sys.executable).with_name("uv")
ROOT = Path(__file__).parents[2]


def make_dist(folder: Path) -> Path:
    """Build what `make dist` builds into a folder."""
    command = ["make", "--old-file=install", "dist", f"VENV={sys.prefix}", f"DIST={folder}"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, timeout=300)
    return folder


def locked_wheels(folder: Path) -> Path:
    """Return a folder with the wheels of requirements.lock: downloads through another folder are kept for the next time."""
    lock = hashlib.sha256((ROOT / "requirements.lock").read_bytes() + sys.version.encode()).hexdigest()[:16]
    wheels = cache_folder(os.environ) / "image" / lock
    if not wheels.exists():
        pip("download", "--no-deps", "--require-hashes", "--dest", str(folder), "--requirement", "requirements.lock")
        wheels.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, wheels, dirs_exist_ok=True)
    return wheels


def pip(*arguments: str, folder: Path = ROOT) -> None:
    """Run pip in a folder, without the variables of this Python."""
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(command, cwd=folder, check=True, timeout=550, env=environment)


def environment_with(folder: Path, wanted: str, *wheels: Path) -> Path:
    """Create an empty environment, install what is wanted from wheels alone, and return its folder of programs."""
    links = [word for place in wheels for word in ("--find-links", str(place))]
    subprocess.run([UV, "venv", "--quiet", "--offline", "--python", sys.executable, folder], check=True)
    install: list[str | Path] = [
        UV,
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-index",
        *links,
        "--python",
        folder / "bin/python",
    ]
    subprocess.run([*install, wanted], check=True, timeout=300)
    return folder / "bin"
