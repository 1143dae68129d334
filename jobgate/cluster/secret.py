"""Secrets, and values of bytes as the API server writes them."""

from __future__ import annotations

import base64

from jobgate.cluster.resource import Resource

SECRETS = Resource("secrets", "v1", "")


def decoded(value: str | None) -> bytes:
    """Return a value of bytes; empty without one, or if it is not base64, which the API server never stores."""
    try:
        return base64.b64decode(value or "", validate=True)
    except (ValueError, TypeError):
        return b""
