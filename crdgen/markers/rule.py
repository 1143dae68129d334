"""CEL rules: what the API server checks beyond the shape of a field or of a model.

On a field a rule stands in `Annotated[…]`; on a model it is given by the decorator `rules`, which leaves the model
itself as it was. In a rule `self` is the value, or the object with its JSON names, escaped where they are no
identifiers (`escape`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from crdgen.generate.errors import SchemaError
from crdgen.generate.notes import declare
from crdgen.markers.marker import Marker
from crdgen.schema import INT_OR_STRING, VALIDATIONS, Schema

Reason: TypeAlias = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]
_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Rule(Marker):
    """A CEL expression that must be true of the value, and what is said where it is not.

    With `oldSelf`, the value before an update, it is a transition rule: checked on updates only, where both values are.

    Attributes:
        rule: The expression.
        message: What the user is told; by default the API server shows the expression.
        message_expression: CEL that makes the message, of text; `message` is used where it fails.
        reason: The machine-readable reason; FieldValueInvalid by default.
        field_path: The field that the failure is shown at, from the value's own place: `.limits.cpu`, `.labels['a/b']`.
        optional_old_self: Check the rule on creation too; `oldSelf` is then an optional.
    """

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: Reason | None = None
    field_path: str = ""
    optional_old_self: bool = False

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with one more rule."""
        if "type" not in schema and not schema.get(INT_OR_STRING):
            raise SchemaError(
                path, "a rule cannot look into a value of any type", "give the field one type, or drop the rule"
            )
        return schema | {VALIDATIONS: [*schema.get(VALIDATIONS, ()), self.to_json()]}

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `x-kubernetes-validations`."""
        entry = {
            "rule": self.rule,
            "message": self.message,
            "messageExpression": self.message_expression,
            "reason": self.reason,
            "fieldPath": self.field_path,
            "optionalOldSelf": self.optional_old_self,
        }
        return {key: value for key, value in entry.items() if value}


def rules(*markers: Marker) -> Callable[[_Class], _Class]:
    """Put rules on a model, or any other class that Pydantic describes by its fields.

    Models that inherit from it have its rules too. Any model can have them; what validates its values does not change.

    Args:
        markers: `Rule`, `exactly_one_of(…)`, `at_most_one_of(…)` or `at_least_one_of(…)`.
    """

    def decorate(declared: _Class) -> _Class:
        declare(declared, markers)
        return declared

    return decorate
