"""What is built: one Kubernetes version, and the etcd and Go that belong to it."""

KUBERNETES = "v1.36.3"

# The `go` line of that version's go.mod.
OLDEST_GO = (1, 26)

# Each program, and the package that it is the main package of.
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}

# `go build` calls a program by the last element of its package's path; etcd's is the module's root.
BUILT_AS = {"etcd": "server", "kube-apiserver": "kube-apiserver", "kubectl": "kubectl"}


def staging_version(kubernetes: str) -> str:
    """The version of the modules that are published with Kubernetes: v0.36.3 for v1.36.3."""
    if not kubernetes.startswith("v1."):
        raise ValueError(f"{kubernetes!r}: a Kubernetes version looks like v1.36.3")
    return "v0." + kubernetes.removeprefix("v1.")
