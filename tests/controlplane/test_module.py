"""The Go modules that are built: computed from upstream's go.mod."""

from pathlib import Path
from typing import Any

import pytest

from controlplane.module import etcd_version, helm_go_mod, kubernetes_go_mod, staging_modules
from controlplane.versions import KWOK, LOCKED, staging_version

LOCK = Path("controlplane/go")


def folder_replace(path: str) -> dict[str, Any]:
    return {"Old": {"Path": path}, "New": {"Path": f"./staging/src/{path}"}}


def require(path: str, version: str) -> dict[str, Any]:
    return {"Path": path, "Version": version}


@pytest.mark.parametrize(
    ("case", "kubernetes_mod", "expected"),
    [
        ("a module replaced by a folder is staging", {"Replace": [folder_replace("k8s.io/api")]}, ["k8s.io/api"]),
        ("a module required at v0.0.0 is staging", {"Require": [require("k8s.io/api", "v0.0.0")]}, ["k8s.io/api"]),
        (
            "each module is named once, sorted",
            {
                "Require": [require("k8s.io/client-go", "v0.0.0"), require("k8s.io/api", "v0.0.0")],
                "Replace": [folder_replace("k8s.io/client-go")],
            },
            ["k8s.io/api", "k8s.io/client-go"],
        ),
        ("a module with a version of its own is left alone", {"Require": [require("k8s.io/klog/v2", "v2.140.0")]}, []),
        (
            "a module replaced by another module is left alone",
            {"Replace": [{"Old": {"Path": "example.com/a"}, "New": {"Path": "example.com/b", "Version": "v1.0.0"}}]},
            [],
        ),
        ("v0.0.0 outside of k8s.io is left alone", {"Require": [require("example.com/a", "v0.0.0")]}, []),
        ("go prints null for no replaces", {"Require": None, "Replace": None}, []),
    ],
)
def test_staging_modules(case: str, kubernetes_mod: dict[str, Any], expected: list[str]) -> None:
    assert staging_modules(kubernetes_mod) == expected, case


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


def test_the_module_of_helm_requires_it_alone() -> None:
    assert helm_go_mod("v3.21.4", {"Go": "1.26.0", "Replace": None}).splitlines() == [
        "module jobgate.dev/controlplane/helm",
        "",
        "go 1.26.0",
        "",
        "require (",
        "\thelm.sh/helm/v3 v3.21.4",
        ")",
    ]


def test_a_helm_that_replaces_modules_is_an_error() -> None:
    with pytest.raises(ValueError, match="replaces modules"):
        helm_go_mod("v3.22.0", {"Go": "1.26.0", "Replace": [folder_replace("k8s.io/api")]})


def test_a_kubernetes_that_requires_no_etcd_server_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"does not require go\.etcd\.io/etcd/server/v3"):
        etcd_version({"Require": [require("go.etcd.io/etcd/client/v3", "v3.6.8")]})


def test_staging_modules_are_published_at_v0_of_the_same_minor_and_patch() -> None:
    assert staging_version("v1.36.3") == "v0.36.3"


def test_what_is_no_kubernetes_version_has_no_staging_version() -> None:
    with pytest.raises(ValueError, match="looks like"):
        staging_version("1.36.3")


def test_the_locked_module_is_of_the_version_that_is_built() -> None:
    locked = (LOCK / "go.mod").read_text(encoding="utf-8")
    assert f"\tk8s.io/kubernetes {LOCKED}\n" in locked
    assert f"\tk8s.io/api => k8s.io/api {staging_version(LOCKED)}\n" in locked


def test_the_sources_of_each_locked_replace_are_summed() -> None:
    sums = (LOCK / "go.sum").read_text(encoding="utf-8")
    assert f"k8s.io/kubernetes {LOCKED} h1:" in sums
    assert f"k8s.io/apiserver {staging_version(LOCKED)} h1:" in sums


def test_the_locked_module_of_kwok_is_of_the_version_that_is_built() -> None:
    assert f"sigs.k8s.io/kwok {KWOK}\n" in (LOCK / "go.mod").read_text(encoding="utf-8")
    assert f"sigs.k8s.io/kwok {KWOK} h1:" in (LOCK / "go.sum").read_text(encoding="utf-8")
