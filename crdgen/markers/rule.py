"""CEL rules: what the API server checks beyond the shape of a field or of a model.

On a field a rule is in `Annotated[…]`; on a model it is given by the decorator `rules`, which leaves the model
itself as it was. In a rule `self` is the value, or the object with its JSON names, escaped where they are no
identifiers (`escape`). Beside `ValidationRule` there are rules on which fields are set, and on fields that do not
change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

from crdgen.generate.errors import SchemaError
from crdgen.generate.keys import PARENT, cel_name
from crdgen.generate.walk import declare
from crdgen.markers.marker import Marker
from crdgen.schema import INT_OR_STRING, VALIDATIONS, Schema

RuleReason: TypeAlias = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]
_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class ValidationRule(Marker):
    """A CEL expression that must be true of the value, and what is said where it is not.

    With `oldSelf`, the value before an update, it is a transition rule: checked on updates only, where both values are.

    Attributes:
        rule: The expression.
        message: Shown to the user; by default the API server shows the expression.
        message_expression: CEL that makes the message, of text; `message` is used where it fails.
        reason: The machine-readable reason; FieldValueInvalid by default.
        field_path: The field that the failure is shown at, from the value's own place: `.limits.cpu`, `.labels['a/b']`.
        optional_old_self: Check the rule on creation too; `oldSelf` is then an optional.
    """

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: RuleReason | None = None
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
    """Put rules on a class that Pydantic describes by its fields, and on those that inherit from it.

    A rule is a `ValidationRule`, or `exactly_one_of(…)` and the like. What validates the values of the model does not
    change.
    """

    def decorate(declared: _Class) -> _Class:
        declare(declared, markers)
        return declared

    return decorate


@dataclass(frozen=True)
class _SetTogether(Marker):
    """A rule on optional fields of one model; the rule is around a list of what is set, the message around names."""

    name: str
    names: tuple[str, ...]
    rule: str
    message: str

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the rule."""
        if len(set(self.names)) < max(2, len(self.names)):
            raise SchemaError(path, f"{self.name} needs two or more different fields", "name each field once")
        tests = ", ".join(f"has(self.{self._field(schema, name, path)})" for name in self.names)
        return ValidationRule(self.rule.format(tests), self.message.format(", ".join(self.names))).apply(schema, path)

    def _field(self, schema: Schema, name: str, path: str) -> str:
        """Return the field's name in CEL, where it may be left out and CEL can tell."""
        properties: dict[str, Schema] = schema.get("properties", {})
        if name not in properties:
            fix = f"use names as in JSON: {', '.join(sorted(properties)) or 'there is none'}"
            raise SchemaError(path, f"{self.name} names {name}, which is no field", fix)
        at = f"{path}.{name}"
        if name in schema.get("required", ()) or "default" in properties[name]:
            problem = f"the field is required or has a default, so {self.name} would find it set always"
            raise SchemaError(at, problem, "make None its default")
        if properties[name].get("nullable"):
            raise SchemaError(at, f"{self.name} would count a null as set", "make None the field's default")
        return cel_name(name, at)


def exactly_one_of(*names: str) -> Marker:
    """Require that one of these optional fields is set, and no other. Names are as in JSON."""
    return _SetTogether("exactly_one_of", names, "[{}].exists_one(set, set)", "exactly one of {} must be set")


def at_most_one_of(*names: str) -> Marker:
    """Reject that two of these optional fields are set. Names are as in JSON."""
    return _SetTogether("at_most_one_of", names, "[{}].filter(set, set).size() <= 1", "at most one of {} may be set")


def at_least_one_of(*names: str) -> Marker:
    """Require that one or more of these optional fields are set. Names are as in JSON."""
    return _SetTogether("at_least_one_of", names, "[{}].exists(set, set)", "at least one of {} must be set")


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
        changed = ValidationRule("self == oldSelf", self.message).apply(schema, path)
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
