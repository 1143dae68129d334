"""Nodes that exist only as objects: the scheduler places pods on them, and kwok simulates the pods."""

from collections.abc import Mapping
from typing import Any

# Enough for all jobs of the tests at once.
CAPACITY: Mapping[str, str] = {
    "cpu": "256",
    "memory": "2Ti",
    "ephemeral-storage": "10Ti",
    "pods": "1000",
    "nvidia.com/gpu": "64",
}


def node(name: str, capacity: Mapping[str, str] = CAPACITY, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A Node with this capacity, all of it for pods; `labels` are added to those that a kubelet sets."""
    own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**own, **(labels or {})},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"capacity": dict(capacity), "allocatable": dict(capacity)},
    }


def is_open(node: Mapping[str, Any]) -> bool:
    """Whether a stored Node is ready and accepts pods: a new Node has a taint until the controllers see it ready."""
    conditions = {
        condition["type"]: condition["status"] for condition in node.get("status", {}).get("conditions") or ()
    }
    return conditions.get("Ready") == "True" and not node["spec"].get("taints")
