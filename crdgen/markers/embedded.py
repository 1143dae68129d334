"""Whole Kubernetes objects as values of a field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import PydanticCustomError

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker, require_type
from crdgen.schema import EMBEDDED, PRESERVE, Schema

_TYPES: Final = {"apiVersion": "string", "kind": "string", "metadata": "object"}


@dataclass(frozen=True)
class _EmbeddedResource(Marker):
    """The value has apiVersion, kind and metadata, which the API server checks as it does those of any object.

    Other fields are those of the model; in a `dict[str, Any]` all are kept.
    """

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node as an embedded resource."""
        require_type(schema, "object", "EmbeddedResource", path, "annotate a model or `dict[str, Any]`")
        if isinstance(schema.get("additionalProperties"), dict):
            fix = "annotate a model or `dict[str, Any]`"
            raise SchemaError(path, "an embedded resource is no map of values of one type", fix)
        for name, wanted in _TYPES.items():
            found = schema.get("properties", {}).get(name, {}).get("type", wanted)
            if found != wanted:
                fix = f"give it type {wanted}, or leave it out"
                raise SchemaError(f"{path}.{name}", f"an embedded resource has {name} as {wanted}, not as {found}", fix)
        # With neither fields nor this the API server refuses the schema: nothing of the object would be kept.
        return schema | {EMBEDDED: True} | ({} if "properties" in schema else {PRESERVE: True})

    def check(self, value: Any) -> Any:
        """Refuse what is no object of Kubernetes; what is a model has been checked by it."""
        if isinstance(value, Mapping):
            for name in ("apiVersion", "kind"):
                if not (isinstance(value.get(name), str) and value[name]):
                    raise PydanticCustomError("embedded_resource", "must have {name}", {"name": name})
        return value


EmbeddedResource: Final[Marker] = _EmbeddedResource()
"""The value is a whole Kubernetes object."""
