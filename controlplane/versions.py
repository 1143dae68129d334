"""What is built: one Kubernetes version, the Go that it needs, and the kwok that simulates its nodes."""

import os

#: The version that `go/` locks. Of another, the requirements are computed when it is built.
LOCKED = "v1.36.3"

#: `make test KUBERNETES=1.37.2` asks for another, from 1.34 on.
KUBERNETES = f"v{os.environ.get('KUBERNETES', '').removeprefix('v') or LOCKED.removeprefix('v')}"

_MINOR = int(KUBERNETES.split(".")[1])

#: Gangs of Kubernetes' own scheduler: the version of the API, and the gates of API server and scheduler.
GANGS_API = "scheduling.k8s.io/v1beta1" if _MINOR >= 37 else "scheduling.k8s.io/v1alpha2"
GANGS_GATES = "--feature-gates=GenericWorkload=true" + ("" if _MINOR >= 37 else ",GangScheduling=true")
#: Whether that version has such gangs.
HAS_GANGS = _MINOR >= 36

# Its nodes and pods are simulated by a program that has versions of its own.
KWOK = "v0.8.0"

# What the chart is tested with. Its go.mod asks for the libraries of the Kubernetes above.
HELM = "v3.21.4"

# The `go` line of the go.mod of all of them.
OLDEST_GO = (1, 26)


def staging_version(kubernetes: str) -> str:
    """The version of the modules that are published with Kubernetes: v0.36.3 for v1.36.3."""
    if not kubernetes.startswith("v1."):
        raise ValueError(f"{kubernetes!r}: a Kubernetes version looks like v1.36.3")
    return "v0." + kubernetes.removeprefix("v1.")
