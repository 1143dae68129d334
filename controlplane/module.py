"""The go.mod files of the programs: the modules that they require, and their versions.

Kubernetes' own go.mod has `replace` directives for its staging folders, and Go ignores those of a dependency. So a
build from outside repeats them, with the versions at which the staging folders are published.
"""

from collections.abc import Iterable
from typing import Any

from controlplane.versions import staging_version

MODULE = "jobgate.dev/controlplane"
_KUBERNETES = "k8s.io/kubernetes"
_KWOK = "sigs.k8s.io/kwok"
_HELM = "helm.sh/helm/v3"
_ETCD_SERVER = "go.etcd.io/etcd/server/v3"


def staging_modules(kubernetes_mod: dict[str, Any]) -> list[str]:
    """Return the modules in Kubernetes' own tree, given its go.mod as `go mod edit -json` prints it.

    These are the modules that it replaces with a folder, and each `k8s.io/…` that it requires at v0.0.0. Others, such
    as `k8s.io/utils` and `klog`, have their own versions.
    """
    replaced = {
        replace["Old"]["Path"]
        for replace in kubernetes_mod.get("Replace") or ()
        if replace["New"]["Path"].startswith("./")
    }
    unversioned = {
        require["Path"]
        for require in kubernetes_mod.get("Require") or ()
        if require["Path"].startswith("k8s.io/") and require["Version"] == "v0.0.0"
    }
    return sorted(replaced | unversioned)


def etcd_version(kubernetes_mod: dict[str, Any]) -> str:
    """The etcd version that this Kubernetes is built and tested with.

    Raises:
        ValueError: the go.mod requires no etcd server.
    """
    for require in kubernetes_mod.get("Require") or ():
        if require["Path"] == _ETCD_SERVER:
            return str(require["Version"])
    raise ValueError(f"the go.mod of {_KUBERNETES} does not require {_ETCD_SERVER}: name its version by hand")


def kubernetes_go_mod(version: str, kubernetes_mod: dict[str, Any], kwok: str) -> str:
    """Return the text of our go.mod for these versions of Kubernetes and kwok; `go` adds indirect requirements.

    In one module kwok shares the libraries of Kubernetes, so only 160 of its 974 packages are compiled for it alone.
    """
    requires = [f"{_ETCD_SERVER} {etcd_version(kubernetes_mod)}", f"{_KUBERNETES} {version}", f"{_KWOK} {kwok}"]
    published = staging_version(version)
    replaces = [f"{path} => {path} {published}" for path in staging_modules(kubernetes_mod)]
    return _go_mod(MODULE, kubernetes_mod["Go"], [*_block("require", requires), "", *_block("replace", replaces)])


def helm_go_mod(version: str, helm_mod: dict[str, Any]) -> str:
    """Return the text of our go.mod for a version of Helm, which requires only published modules.

    Raises:
        ValueError: its go.mod has `replace` directives, which would have to be repeated here.
    """
    if helm_mod.get("Replace"):
        raise ValueError(f"the go.mod of {_HELM} {version} replaces modules, and Go ignores that here: repeat it")
    return _go_mod(f"{MODULE}/helm", helm_mod["Go"], _block("require", [f"{_HELM} {version}"]))


def _go_mod(module: str, go: str, blocks: Iterable[str]) -> str:
    return "\n".join([f"module {module}", "", f"go {go}", "", *blocks, ""])


def _block(word: str, lines: Iterable[str]) -> list[str]:
    return [f"{word} (", *(f"\t{line}" for line in lines), ")"]
