"""The checks of an object's own metadata that the API server makes before it calls a validating webhook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.kinds.common.names import dns_subdomain
from webhook import Cause, Invalid, Required, TypeInvalid


def metadata_causes(metadata: Any) -> Iterator[Cause]:
    """Yield what is wrong with the name of an object: `ValidateObjectMeta` of apimachinery asks for a subdomain."""
    if not isinstance(metadata, dict):
        yield Required("metadata", "an object has a name")
        return
    name, prefix = metadata.get("name"), metadata.get("generateName")
    for key, text in (("name", name), ("generateName", prefix)):
        if text is not None and not isinstance(text, str):
            yield TypeInvalid(f"metadata.{key}", text, "must be a string")
            return
    if name:
        if fault := dns_subdomain(name):
            yield Invalid("metadata.name", name, fault)
    elif not prefix:
        yield Required("metadata.name", "give a name, or a generateName")
    elif fault := dns_subdomain(prefix.rstrip("-.") or prefix):
        yield Invalid("metadata.generateName", prefix, fault)
