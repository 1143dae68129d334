"""What every marker does: travel through Pydantic to the pipeline, and hold for values as it does in the schema."""

from typing import Any, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import MARKERS
from crdgen.schema import Schema


class Marker:
    """Base of the markers. A marker is immutable, and overrides `apply`, and `check` where values can break it.

    Attributes:
        replaces: The marker gives the whole schema; what Pydantic says of the type is not looked at.
    """

    replaces: ClassVar[bool] = False

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the schema node with what the marker says.

        Raises:
            SchemaError: When the marker does not fit the node.
        """
        raise NotImplementedError

    def check(self, value: Any) -> Any:
        """Return a value of the model, or raise a Pydantic error where the schema would refuse it."""
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Add the check to the field's validator."""
        schema = handler(source)
        if type(self).check is Marker.check:
            return schema
        return core_schema.no_info_after_validator_function(self.check, schema)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Leave the marker in the JSON schema, for the pipeline to apply where the path is known."""
        node = handler(schema)
        return {**node, MARKERS: [*node.get(MARKERS, ()), self]}


def require_type(schema: Schema, wanted: str, marker: str, path: str, fix: str) -> None:
    """Raise a SchemaError unless the node is of the wanted JSON type."""
    found = schema.get("type", "any")
    if found != wanted:
        raise SchemaError(path, f"{marker} is for {wanted}s, and the field is of type {found}", fix)
