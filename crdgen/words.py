"""Kubernetes' own keywords, where `crdgen.cel` and `crdgen.quantities` look for them."""

from crdgen.schema.keywords import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    VALIDATIONS,
)

__all__ = ["EMBEDDED", "INT_OR_STRING", "LIST_MAP_KEYS", "LIST_TYPE", "MAP_TYPE", "PRESERVE", "VALIDATIONS"]
