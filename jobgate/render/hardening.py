"""What all pods of ours have in common: the restricted Pod Security profile takes them, and they are on many nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A user that is nobody's in particular, as distroless images call `nonroot`.
_USER = 65532


def pod_security() -> dict[str, Any]:
    """Return the security context of a pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": _USER,
        "runAsGroup": _USER,
        "fsGroup": _USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> dict[str, Any]:
    """Return the security context of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def probes() -> dict[str, Any]:
    """Return the probes of a container that answers them on its port `health`."""
    return {
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "health"}, "periodSeconds": 10},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 5},
    }


def spread(selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the constraint by which the pods of a selector are on different nodes, where there are so many."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(selector)},
        }
    ]
