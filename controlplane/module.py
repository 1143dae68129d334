"""The Go modules that the programs are built from: which modules they require, at which versions.

Kubernetes' own go.mod points at its staging folders with `replace`, which Go ignores in a dependency. So whoever builds
it from outside repeats those replaces with the versions that the staging folders are published at.
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
    """The modules that Kubernetes takes from its own tree, given its go.mod as `go mod edit -json` prints it.

    That is each that it replaces with a folder, and each `k8s.io/…` that it requires at v0.0.0; `k8s.io/utils`,
    `klog` and the like have versions of their own and are left alone.
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
    """The etcd that this Kubernetes is built and tested with.

    Raises:
        ValueError: the go.mod requires no etcd server.
    """
    for require in kubernetes_mod.get("Require") or ():
        if require["Path"] == _ETCD_SERVER:
            return str(require["Version"])
    raise ValueError(f"the go.mod of {_KUBERNETES} does not require {_ETCD_SERVER}: name its version by hand")


def kubernetes_go_mod(version: str, kubernetes_mod: dict[str, Any], kwok: str) -> str:
    """Our go.mod for these versions of Kubernetes and kwok, as text; `go` adds the indirect requirements.

    In one module kwok is compiled with the libraries that Kubernetes itself is: of its 974 packages only 160 are left.
    """
    requires = [f"{_ETCD_SERVER} {etcd_version(kubernetes_mod)}", f"{_KUBERNETES} {version}", f"{_KWOK} {kwok}"]
    published = staging_version(version)
    replaces = [f"{path} => {path} {published}" for path in staging_modules(kubernetes_mod)]
    return _go_mod(MODULE, kubernetes_mod["Go"], [*_block("require", requires), "", *_block("replace", replaces)])


def helm_go_mod(version: str, helm_mod: dict[str, Any]) -> str:
    """Our go.mod for that version of Helm, which stands on published modules only.

    Raises:
        ValueError: it does not, so its replaces would have to be repeated.
    """
    if helm_mod.get("Replace"):
        raise ValueError(f"the go.mod of {_HELM} {version} replaces modules, and Go ignores that here: repeat it")
    return _go_mod(f"{MODULE}/helm", helm_mod["Go"], _block("require", [f"{_HELM} {version}"]))


def _go_mod(module: str, go: str, blocks: Iterable[str]) -> str:
    return "\n".join([f"module {module}", "", f"go {go}", "", *blocks, ""])


def _block(word: str, lines: Iterable[str]) -> list[str]:
    return [f"{word} (", *(f"\t{line}" for line in lines), ")"]
