"""The type `Schema`, where `crdgen.cel` looks for it."""

from crdgen.schema.keywords import Schema

__all__ = ["Schema"]
