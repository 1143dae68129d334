"""Descriptions: the text of a field, and how much stays of those below it, since inlined types often say too much."""

from dataclasses import dataclass
from typing import Final, Literal

from crdgen.generate.errors import SchemaError
from crdgen.generate.policy import POLICY
from crdgen.markers.marker import Marker
from crdgen.schema import Schema


@dataclass(frozen=True)
class Doc(Marker):
    """The field's description in the schema; it wins over the docstring of the field's type."""

    text: str

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the description."""
        return schema | {"description": self.text}


_SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})


@dataclass(frozen=True)
class Descriptions(Marker):
    """What becomes of descriptions: `keep`, `drop`, or cut to so many characters, at the end of a sentence if one fits.

    On a field it speaks of what is below the field, and wins over what is said further up; the field's own description
    stays as it would be without. As a setting of a version or of the resource it speaks of the whole schema.
    """

    what: Literal["keep", "drop"] | int = "keep"

    def __post_init__(self) -> None:
        if not (self.what in {"keep", "drop"} or (isinstance(self.what, int) and self.what > 0)):
            raise SchemaError(f"Descriptions({self.what!r})", "is no policy", "use `keep`, `drop`, or a number above 0")

    @property
    def limit(self) -> int | None:
        """The most characters that stay; None for all."""
        return self.what if isinstance(self.what, int) else {"keep": None, "drop": 0}[self.what]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the policy for what is below it."""
        if schema.get("type") in _SCALARS:
            raise SchemaError(
                path, "below a scalar there are no descriptions", "put Descriptions on an object or a list"
            )
        return schema | {POLICY: self.limit}


KEEP: Final = Descriptions("keep")
