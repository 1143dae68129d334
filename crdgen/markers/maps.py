"""Objects and maps: whether server-side apply merges them field by field, or replaces them as a whole."""

from dataclasses import dataclass
from typing import Final, Literal

from crdgen.markers.marker import Marker, require_type
from crdgen.schema import MAP_TYPE, Schema


@dataclass(frozen=True)
class _MapType(Marker):
    """An object each of whose fields has its own owner (`GranularMap`, as without a marker), or one for all."""

    kind: Literal["granular", "atomic"]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its map type."""
        name = f"{self.kind.capitalize()}Map"
        require_type(schema, "object", name, path, "annotate a model or a `dict`; for a list use `Atomic` or `MapList`")
        return schema | {MAP_TYPE: self.kind}


GranularMap: Final[Marker] = _MapType("granular")
"""Server-side apply merges the object's fields, each with its owner. It is so without a marker too."""

AtomicMap: Final[Marker] = _MapType("atomic")
"""Server-side apply replaces the object as a whole; rules inside of it cannot use `oldSelf`."""
