"""The types of a Pod's fields, from Kubernetes' own definitions, because our schema is under test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate

from controlplane.versions import KUBERNETES

_ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


@dataclass(frozen=True)
class Type:
    """The type of a field.

    Attributes:
        name: `object`, `map`, `list`, `string`, `integer`, `boolean`, `quantity`, `int-or-string` or `any`.
        fields: names of an object's fields and the references to their types.
        item: reference to the type of a list's items or a map's values.
        bits: 32 or 64 for integers.
    """

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    item: Any = None
    bits: int = 0


def root() -> Type:
    """The type of a pod template."""
    return resolve({"$ref": f"#/$defs/{_ROOT}"})


def resolve(schema: Any) -> Type:
    """Return the type that a schema of the definitions describes."""
    reference = _reference(schema)
    if reference:
        name = reference.rpartition("/")[2]
        if name == _QUANTITY:
            return Type("quantity")
        if name == _INT_OR_STRING:
            return Type("int-or-string")
        return resolve(_definitions()[name])
    if "properties" in schema:
        return Type("object", fields=schema["properties"])
    kinds = schema.get("type")
    kind = next((name for name in kinds if name != "null"), "any") if isinstance(kinds, list) else kinds or "any"
    return _plain(kind, schema)


def _plain(kind: str, schema: Any) -> Type:
    if kind == "array":
        return Type("list", item=schema["items"])
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return Type("map", item=schema["additionalProperties"])
    if kind == "integer":
        return Type("integer", bits=32 if schema.get("format") == "int32" else 64)
    return Type(kind if kind in ("string", "boolean") else "any")


def _reference(schema: Any) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    for choices in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(choices, ()):
            if "$ref" in choice:
                return str(choice["$ref"])
    return ""


@cache
def _definitions() -> dict[str, Any]:
    minor = ".".join(KUBERNETES.removeprefix("v").split(".")[:2])
    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{minor}.0-local"
    definitions: dict[str, Any] = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return definitions
