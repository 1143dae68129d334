"""The pod that a command runs in."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def own_namespace() -> str | None:
    """Return the namespace of the pod; None outside a pod."""
    try:
        return _NAMESPACE.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def identity() -> str:
    """Return a holder identity for a Lease. It differs after a restart, which must not take over an earlier Lease."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"
