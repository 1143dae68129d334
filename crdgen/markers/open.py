"""The marker for fields whose content the schema does not know."""

from dataclasses import dataclass

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker
from crdgen.schema import INT_OR_STRING, PRESERVE, Schema


@dataclass(frozen=True)
class _PreserveUnknown(Marker):
    """Nothing below the field is pruned; fields that the schema names are still checked."""

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with pruning switched off."""
        if schema.get(INT_OR_STRING):
            raise SchemaError(path, "PreserveUnknown and int-or-string exclude each other", "drop one of them")
        return schema | {PRESERVE: True}


PreserveUnknown = _PreserveUnknown()
