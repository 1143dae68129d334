"""From which Go modules the programs are built. Each is locked by a go.mod and a go.sum of ours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane.versions import HELM, KUBERNETES, KWOK, LOCKED

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A Go module of ours that only requires others, and the programs that are built with it.

    Attributes:
        cached_as: the folder of its programs in the cache; the version is part of it.
        folder: where go.mod and go.sum are: exactly what they say is built. None: they are computed for the version.
        packages: each program, and the package that it is the main package of.
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
    """What Kubernetes' programs say they are: without it, the API server says v0.0.0-master."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return {f"k8s.io/component-base/version.{name}": value for name, value in stamps.items()}


def built_as(package: str) -> str:
    """What `go build` calls a program: the last element of its package's path that is no major version."""
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

# The same module, so that it shares what is compiled; it has versions of its own, and one serves each Kubernetes.
KWOK_SOURCE = Source(
    cached_as=f"kwok-{KWOK}",
    folder=_HERE / "go",
    packages={"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    stamps={"sigs.k8s.io/kwok/pkg/consts.Version": KWOK.removeprefix("v")},
)

# No part of a control plane: only the tests of the chart ask for it.
HELM_SOURCE = Source(
    cached_as=f"helm-{HELM}",
    folder=_HERE / "helm",
    packages={"helm": "helm.sh/helm/v3/cmd/helm"},
    stamps={"helm.sh/helm/v3/internal/version.version": HELM},
)

SOURCES = (KUBERNETES_SOURCE, KWOK_SOURCE, HELM_SOURCE)
