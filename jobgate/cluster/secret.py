"""What of a Secret is kept: some of its values, decoded."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobgate.cluster.resource import Resource

SECRETS = Resource("secrets", "v1", "")


@dataclass(frozen=True, slots=True)
class SecretData:
    """Decoded values of a Secret by key, which are never logged, and the keys whose values are not base64."""

    data: Mapping[str, bytes] = field(repr=False)
    garbled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, secret: Mapping[str, Any], keys: Iterable[str]) -> SecretData:
        """Return what a Secret, as the API server writes it, holds under these keys; the others are not kept."""
        written = secret.get("data") or {}
        decoded, garbled = {}, set()
        for key in keys:
            try:
                decoded[key] = base64.b64decode(written.get(key) or "", validate=True)
            except (binascii.Error, ValueError, TypeError):
                garbled.add(key)
        return cls(decoded, frozenset(garbled))
