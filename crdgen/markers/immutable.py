"""Fields that do not change after the object, or the field, was made.

A rule on a field says nothing where the field is absent before or after. So an optional field has a second rule, on the
object that it is in. Where that object is itself removed and added again, nothing is compared: mark it too.
"""

from dataclasses import dataclass
from typing import Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.parents import PARENT
from crdgen.markers.marker import Marker
from crdgen.markers.rule import Rule
from crdgen.schema import Schema


@dataclass(frozen=True)
class _Immutable(Marker):
    """The field keeps its value.

    Attributes:
        name: What the author wrote.
        message: Said of another value.
        rule: On the object that the field is in, for an optional field: what may come and go.
        parent_message: Said of a field that comes or goes.
        settable: What is absent at first may be set later.
    """

    name: str
    message: str
    rule: str
    parent_message: str
    settable: bool = False

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the rule for a change, and for its parent the one for coming and going."""
        if schema.get("nullable"):
            raise SchemaError(
                path, f"no rule is checked on a null, so {self.name} would not hold", "make None the default"
            )
        if self.settable and "default" in schema:
            raise SchemaError(
                path,
                f"the API server sets the default when the object is made, and {self.name} then keeps it",
                "write `… | None = None`, so that it may be set later, or use `Immutable`",
            )
        changed = Rule("self == oldSelf", self.message).apply(schema, path)
        asked = {"rule": self.rule, "message": self.parent_message}
        return changed | {PARENT: [*schema.get(PARENT, ()), asked]}


Immutable: Final[Marker] = _Immutable(
    "Immutable",
    "is immutable",
    "has(self.{0}) == has(oldSelf.{0})",
    "is immutable: it can be neither added nor removed",
)
"""The value given at creation stays; an optional field that was left out stays out."""

ImmutableOnceSet: Final[Marker] = _Immutable(
    "ImmutableOnceSet",
    "cannot change once it is set",
    "!has(oldSelf.{0}) || has(self.{0})",
    "cannot be removed once it is set",
    settable=True,
)
"""An optional field may be set later, and then stays. It has no default: that would be set at creation, and stay."""
