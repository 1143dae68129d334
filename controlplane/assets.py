"""Which programs are run: those that the environment names, or built ones."""

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
    """The programs of a control plane that only stores and admits."""

    kube_apiserver: Path
    etcd: Path
    kubectl: Path


@dataclass(frozen=True)
class WholeAssets(Assets):
    """The programs of a whole control plane: with controllers, a scheduler, and nodes that are simulated."""

    kube_controller_manager: Path
    kube_scheduler: Path
    kwok: Path


_Assets = TypeVar("_Assets", bound=Assets)


def find_or_build(progress: Progress, environment: Mapping[str, str] | None = None) -> Assets:
    """The programs from the environment, and for those that it does not name, from the cache, built if need be.

    Raises:
        BuildError: the environment names something that is not there, or a build failed.
    """
    return _find_or_build(Assets, progress, environment)


def find_or_build_whole(progress: Progress, environment: Mapping[str, str] | None = None) -> WholeAssets:
    """The same for a whole control plane.

    Raises:
        BuildError: as above.
    """
    return _find_or_build(WholeAssets, progress, environment)


def _find_or_build(assets: type[_Assets], progress: Progress, environment: Mapping[str, str] | None) -> _Assets:
    environment = os.environ if environment is None else environment
    names = {field.name: field.name.replace("_", "-") for field in fields(assets)}
    found = {name: from_environment(name, environment) for name in names.values()}
    found["kubectl"] = found["kubectl"] or _on_path("kubectl", environment)
    absent = [name for name, path in found.items() if path is None]
    built = build(absent, environment, progress) if absent else {}
    programs = {name: path or built[name] for name, path in found.items()}
    return assets(**{field: programs[name] for field, name in names.items()})


def from_environment(name: str, environment: Mapping[str, str]) -> Path | None:
    """The program that the environment gives: in the folder KUBEBUILDER_ASSETS, else TEST_ASSET_<NAME>.

    A folder that lacks one of the programs gives the others: the usual archives have no controllers, and come with and
    without kubectl.

    Raises:
        BuildError: the folder or the program that is named does not exist.
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
    found = shutil.which(name, path=environment.get("PATH"))
    return Path(found) if found else None
