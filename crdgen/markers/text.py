"""The marker that describes a field."""

from dataclasses import dataclass

from crdgen.markers.marker import Marker
from crdgen.schema import Schema


@dataclass(frozen=True)
class Doc(Marker):
    """The field's description in the schema; it wins over the docstring of the field's type."""

    text: str

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the description."""
        return schema | {"description": self.text}
