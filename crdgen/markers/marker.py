"""What every marker does: travel through Pydantic to the pipeline, and hold for values as it does in the schema.

Also the markers that add no keyword: descriptions, the depth of recursive models, and defaults of the model's own.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import MARKERS
from crdgen.generate.tidy import POLICY
from crdgen.schema import Schema


class Marker:
    """Base of the markers. A marker is immutable, and overrides `apply`, and `check` where values can break it.

    Attributes:
        replaces: The marker gives the whole schema; what Pydantic says of the type is not looked at.
    """

    replaces: ClassVar[bool] = False

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the schema node with what the marker says.

        Raises:
            SchemaError: When the marker does not fit the node.
        """
        return schema

    def check(self, value: Any) -> Any:
        """Return a value of the model, or raise a Pydantic error where the schema would reject it."""
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


@dataclass(frozen=True)
class Keyword(Marker):
    """A keyword of Kubernetes, for nodes of one JSON type; `fix` says what to do about a node of another type."""

    name: str
    type: str
    keyword: str
    value: Any
    fix: str

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the keyword."""
        require_type(schema, self.type, self.name, path, self.fix)
        return schema | {self.keyword: self.value}


@dataclass(frozen=True)
class Doc(Marker):
    """The field's description in the schema; it wins over the docstring of the field's type."""

    text: str

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the description."""
        return schema | {"description": self.text}


@dataclass(frozen=True)
class Descriptions(Marker):
    """What becomes of descriptions: `keep`, `drop`, or cut to so many characters, at the end of a sentence if one fits.

    On a field it speaks of what is below the field, and wins over what is said further up; the field's own description
    stays as it would be without. As a setting of a version or of the resource it speaks of the whole schema.
    """

    what: Literal["keep", "drop"] | int = "keep"

    def __post_init__(self) -> None:
        if not (self.what in {"keep", "drop"} or (isinstance(self.what, int) and self.what > 0)):
            raise SchemaError(f"Descriptions({self.what!r})", "is no policy", "use `keep`, `drop`, or a number above 0")

    @property
    def limit(self) -> int | None:
        """The most characters that stay; None for all."""
        return self.what if isinstance(self.what, int) else {"keep": None, "drop": 0}[self.what]

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the node with the policy for what is below it."""
        return schema | {POLICY: self.limit}


KEEP: Final = Descriptions("keep")


@dataclass(frozen=True)
class Depth(Marker):
    """How often a model is written into itself below this field.

    With `children: Annotated[list["Node"], Depth(3)]` the schema holds a node in a node in a node; below the third, a
    node is any object, of which nothing is checked and nothing pruned. The model itself goes on checking all levels.
    Mind the size: with several recursive fields, each level multiplies it.

    Attributes:
        levels: 1 or more.
    """

    levels: int

    def __post_init__(self) -> None:
        if self.levels < 1:
            raise SchemaError(f"Depth({self.levels})", "a model is in the schema at least one time", "use 1 or more")


@dataclass(frozen=True)
class _ModelDefault(Marker):
    """The field is optional and has no default in the schema; who reads the object by the model finds the model's."""

    own_default: ClassVar[bool] = True


ModelDefault: Final[Marker] = _ModelDefault()
"""For defaults that are new each time, as `Field(default_factory=uuid4)`, or that a CRD should not show."""
