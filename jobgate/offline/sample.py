"""The smallest job of a kind that has one of each part: what the defaults of a kind write is seen on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from webhook import Kind

Schema = Mapping[str, Any]

#: A part's pod template is of one shape in all kinds, and too large to be gone through.
_TEMPLATE: Final = "template"
_POD: Final = {"spec": {"containers": [{"name": "main", "image": "image"}]}}
#: Deeper than any part of a job stands.
_DEEPEST: Final = 8


def sample(kind: Kind, schema: Schema) -> dict[str, Any]:
    """Return a job, which need not be valid.

    Args:
        kind: of the job.
        schema: of the kind's objects.
    """
    spec = _value(schema.get("properties", {}).get("spec", {}), _DEEPEST)
    metadata = {"name": "job", "namespace": "default"}
    return {"apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def _value(schema: Schema, depth: int) -> Any:
    if "default" in schema:
        return schema["default"]
    if values := schema.get("enum"):
        return values[0]
    sort = schema.get("type")
    if sort == "object":
        return _object(schema, depth)
    if sort == "array":
        return [_value(schema.get("items", {}), depth - 1)] if depth else []
    if sort in {"integer", "number"}:
        return max(1, schema.get("minimum", 1))
    return {"boolean": False, "string": "x"}.get(str(sort), 1)


def _object(schema: Schema, depth: int) -> dict[str, Any]:
    """Return an object with what it must have, and with every part that holds pods somewhere below."""
    required = schema.get("required", ())
    found: dict[str, Any] = {}
    for name, child in schema.get("properties", {}).items():
        if name == _TEMPLATE and "spec" in child.get("properties", {}):
            found[name] = _POD
        elif depth and (name in required or _holds_pods(child, depth - 1)):
            found[name] = _value(child, depth - 1)
    entry = schema.get("additionalProperties")
    if depth and isinstance(entry, Mapping) and _holds_pods(entry, depth - 1):
        found["x"] = _value(entry, depth - 1)
    return found


def _holds_pods(schema: Schema, depth: int) -> bool:
    """Return whether a part of a job has a pod template."""
    if not depth:
        return False
    properties = schema.get("properties", {})
    if _TEMPLATE in properties:
        return True
    inner = [*properties.values(), schema.get("items"), schema.get("additionalProperties")]
    return any(_holds_pods(one, depth - 1) for one in inner if isinstance(one, Mapping))
