"""Builds the control plane's programs from Go modules into the cache."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from controlplane.cache import binaries_folder, is_program, locked
from controlplane.golang import Go, find_or_install_go, upstream_mod
from controlplane.module import kubernetes_go_mod
from controlplane.progress import Progress
from controlplane.run import BuildError, run_with_progress
from controlplane.sources import SOURCES, Source, built_as
from controlplane.versions import KUBERNETES, KWOK

_DOWNLOAD_REMEDY = (
    "see that this machine reaches a Go module proxy (`go env GOPROXY`) and that the disk has 5 GB free, "
    "then run it again; or point KUBEBUILDER_ASSETS at a folder that has the programs"
)
_COMPILE_REMEDY = (
    "see that the disk and the temporary folder (TMPDIR) have 2 GB free and the machine 3 GB of memory, "
    "then run it again (what is compiled is kept); or point KUBEBUILDER_ASSETS at a folder that has the programs"
)

# Linking a program takes at least 1 GB of memory, and by default Go links one per processor at once.
_PARALLEL_LINKS = 2


def build(names: Sequence[str], environment: Mapping[str, str], progress: Progress) -> dict[str, Path]:
    """Build the programs that are missing, and return the path of each program.

    A program appears under its name only when it is complete. Parallel builds wait for each other.

    Raises:
        BuildError: a step failed; the message says which, and what to do.
    """
    programs: dict[str, Path] = {}
    for source in SOURCES:
        if wanted := [name for name in names if name in source.packages]:
            folder = _build_from(source, wanted, environment, progress)
            programs |= {name: folder / name for name in wanted}
    return programs


def missing(names: Sequence[str], folder: Path) -> list[str]:
    """Return the programs that are not in the folder, or not complete."""
    return [name for name in names if not is_program(folder / name)]


def _build_from(source: Source, names: Sequence[str], environment: Mapping[str, str], progress: Progress) -> Path:
    """Build the missing programs of a source together, and return the folder of all of them."""
    folder = binaries_folder(environment, source.cached_as)
    if not missing(names, folder):
        return folder
    with locked(folder.parent / f"{source.cached_as}.lock", progress):
        # Remove what an interrupted build left. This process has the lock, so no other build runs.
        for half in folder.parent.glob(f"{source.cached_as}.build-*"):
            shutil.rmtree(half, ignore_errors=True)
        if todo := missing(names, folder):
            _build_into(folder, source, todo, environment, progress)
    return folder


def _build_into(
    folder: Path, source: Source, names: Sequence[str], environment: Mapping[str, str], progress: Progress
) -> None:
    progress(f"building {', '.join(names)} into {folder}: some minutes, once")
    go = find_or_install_go(environment, progress)
    with tempfile.TemporaryDirectory(prefix=f"{source.cached_as}.build-", dir=folder.parent) as scratch:
        module = Path(scratch) / "module"
        module.mkdir()
        mod = _write_module(go, source, module)
        compile_programs(go, source, module, names, Path(scratch) / "bin", progress, mod=mod)
        folder.mkdir(exist_ok=True)
        for name in names:
            built = Path(scratch) / "bin" / built_as(source.packages[name])
            if not is_program(built):
                raise BuildError(f"go build made no {built.name} of {source.packages[name]}; look at {__file__}")
            built.rename(folder / name)
    progress(f"{', '.join(names)}: ready in {folder}")


def _write_module(go: Go, source: Source, module: Path) -> str:
    """Write go.mod, and go.sum if there is one; return the value of `go build -mod`."""
    if source.folder is None:
        go_mod = kubernetes_go_mod(KUBERNETES, upstream_mod(go, f"k8s.io/kubernetes@{KUBERNETES}"), KWOK)
        (module / "go.mod").write_text(go_mod, encoding="utf-8")
        return "mod"
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(source.folder / name, module / name)
    return "readonly"


def compile_programs(
    go: Go, source: Source, module: Path, names: Sequence[str], into: Path, progress: Progress, *, mod: str = "readonly"
) -> None:
    """Download and compile programs of the source, with the go.mod and go.sum in the folder `module`."""
    packages = [source.packages[name] for name in names]
    listed = run_with_progress(
        [str(go.command), "list", "-deps", f"-mod={mod}", *packages],
        step=f"downloading the Go modules of {', '.join(names)}",
        folder=module,
        environment=go.environment,
        progress=progress,
        remedy=_DOWNLOAD_REMEDY,
        counting="modules",
    )
    into.mkdir()
    flags = [f"-mod={mod}", f"-p={_PARALLEL_LINKS}", "-trimpath", "-buildvcs=false", "-ldflags", source.linker_flags()]
    run_with_progress(
        [str(go.command), "build", "-v", *flags, "-o", f"{into}/", *packages],
        step=f"compiling {', '.join(names)} (up to {len(listed.splitlines())} packages)",
        folder=module,
        environment=go.environment,
        progress=progress,
        remedy=_COMPILE_REMEDY,
        counting="packages",
    )
