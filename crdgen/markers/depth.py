"""Models that contain themselves: written out to a declared depth, and open below."""

from dataclasses import dataclass

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker
from crdgen.schema import Schema


@dataclass(frozen=True)
class Depth(Marker):
    """How often a model is written into itself below this field.

    With `children: Annotated[list["Node"], Depth(3)]` the schema holds a node in a node in a node; below the third, a
    node is any object, of which nothing is checked and nothing pruned. The model itself goes on checking all levels.
    Mind the size: with several recursive fields, each level multiplies it.

    Attributes:
        levels: 1 or more.
    """

    levels: int

    def __post_init__(self) -> None:
        if self.levels < 1:
            raise SchemaError(f"Depth({self.levels})", "a model is in the schema at least one time", "use 1 or more")

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node as it is: the cut was made when references were inlined."""
        return schema
