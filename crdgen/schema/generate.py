"""Stage 1: a Pydantic model becomes a JSON schema, with its defaults as JSON."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema, to_jsonable_python

from crdgen.errors import SchemaError
from crdgen.schema.declared import rules_of
from crdgen.schema.inline import MARKERS
from crdgen.schema.walk import Schema

# Left in a node whose default cannot be known; a later stage, which knows the path, refuses it.
FACTORY: Final = "x-crdgen-factory"
_CONTAINERS: Final = (dict, list, set, frozenset, tuple)


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, which also knows the defaults that pure factories make, and warns of nothing."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Describe a field with a default."""
        factory = schema.get("default_factory")
        if factory is None:
            return super().default_schema(schema)
        inner = self.generate_inner(schema["schema"])
        if factory in _CONTAINERS or (isinstance(factory, type) and issubclass(factory, BaseModel)):
            return inner | {"default": json_of(factory())}
        return inner | {FACTORY: getattr(factory, "__qualname__", repr(factory))}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Describe a model, with the rules that were put on its class."""
        return _ruled(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Describe a dataclass, with the rules that were put on it."""
        return _ruled(super().dataclass_schema(schema), schema["cls"])

    def encode_default(self, dft: Any) -> Any:
        """Write a default as JSON, models by alias."""
        return json_of(dft)


def _ruled(schema: JsonSchemaValue, declared: type) -> JsonSchemaValue:
    markers = rules_of(declared)
    return schema | {MARKERS: [*schema.get(MARKERS, ()), *markers]} if markers else schema


def generate(model: type[BaseModel], path: str) -> Schema:
    """Return the model's JSON schema for what it accepts, names as in JSON, references kept.

    Raises:
        SchemaError: When a type has no JSON schema at all.
    """
    try:
        return model.model_json_schema(mode="validation", by_alias=True, schema_generator=_Generator)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise SchemaError(path, error.message, "use a type that JSON can carry") from error


def json_of(default: Any) -> Any:
    """Return a default as Kubernetes JSON: aliases, enum values, and no nulls in objects.

    The API server refuses a default with a null for a field that is not nullable, and Pydantic writes such nulls.
    """
    if isinstance(default, BaseModel):
        return json_of(default.model_dump(mode="json", by_alias=True))
    if isinstance(default, Enum):
        return json_of(default.value)
    if isinstance(default, Mapping):
        return {key: json_of(value) for key, value in default.items() if value is not None}
    if isinstance(default, list | tuple):
        return [json_of(value) for value in default]
    if isinstance(default, set | frozenset):
        return sorted((json_of(value) for value in default), key=repr)
    return to_jsonable_python(default)
