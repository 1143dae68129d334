"""Whose programs are run."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.controlplane import assets
from tests.controlplane.assets import find_or_build, find_or_build_whole, from_environment
from tests.controlplane.progress import silent
from tests.controlplane.run import BuildError


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a program at a path below the test's folder."""

    def make(path: str) -> Path:
        made = tmp_path / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text("#!/bin/sh\n", encoding="ascii")
        made.chmod(made.stat().st_mode | stat.S_IXUSR)
        return made

    return make


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the build by one that notes what it was asked for."""
    asked: list[str] = []

    def build(names: Sequence[str], environment: object, progress: object) -> dict[str, Path]:
        asked.extend(names)
        return {name: Path("/cache", name) for name in names}

    monkeypatch.setattr(assets, "build", build)
    return asked


def test_the_folder_wins_over_the_single_program(tmp_path: Path, program: Callable[[str], Path]) -> None:
    in_folder, single = program("folder/etcd"), program("single/etcd")
    environment = {"KUBEBUILDER_ASSETS": str(tmp_path / "folder"), "TEST_ASSET_ETCD": str(single)}
    assert from_environment("etcd", environment) == in_folder


def test_the_single_program_is_taken_where_the_folder_lacks_it(tmp_path: Path, program: Callable[[str], Path]) -> None:
    program("folder/etcd")
    single = program("single/kube-apiserver")
    environment = {"KUBEBUILDER_ASSETS": str(tmp_path / "folder"), "TEST_ASSET_KUBE_APISERVER": str(single)}
    assert from_environment("kube-apiserver", environment) == single


def test_an_environment_that_names_nothing_gives_nothing() -> None:
    assert from_environment("etcd", {}) is None


@pytest.mark.parametrize("variable", ["KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD"])
def test_what_is_named_and_not_there_is_an_error_that_names_the_variable(variable: str) -> None:
    with pytest.raises(BuildError, match=f"{variable}=/nowhere"):
        from_environment("etcd", {variable: "/nowhere"})


def test_everything_is_built_where_the_machine_has_nothing(built: list[str]) -> None:
    found = find_or_build(silent, {"PATH": "/nowhere"})
    assert built == ["kube-apiserver", "etcd", "kubectl"]
    assert found.kube_apiserver == Path("/cache/kube-apiserver")


def test_the_programs_of_a_whole_control_plane_are_built_with_the_others(built: list[str]) -> None:
    found = find_or_build_whole(silent, {"PATH": "/nowhere"})
    assert built == ["kube-apiserver", "etcd", "kubectl", "kube-controller-manager", "kube-scheduler", "kwok"]
    assert found.kube_controller_manager == Path("/cache/kube-controller-manager")


def test_only_what_an_archive_lacks_of_a_whole_control_plane_is_built(
    built: list[str], tmp_path: Path, program: Callable[[str], Path]
) -> None:
    for name in ("kube-apiserver", "etcd", "kubectl"):
        program(f"folder/{name}")
    kwok = program("single/kwok")
    environment = {"KUBEBUILDER_ASSETS": str(tmp_path / "folder"), "TEST_ASSET_KWOK": str(kwok)}
    assert find_or_build_whole(silent, environment).kwok == kwok
    assert built == ["kube-controller-manager", "kube-scheduler"]


def test_kubectl_is_taken_from_path(built: list[str], program: Callable[[str], Path]) -> None:
    kubectl = program("bin/kubectl")
    found = find_or_build(silent, {"PATH": str(kubectl.parent)})
    assert built == ["kube-apiserver", "etcd"]
    assert found.kubectl == kubectl


def test_etcd_and_the_api_server_are_not_taken_from_path(built: list[str], program: Callable[[str], Path]) -> None:
    folder = program("bin/etcd").parent
    find_or_build(silent, {"PATH": str(folder)})
    assert "etcd" in built


def test_nothing_is_built_where_the_environment_gives_all(
    built: list[str], tmp_path: Path, program: Callable[[str], Path]
) -> None:
    for name in ("kube-apiserver", "etcd", "kubectl"):
        program(f"folder/{name}")
    found = find_or_build(silent, {"KUBEBUILDER_ASSETS": str(tmp_path / "folder"), "PATH": "/nowhere"})
    assert built == []
    assert found.kubectl == tmp_path / "folder" / "kubectl"
