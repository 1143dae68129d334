"""One order for everything whose order means nothing, so that the same model gives the same bytes."""

from typing import Any, Final

from crdgen.schema import Schema
from crdgen.schema.sealed import Sealed

# Keywords whose values are JSON of the author's, in which `required` is a field like any other.
_VALUES: Final = frozenset({"default", "enum", "example"})


def order(schema: Schema, _path: str = "") -> Schema:
    """Return the schema with its keys and required names sorted; enums and defaults keep the author's order."""
    ordered: Schema = _sorted(schema)
    return ordered


def _sorted(value: Any, *, names: bool = False) -> Any:
    """Return a value in order; `names` tells that its keys are those of fields, and no keywords."""
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if not isinstance(value, dict) or isinstance(value, Sealed):
        return value
    ordered = {key: _settled(key, value[key], names=names) for key in sorted(value)}
    required = ordered.get("required")
    if isinstance(required, list):
        ordered["required"] = sorted(required)
    return ordered


def _settled(key: str, value: Any, *, names: bool) -> Any:
    if key in _VALUES and not names:
        return _by_key(value)
    return _sorted(value, names=key == "properties" and not names)


def _by_key(value: Any) -> Any:
    if isinstance(value, list):
        return [_by_key(item) for item in value]
    return {key: _by_key(value[key]) for key in sorted(value)} if isinstance(value, dict) else value
