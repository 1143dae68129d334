"""Objects whose content the schema does not know, or that are whole Kubernetes objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import PydanticCustomError

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker, require_type
from crdgen.schema import EMBEDDED, INT_OR_STRING, PRESERVE, Schema


@dataclass(frozen=True)
class _PreserveUnknown(Marker):
    """Nothing below the field is pruned; fields that the schema names are still checked."""

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with pruning switched off."""
        if schema.get(INT_OR_STRING):
            raise SchemaError(path, "PreserveUnknown and int-or-string exclude each other", "drop one of them")
        return schema | {PRESERVE: True}


PreserveUnknown = _PreserveUnknown()


@dataclass(frozen=True)
class _EmbeddedResource(Marker):
    """The value has apiVersion, kind and metadata, which the API server checks as it does those of any object.

    Other fields are those of the model; in a `dict[str, Any]` all are kept.
    """

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node as an embedded resource."""
        require_type(schema, "object", "EmbeddedResource", path, "annotate a model or `dict[str, Any]`")
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
