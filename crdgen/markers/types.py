"""Types that are Kubernetes' own: integers of a size, quantities, times, embedded resources and open objects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from crdgen.durations import DURATION_PATTERN, format_duration, parse_duration
from crdgen.formats import FORMATS
from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import OWN
from crdgen.generate.scalars import rule_of_bound
from crdgen.generate.walk import BOUNDS
from crdgen.markers.marker import Marker, require_type
from crdgen.quantities import QUANTITY_EXAMPLE, QUANTITY_SCHEMA, is_quantity
from crdgen.schema import EMBEDDED, INT_OR_STRING, PRESERVE, VALIDATIONS, Schema
from crdgen.schema.limits import RANGES
from crdgen.schema.look import without


@dataclass(frozen=True, eq=False)
class Replace(Marker):
    """The field's schema is this one, whatever its Python type; description, default and nullability stay the field's.

    Attributes:
        schema: The structural schema, or a function that loads it when a schema is first asked for.
        accepts: Tells whether a value, which already has the Python type, fits the schema.
        wanted: What error messages ask for.
    """

    schema: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    accepts: Callable[[Any], bool] | None = None
    wanted: str = "a valid value"

    replaces: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the given schema with the field's own words."""
        given = self.schema() if callable(self.schema) else self.schema
        return {**given, **{key: value for key, value in schema.items() if key in OWN}}

    def check(self, value: Any) -> Any:
        """Reject what the schema would reject."""
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
"""A moment, as RFC 3339 writes it."""


@dataclass(frozen=True)
class Integer(Marker):
    """An integer of 32 or 64 bits. Used as it is, `Int32`, or called for bounds, `Int32(minimum=1)`."""

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
        """Reject an integer that the bounds or the size reject."""
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


@dataclass(frozen=True)
class _PreserveUnknown(Marker):
    """Nothing below the field is pruned; fields that the schema names are still checked."""

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with pruning switched off."""
        if schema.get(INT_OR_STRING):
            raise SchemaError(path, "PreserveUnknown and int-or-string exclude each other", "drop one of them")
        return schema | {PRESERVE: True}


PreserveUnknown = _PreserveUnknown()


@dataclass(frozen=True)
class _EmbeddedResource(Marker):
    """The value has apiVersion, kind and metadata, which the API server checks as it does those of any object.

    Other fields are those of the model; in a `dict[str, Any]` all are kept.
    """

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node as an embedded resource."""
        require_type(schema, "object", "EmbeddedResource", path, "annotate a model or `dict[str, Any]`")
        # With neither fields nor this the API server rejects the schema: nothing of the object would be kept.
        return schema | {EMBEDDED: True} | ({} if "properties" in schema else {PRESERVE: True})

    def check(self, value: Any) -> Any:
        """Reject what is no object of Kubernetes; what is a model has been checked by it."""
        if isinstance(value, Mapping):
            for name in ("apiVersion", "kind"):
                if not (isinstance(value.get(name), str) and value[name]):
                    raise PydanticCustomError("embedded_resource", "must have {name}", {"name": name})
        return value


EmbeddedResource: Final[Marker] = _EmbeddedResource()
"""The value is a whole Kubernetes object."""


# Longer ones say nothing more, and the rules of bounds are cheap only for texts of known length.
_LONGEST = 64


@dataclass(frozen=True)
class _GoDuration(Marker):
    """The text is Go's; bounds (`Field(gt=timedelta(0))`) become rules."""

    bounded: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return a string of Go's form, with a rule for each bound."""
        own = {key: value for key, value in schema.items() if key in OWN or key == VALIDATIONS}
        rules = [
            rule_of_bound(word, text := format_duration(bound), f"duration('{text}')", "duration(self)")
            for word, bound in schema.get(BOUNDS, {}).items()
        ]
        said: Schema = {"type": "string", "pattern": DURATION_PATTERN, "maxLength": _LONGEST}
        return own | said | ({VALIDATIONS: [*own.get(VALIDATIONS, ()), *rules]} if rules else {})

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Leave the bounds for the rules, and nothing of ISO 8601."""
        node = super().__get_pydantic_json_schema__(schema, handler)
        return without(node, "pattern")

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read and write Go's form; in Python a timedelta is taken too."""
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
"""A duration as Go and Kubernetes write it: `30s`, `1h30m`, `500ms`. Bounds are given as timedeltas, by `Field`."""
