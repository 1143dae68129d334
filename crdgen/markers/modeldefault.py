"""Defaults that are the model's own, and not the API server's."""

from dataclasses import dataclass
from typing import ClassVar, Final

from crdgen.markers.marker import Marker
from crdgen.schema import Schema


@dataclass(frozen=True)
class _ModelDefault(Marker):
    """The field is optional and has no default in the schema; who reads the object by the model finds the model's."""

    own_default: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node without a default."""
        return {key: value for key, value in schema.items() if key != "default"}


ModelDefault: Final[Marker] = _ModelDefault()
"""For defaults that are new each time, as `Field(default_factory=uuid4)`, or that a CRD should not show."""
