"""Secrets, and their values in base64."""

from __future__ import annotations

import base64

from jobgate.cluster.resource import Resource

SECRETS = Resource("secrets", "v1", "")


def decoded(value: str | None) -> bytes:
    """Decode base64; empty without a value, or if it is not base64, which the API server never stores."""
    try:
        return base64.b64decode(value or "", validate=True)
    except (ValueError, TypeError):
        return b""
