"""Builds the webhooks in Go, once, into the project's cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from bench.comparison.servers import GO, TEMPLATES
from controlplane import Terminal
from controlplane.cache import cache_folder, is_program, locked
from controlplane.golang import find_or_install_go
from controlplane.run import run_with_progress

_GO = Path(__file__).parent.parent / "go"
MODULES: Mapping[str, Path] = {GO: _GO / "basic", TEMPLATES: _GO / "templates"}
_REMEDY = "see that this machine reaches a Go module proxy (`go env GOPROXY`) and that the disk has 2 GB free"


def find_or_build(module: Path) -> Path:
    """Return the program of a module, kept in the cache under the hash of its sources.

    Raises:
        BuildError: the build fails; the message says what to do.
    """
    progress = Terminal()
    folder = cache_folder(os.environ) / "bench" / f"{module.name}-{_digest(module)}"
    program = folder / "webhook"
    with locked(folder.with_suffix(".lock"), progress):
        if not is_program(program):
            go = find_or_install_go(os.environ, progress)
            half = folder / "half"
            run_with_progress(
                [str(go.command), "build", "-p=2", "-trimpath", "-buildvcs=false", "-o", str(half), "."],
                step=f"compiling the webhook {module.name} in Go (some minutes, once)",
                folder=module,
                environment=go.environment,
                progress=progress,
                remedy=_REMEDY,
            )
            half.rename(program)
    return program


def _digest(module: Path) -> str:
    sources = sorted([*module.glob("*.go"), module / "go.mod", module / "go.sum"])
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
