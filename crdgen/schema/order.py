"""One order for everything whose order means nothing, so that the same model gives the same bytes."""

from typing import Any

from crdgen.schema.walk import Schema
from crdgen.sealed import Sealed


def order(schema: Schema, _path: str = "") -> Schema:
    """Return the schema with its keys and required names sorted; enums and defaults keep the author's order."""
    ordered: Schema = _sorted(schema)
    return ordered


def _sorted(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if not isinstance(value, dict) or isinstance(value, Sealed):
        return value
    ordered = {key: _sorted(value[key]) for key in sorted(value)}
    required = ordered.get("required")
    if isinstance(required, list):
        ordered["required"] = sorted(required)
    return ordered
