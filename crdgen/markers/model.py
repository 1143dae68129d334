"""The base of models that read and describe Kubernetes JSON."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from crdgen.markers.strictness import strict


class Model(BaseModel):
    """A part of a Kubernetes object.

    Fields are snake_case in Python and camelCase in JSON, only. Values are taken as the API server takes them: `"3"`
    and `true` are not integers, `3.0` is one. Unknown fields are ignored, because pruning them is the API server's
    work. The docstring becomes the schema's description.
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", frozen=True, protected_namespaces=())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Build the validator, without the coercions that would lie."""
        return strict(handler(source), handler.resolve_ref_schema)

    def to_json(self) -> dict[str, Any]:
        """Return the object as Kubernetes JSON: camelCase, and without nulls."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
