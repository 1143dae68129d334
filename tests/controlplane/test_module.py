"""The Go modules that are built: computed from upstream's go.mod."""

from pathlib import Path
from typing import Any

from controlplane.module import kubernetes_go_mod
from controlplane.versions import KWOK, LOCKED, staging_version

LOCK = Path("controlplane/go")


def folder_replace(path: str) -> dict[str, Any]:
    return {"Old": {"Path": path}, "New": {"Path": f"./staging/src/{path}"}}


def require(path: str, version: str) -> dict[str, Any]:
    return {"Path": path, "Version": version}


def test_the_module_requires_kubernetes_and_its_etcd_and_replaces_what_is_staged() -> None:
    kubernetes_mod = {
        "Go": "1.26.0",
        "Require": [require("go.etcd.io/etcd/server/v3", "v3.6.8"), require("k8s.io/api", "v0.0.0")],
        "Replace": [folder_replace("k8s.io/api")],
    }
    assert kubernetes_go_mod("v1.36.3", kubernetes_mod, "v0.8.0").splitlines() == [
        "module jobgate.dev/controlplane",
        "",
        "go 1.26.0",
        "",
        "require (",
        "\tgo.etcd.io/etcd/server/v3 v3.6.8",
        "\tk8s.io/kubernetes v1.36.3",
        "\tsigs.k8s.io/kwok v0.8.0",
        ")",
        "",
        "replace (",
        "\tk8s.io/api => k8s.io/api v0.36.3",
        ")",
    ]


def test_the_locked_modules_are_of_the_versions_that_are_built_and_are_summed() -> None:
    locked, sums = ((LOCK / name).read_text(encoding="utf-8") for name in ("go.mod", "go.sum"))
    assert f"\tk8s.io/kubernetes {LOCKED}\n" in locked
    assert f"\tk8s.io/api => k8s.io/api {staging_version(LOCKED)}\n" in locked
    assert f"\tsigs.k8s.io/kwok {KWOK}\n" in locked
    for module in (
        f"k8s.io/kubernetes {LOCKED}",
        f"k8s.io/apiserver {staging_version(LOCKED)}",
        f"sigs.k8s.io/kwok {KWOK}",
    ):
        assert f"{module} h1:" in sums
