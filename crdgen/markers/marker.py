"""The base of markers: Pydantic passes them to the pipeline, and they check values like the schema.

Also the markers that add no keyword: descriptions, the depth of recursive models, and defaults of the model only.
"""

from typing import Any, ClassVar, Final, Literal

from msgspec import Struct
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import MARKERS
from crdgen.generate.tidy import POLICY
from crdgen.schema import Schema


class Marker(Struct, frozen=True):
    """Base of markers. A marker is immutable. It overrides `apply`, and `check` if values can violate it.

    Attributes:
        replaces: Whether the marker gives the whole schema; Pydantic's schema of the type is then ignored.
    """

    replaces: ClassVar[bool] = False

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the marker applied.

        Raises:
            SchemaError: The marker does not fit the node.
        """
        return schema

    def check(self, value: Any) -> Any:
        """Return a value of the model, or raise a Pydantic error if the schema would reject it."""
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Add the check to the field's validator."""
        schema = handler(source)
        if type(self).check is Marker.check:
            return schema
        return core_schema.no_info_after_validator_function(self.check, schema)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Put the marker into the JSON schema: the pipeline applies it when the path is known."""
        node = handler(schema)
        return {**node, MARKERS: [*node.get(MARKERS, ()), self]}


def require_type(schema: Schema, expected: str, marker: str, path: str, fix: str) -> None:
    """Raise a SchemaError unless the node has the expected JSON type."""
    kind = schema.get("type", "any")
    if kind != expected:
        raise SchemaError(path, f"{marker} is for {expected}s, and the field is of type {kind}", fix)


class Keyword(Marker, frozen=True):
    """A keyword of Kubernetes for nodes of one JSON type; `fix` is for errors about nodes of other types."""

    name: str
    type: str
    keyword: str
    value: Any
    fix: str

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the keyword."""
        require_type(schema, self.type, self.name, path, self.fix)
        return schema | {self.keyword: self.value}


class Doc(Marker, frozen=True):
    """The field's description in the schema; overrides the docstring of the field's type."""

    text: str

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the description."""
        return schema | {"description": self.text}


class Descriptions(Marker, frozen=True):
    """Keep or drop descriptions, or shorten them to a number of characters, after a whole sentence if possible.

    On a field, it applies to all fields below that field, but not to the field's own description, and overrides other
    settings. On a version or a resource, it applies to the whole schema.
    """

    what: Literal["keep", "drop"] | int = "keep"

    def __post_init__(self) -> None:
        if not (self.what in {"keep", "drop"} or (isinstance(self.what, int) and self.what > 0)):
            raise SchemaError(f"Descriptions({self.what!r})", "is no policy", "use `keep`, `drop`, or a number above 0")

    @property
    def limit(self) -> int | None:
        """The longest description in characters; None for no limit."""
        return self.what if isinstance(self.what, int) else {"keep": None, "drop": 0}[self.what]

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the limit for descriptions below it."""
        return schema | {POLICY: self.limit}


KEEP: Final = Descriptions("keep")


class Depth(Marker, frozen=True):
    """Levels of a recursive model in the schema.

    With `children: Annotated[list["Node"], Depth(3)]` the schema contains a node in a node in a node. Below that, any
    object is valid, and nothing is pruned. The model itself checks all levels. Each level multiplies the size of the
    schema if there are several recursive fields.

    Attributes:
        levels: 1 or more.
    """

    levels: int

    def __post_init__(self) -> None:
        if self.levels < 1:
            raise SchemaError(f"Depth({self.levels})", "a model is in the schema at least one time", "use 1 or more")


class _ModelDefault(Marker, frozen=True):
    """The field is optional and has no default in the schema; only readers of the model see the model's default."""

    own_default: ClassVar[bool] = True


ModelDefault: Final[Marker] = _ModelDefault()
"""For defaults that vary, as `Field(default_factory=uuid4)`, or should not be in a CRD."""
