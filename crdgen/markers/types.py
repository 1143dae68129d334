"""Types of Kubernetes: sized integers, quantities, times, embedded resources and open objects."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from msgspec.structs import replace
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from crdgen.durations import DURATION_PATTERN, format_duration, parse_duration
from crdgen.formats import FORMATS
from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import OWN
from crdgen.generate.scalars import bound_rule
from crdgen.generate.walk import BOUNDS
from crdgen.markers.marker import Marker, require_type
from crdgen.quantities import QUANTITY_EXAMPLE, QUANTITY_SCHEMA, is_quantity
from crdgen.schema import EMBEDDED, INT_OR_STRING, PRESERVE, VALIDATIONS, Schema
from crdgen.schema.limits import RANGES
from crdgen.schema.look import without


class Replace(Marker, frozen=True, eq=False):
    """Replaces the schema of a field of any Python type, except description, default and nullability.

    Attributes:
        schema: The structural schema, or a function that loads it on first use.
        accepts: Returns whether a value, which already has the Python type, fits the schema.
        wanted: The expected value, for error messages.
    """

    schema: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    accepts: Callable[[Any], bool] | None = None
    wanted: str = "a valid value"

    replaces: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the new schema with the field's own keywords."""
        new = self.schema() if callable(self.schema) else self.schema
        return {**new, **{key: value for key, value in schema.items() if key in OWN}}

    def check(self, value: Any) -> Any:
        """Reject values that the schema rejects."""
        if value is not None and self.accepts is not None and not self.accepts(value):
            raise PydanticCustomError("kubernetes_type", "must be {wanted}", {"wanted": self.wanted})
        return value


IntOrString: TypeAlias = Annotated[int | str, Replace({INT_OR_STRING: True})]
"""An integer or a string, such as a port or a percentage."""

Quantity: TypeAlias = Annotated[int | str, Replace(QUANTITY_SCHEMA, accepts=is_quantity, wanted=QUANTITY_EXAMPLE)]
"""An amount with an SI or binary suffix, as Kubernetes parses it."""

Time: TypeAlias = Annotated[
    str,
    Replace(
        {"type": "string", "format": "date-time"}, accepts=FORMATS["date-time"], wanted="an RFC 3339 date and time"
    ),
]
"""A date and time of RFC 3339."""


class Integer(Marker, frozen=True):
    """An integer of 32 or 64 bits: `Int32`, or with bounds `Int32(minimum=1)`."""

    format: Literal["int32", "int64"]
    minimum: int | None = None
    maximum: int | None = None

    def __call__(self, *, minimum: int | None = None, maximum: int | None = None) -> "Integer":
        """Return the same integer with inclusive bounds."""
        return replace(self, minimum=minimum, maximum=maximum)

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with format and bounds."""
        require_type(schema, "integer", self.format.capitalize(), path, "annotate an `int`")
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return schema | {"format": self.format} | {key: bound for key, bound in bounds.items() if bound is not None}

    def check(self, value: Any) -> Any:
        """Reject integers out of bounds."""
        if value is None:
            return None
        low, high = RANGES[self.format]
        if not low <= value <= high:
            raise PydanticCustomError("integer_size", "must fit into {bits} bits", {"bits": self.format[3:]})
        if self.minimum is not None and value < self.minimum:
            raise PydanticKnownError("greater_than_equal", {"ge": self.minimum})
        if self.maximum is not None and value > self.maximum:
            raise PydanticKnownError("less_than_equal", {"le": self.maximum})
        return value


Int32 = Integer("int32")
Int64 = Integer("int64")


class _PreserveUnknown(Marker, frozen=True):
    """Nothing below the field is pruned; declared fields are still checked."""

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node without pruning."""
        if schema.get(INT_OR_STRING):
            raise SchemaError(path, "PreserveUnknown and int-or-string exclude each other", "drop one of them")
        return schema | {PRESERVE: True}


PreserveUnknown = _PreserveUnknown()


class _EmbeddedResource(Marker, frozen=True):
    """The value has apiVersion, kind and metadata, which the API server checks as in any object.

    Other fields are those of the model; a `dict[str, Any]` keeps all fields.
    """

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node as an embedded resource."""
        require_type(schema, "object", "EmbeddedResource", path, "annotate a model or `dict[str, Any]`")
        # Without fields and without this, nothing of the object would be kept, so the API server rejects the schema.
        return schema | {EMBEDDED: True} | ({} if "properties" in schema else {PRESERVE: True})

    def check(self, value: Any) -> Any:
        """Reject mappings without apiVersion and kind; models have checked themselves."""
        if isinstance(value, Mapping):
            for name in ("apiVersion", "kind"):
                if not (isinstance(value.get(name), str) and value[name]):
                    raise PydanticCustomError("embedded_resource", "must have {name}", {"name": name})
        return value


EmbeddedResource: Final[Marker] = _EmbeddedResource()
"""The value is a whole Kubernetes object."""


# Longest text of a duration: rules for bounds are cheap only if the length of the text is limited.
_LONGEST = 64


class _GoDuration(Marker, frozen=True):
    """A duration in Go's syntax; bounds (`Field(gt=timedelta(0))`) become rules."""

    bounded: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return a string with the pattern of Go's syntax, and a rule for each bound."""
        own = {key: value for key, value in schema.items() if key in OWN or key == VALIDATIONS}
        rules = [
            bound_rule(word, text := format_duration(bound), f"duration('{text}')", "duration(self)")
            for word, bound in schema.get(BOUNDS, {}).items()
        ]
        text_schema: Schema = {"type": "string", "pattern": DURATION_PATTERN, "maxLength": _LONGEST}
        return own | text_schema | ({VALIDATIONS: [*own.get(VALIDATIONS, ()), *rules]} if rules else {})

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Keep the bounds for the rules, and remove the pattern of ISO 8601."""
        node = super().__get_pydantic_json_schema__(schema, handler)
        return without(node, "pattern")

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read and write Go's syntax; in Python, also accept a timedelta."""
        return core_schema.no_info_before_validator_function(
            _read,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _write, return_schema=core_schema.str_schema(), when_used="json-unless-none"
            ),
        )


def _read(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise PydanticCustomError("duration", "must be a duration such as 1h30m, 45s or 500ms")
    try:
        return parse_duration(value)
    except ValueError as error:
        raise PydanticCustomError("duration", "{reason}", {"reason": str(error)}) from error


def _write(value: Any) -> Any:
    return format_duration(value) if isinstance(value, timedelta) else value


Duration: TypeAlias = Annotated[timedelta, _GoDuration()]
"""A duration in the syntax of Go and Kubernetes: `30s`, `1h30m`, `500ms`. Bounds are timedeltas in `Field`."""
