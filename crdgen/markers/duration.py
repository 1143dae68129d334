"""Durations in Kubernetes' own words: a `timedelta` in Python, `1h30m` in JSON."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from crdgen.durations import DURATION_PATTERN, format_duration, parse_duration
from crdgen.generate.inline import OWN
from crdgen.generate.notes import BOUNDS
from crdgen.generate.temporal import rule_of_bound
from crdgen.markers.marker import Marker
from crdgen.schema import VALIDATIONS, Schema

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
        return {key: value for key, value in node.items() if key != "pattern"}

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
