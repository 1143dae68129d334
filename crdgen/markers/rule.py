"""CEL rules, which the API server checks beyond the types of fields.

A rule of a field is in `Annotated[…]`; the decorator `rules` adds rules to a model, without changing how the model
validates. In a rule, `self` is the value, or the object with its JSON names, escaped if they are not identifiers
(`escape`). Besides `ValidationRule`, there are rules about which fields are set, and about immutable fields.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, TypeVar

from crdgen.generate.errors import SchemaError
from crdgen.generate.keys import PARENT, cel_name
from crdgen.generate.walk import declare
from crdgen.markers.marker import Marker
from crdgen.schema import INT_OR_STRING, VALIDATIONS, Schema

RuleReason: TypeAlias = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]
_Class = TypeVar("_Class", bound=type)


class ValidationRule(Marker, frozen=True):
    """A CEL expression that must be true for the value, and the message if it is not.

    With `oldSelf`, the value before an update, it is a transition rule, only checked on updates with both values.

    Attributes:
        rule: The expression.
        message: Shown to the user; by default the API server shows the expression.
        message_expression: A CEL expression for the message; if it fails, `message` is used.
        reason: The machine-readable reason; FieldValueInvalid by default.
        field_path: The field of the error, relative to the value: `.limits.cpu`, `.labels['a/b']`.
        optional_old_self: Whether to check the rule on creation, too; `oldSelf` is then an optional.
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
    """Add rules to a model, a dataclass or a TypedDict, and to its subclasses.

    A rule is a `ValidationRule`, or `exactly_one_of(…)` and the like. The model itself validates values as before.
    """

    def decorate(class_: _Class) -> _Class:
        declare(class_, markers)
        return class_

    return decorate


class _SetTogether(Marker, frozen=True):
    """A rule on optional fields of a model. `{}` stands for tests in the rule, and for names in the message."""

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
        """Return the field's name in CEL, or raise if the field is always set, or CEL cannot test it."""
        properties: dict[str, Schema] = schema.get("properties", {})
        if name not in properties:
            fix = f"use names as in JSON: {', '.join(sorted(properties)) or 'there is none'}"
            raise SchemaError(path, f"{self.name} names {name}, which is no field", fix)
        field_path = f"{path}.{name}"
        if name in schema.get("required", ()) or "default" in properties[name]:
            problem = f"the field is required or has a default, so {self.name} would find it set always"
            raise SchemaError(field_path, problem, "make None its default")
        if properties[name].get("nullable"):
            raise SchemaError(field_path, f"{self.name} would count a null as set", "make None the field's default")
        return cel_name(name, field_path)


def exactly_one_of(*names: str) -> Marker:
    """Require that exactly one of these optional fields is set. Names are as in JSON."""
    return _SetTogether("exactly_one_of", names, "[{}].exists_one(set, set)", "exactly one of {} must be set")


def at_most_one_of(*names: str) -> Marker:
    """Require that at most one of these optional fields is set. Names are as in JSON."""
    return _SetTogether("at_most_one_of", names, "[{}].filter(set, set).size() <= 1", "at most one of {} may be set")


def at_least_one_of(*names: str) -> Marker:
    """Require that at least one of these optional fields is set. Names are as in JSON."""
    return _SetTogether("at_least_one_of", names, "[{}].exists(set, set)", "at least one of {} must be set")


class _Immutable(Marker, frozen=True):
    """The field is immutable.

    Attributes:
        name: The name of the marker.
        message: The message for another value.
        rule: For an optional field, the rule of the parent object about adding and removing it.
        parent_message: The message for adding and removing the field.
        settable: Whether an absent field may be set later.
    """

    name: str
    message: str
    rule: str
    parent_message: str
    settable: bool = False

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the rule for changes, and the note with the rule for the parent."""
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
        node = ValidationRule("self == oldSelf", self.message).apply(schema, path)
        parent_rule = {"rule": self.rule, "message": self.parent_message}
        return node | {PARENT: [*schema.get(PARENT, ()), parent_rule]}


Immutable: Final[Marker] = _Immutable(
    "Immutable",
    "is immutable",
    "has(self.{0}) == has(oldSelf.{0})",
    "is immutable: it can be neither added nor removed",
)
"""The value cannot change after creation; an absent field stays absent."""

ImmutableOnceSet: Final[Marker] = _Immutable(
    "ImmutableOnceSet",
    "cannot change once it is set",
    "!has(oldSelf.{0}) || has(self.{0})",
    "cannot be removed once it is set",
    settable=True,
)
"""An optional field can be set later, but then cannot change. It has no default, which would be set at creation."""
