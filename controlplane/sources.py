"""The Go modules of the programs. Each is locked by our go.mod and go.sum."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane.versions import HELM, KUBERNETES, KWOK, LOCKED

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A Go module of ours, which only requires other modules, and its programs.

    Attributes:
        cached_as: the folder of its programs in the cache, with the version in its name.
        folder: the folder of its go.mod and go.sum; None if they are computed for the version.
        packages: the main package of each program.
        stamps: variables that the linker sets.
    """

    cached_as: str
    folder: Path | None
    packages: Mapping[str, str]
    stamps: Mapping[str, str]

    def linker_flags(self) -> str:
        """Strip the programs, and stamp the version into them."""
        return " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in self.stamps.items())])


def kubernetes_stamps(version: str) -> dict[str, str]:
    """The version that Kubernetes' programs report: without it, the API server reports v0.0.0-master."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return {f"k8s.io/component-base/version.{name}": value for name, value in stamps.items()}


def built_as(package: str) -> str:
    """The file name that `go build` uses: the last element of the package's path that is no major version."""
    elements = package.split("/")
    return elements[-2] if re.fullmatch(r"v\d+", elements[-1]) else elements[-1]


KUBERNETES_SOURCE = Source(
    cached_as=KUBERNETES,
    folder=_HERE / "go" if KUBERNETES == LOCKED else None,
    packages={
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    },
    stamps=kubernetes_stamps(KUBERNETES),
)

# The same module as Kubernetes, so that they share compiled packages. One kwok version serves every Kubernetes.
KWOK_SOURCE = Source(
    cached_as=f"kwok-{KWOK}",
    folder=_HERE / "go",
    packages={"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    stamps={"sigs.k8s.io/kwok/pkg/consts.Version": KWOK.removeprefix("v")},
)

# Not part of a control plane: only the tests of the chart need it.
HELM_SOURCE = Source(
    cached_as=f"helm-{HELM}",
    folder=_HERE / "helm",
    packages={"helm": "helm.sh/helm/v3/cmd/helm"},
    stamps={"helm.sh/helm/v3/internal/version.version": HELM},
)

SOURCES = (KUBERNETES_SOURCE, KWOK_SOURCE, HELM_SOURCE)
