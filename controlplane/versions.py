"""The versions of the programs: Kubernetes, the Go that it needs, kwok and Helm."""

import os

#: The version that `go/` locks. For another version, the requirements are computed when it is built.
LOCKED = "v1.36.3"

#: `make test KUBERNETES=1.37.2` selects another version, from 1.34 on.
KUBERNETES = f"v{os.environ.get('KUBERNETES', '').removeprefix('v') or LOCKED.removeprefix('v')}"

_MINOR = int(KUBERNETES.split(".")[1])

#: Gang scheduling in Kubernetes' own scheduler: its API version, and the feature gates.
GANGS_API = "scheduling.k8s.io/v1beta1" if _MINOR >= 37 else "scheduling.k8s.io/v1alpha2"
GANGS_GATES = "--feature-gates=GenericWorkload=true" + ("" if _MINOR >= 37 else ",GangScheduling=true")
#: Whether this version has gang scheduling.
HAS_GANGS = _MINOR >= 36

# Simulates nodes and pods.
KWOK = "v0.8.0"

# The chart is tested with this version. Its go.mod requires the libraries of the Kubernetes version above.
HELM = "v3.21.4"

# The `go` line in the go.mod of all of them.
OLDEST_GO = (1, 26)


def staging_version(kubernetes: str) -> str:
    """The version of Kubernetes' staging modules: v0.36.3 for v1.36.3."""
    if not kubernetes.startswith("v1."):
        raise ValueError(f"{kubernetes!r}: a Kubernetes version looks like v1.36.3")
    return "v0." + kubernetes.removeprefix("v1.")
