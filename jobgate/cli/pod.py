"""The pod that a command runs in."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def own_namespace() -> str | None:
    """Return the namespace of the pod; None outside of one."""
    try:
        return _NAMESPACE.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def identity() -> str:
    """Return who this process is under a Lease: another after each start, as what an earlier one held is not ours."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"
