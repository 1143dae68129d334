"""Finds the programs: named by environment variables, or built."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from controlplane.build import build
from controlplane.cache import is_program
from controlplane.progress import Progress
from controlplane.run import BuildError


@dataclass(frozen=True)
class Assets:
    """The programs of a control plane with an API server and etcd only."""

    kube_apiserver: Path
    etcd: Path
    kubectl: Path


@dataclass(frozen=True)
class WholeAssets(Assets):
    """The programs of a whole control plane: with controllers, a scheduler, and simulated nodes."""

    kube_controller_manager: Path
    kube_scheduler: Path
    kwok: Path


_Assets = TypeVar("_Assets", bound=Assets)


def find_or_build(progress: Progress, environment: Mapping[str, str] | None = None) -> Assets:
    """Return the programs: from the environment, else from the cache, built if they are missing there.

    Raises:
        BuildError: the environment names a missing program, or a build failed.
    """
    return _find_or_build(Assets, progress, environment)


def find_or_build_whole(progress: Progress, environment: Mapping[str, str] | None = None) -> WholeAssets:
    """Return the programs of a whole control plane, as `find_or_build` does.

    Raises:
        BuildError: the environment names a missing program, or a build fails.
    """
    return _find_or_build(WholeAssets, progress, environment)


def _find_or_build(assets: type[_Assets], progress: Progress, environment: Mapping[str, str] | None) -> _Assets:
    environment = os.environ if environment is None else environment
    names = {field.name: field.name.replace("_", "-") for field in fields(assets)}
    paths = {name: from_environment(name, environment) for name in names.values()}
    paths["kubectl"] = paths["kubectl"] or _on_path("kubectl", environment)
    absent = [name for name, path in paths.items() if path is None]
    built = build(absent, environment, progress) if absent else {}
    programs = {name: path or built[name] for name, path in paths.items()}
    return assets(**{field: programs[name] for field, name in names.items()})


def from_environment(name: str, environment: Mapping[str, str]) -> Path | None:
    """Return the program in the folder $KUBEBUILDER_ASSETS, or at the path $TEST_ASSET_<NAME>.

    A folder need not have all programs: the usual archives have no controllers, and some have no kubectl.

    Raises:
        BuildError: the named folder or program does not exist.
    """
    if folder := environment.get("KUBEBUILDER_ASSETS"):
        if not Path(folder).is_dir():
            raise BuildError(f"KUBEBUILDER_ASSETS={folder}: no such folder; unset it, or name one that has {name}")
        if is_program(Path(folder) / name):
            return Path(folder).absolute() / name
    variable = "TEST_ASSET_" + name.upper().replace("-", "_")
    if program := environment.get(variable):
        if not is_program(Path(program)):
            raise BuildError(f"{variable}={program}: not a program; unset it, or give the path of {name}")
        return Path(program).absolute()
    return None


def _on_path(name: str, environment: Mapping[str, str]) -> Path | None:
    program = shutil.which(name, path=environment.get("PATH"))
    return Path(program) if program else None
