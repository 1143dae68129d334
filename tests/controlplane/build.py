"""Building the control plane's programs from Go modules into the cache."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.controlplane.cache import binaries_folder, is_program, locked
from tests.controlplane.golang import Go, find_or_install_go
from tests.controlplane.progress import Progress
from tests.controlplane.run import BuildError, run_with_news
from tests.controlplane.versions import BUILT_AS, KUBERNETES, PACKAGES

# go.mod and go.sum: exactly these sources are built. `python -m tests.controlplane lock` writes them.
LOCKED_MODULE = Path(__file__).parent / "go"

_DOWNLOAD_REMEDY = (
    "see that this machine reaches a Go module proxy (`go env GOPROXY`) and that the disk has 5 GB free, "
    "then run it again; or point KUBEBUILDER_ASSETS at a folder that has kube-apiserver and etcd"
)
_COMPILE_REMEDY = (
    "see that the disk and the temporary folder (TMPDIR) have 2 GB free and the machine 3 GB of memory, "
    "then run it again (what is compiled is kept); or point KUBEBUILDER_ASSETS at a folder that has the programs"
)


def build(names: Sequence[str], environment: Mapping[str, str], progress: Progress) -> Path:
    """Build what of these programs is missing, and give the folder where all of them now are.

    A program appears under its name only when it is complete. Builds that meet wait for each other.

    Raises:
        BuildError: with what failed and what to do.
    """
    folder = binaries_folder(environment, KUBERNETES)
    if not missing(names, folder):
        return folder
    with locked(folder.parent / f"{KUBERNETES}.lock", progress):
        # What an interrupted build left. Nobody else builds now: we hold the lock.
        for half in folder.parent.glob(f"{KUBERNETES}.build-*"):
            shutil.rmtree(half, ignore_errors=True)
        if todo := missing(names, folder):
            _build_into(folder, todo, environment, progress)
    return folder


def missing(names: Sequence[str], folder: Path) -> list[str]:
    """Which of these programs the folder does not have, or has in part."""
    return [name for name in names if not is_program(folder / name)]


def _build_into(folder: Path, names: Sequence[str], environment: Mapping[str, str], progress: Progress) -> None:
    progress(f"building {', '.join(names)} {KUBERNETES} into {folder}: some minutes, once")
    go = find_or_install_go(environment, progress)
    with tempfile.TemporaryDirectory(prefix=f"{KUBERNETES}.build-", dir=folder.parent) as scratch:
        module = Path(scratch) / "module"
        shutil.copytree(LOCKED_MODULE, module)
        compile_programs(go, module, names, Path(scratch) / "bin", progress)
        folder.mkdir(exist_ok=True)
        for name in names:
            built = Path(scratch) / "bin" / BUILT_AS[name]
            if not is_program(built):
                raise BuildError(f"go build made no {built.name} of {PACKAGES[name]}; look at {__file__}")
            built.rename(folder / name)
    progress(f"{', '.join(names)} {KUBERNETES}: ready in {folder}")


def compile_programs(
    go: Go, module: Path, names: Sequence[str], into: Path, progress: Progress, *, mod: str = "readonly"
) -> None:
    """Download, then compile, the programs with the go.mod and go.sum in the folder `module`."""
    packages = [PACKAGES[name] for name in names]
    listed = run_with_news(
        [str(go.command), "list", "-deps", f"-mod={mod}", *packages],
        step="downloading the Go modules",
        folder=module,
        environment=go.environment,
        progress=progress,
        remedy=_DOWNLOAD_REMEDY,
        counting="modules",
    )
    into.mkdir()
    flags = [f"-mod={mod}", "-trimpath", "-buildvcs=false", "-ldflags", linker_flags(KUBERNETES)]
    run_with_news(
        [str(go.command), "build", "-v", *flags, "-o", f"{into}/", *packages],
        step=f"compiling {', '.join(names)} (up to {len(listed.splitlines())} packages)",
        folder=module,
        environment=go.environment,
        progress=progress,
        remedy=_COMPILE_REMEDY,
        counting="packages",
    )


def linker_flags(kubernetes: str) -> str:
    """Strip the program and stamp the version: without the stamp the server says v0.0.0-master."""
    major, minor, _ = kubernetes.removeprefix("v").split(".", 2)
    stamp = {"gitVersion": kubernetes, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamp.items())])
