"""The base of models that read Kubernetes JSON, as strict as the API server: without misleading coercions."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from crdgen.schema.limits import RANGES

# Pydantic converts between `"3"`, `true` and `1` for these types.
_SCALARS: Final = frozenset({"bool", "float", "str"})
# Keys of a core schema with its children. Nested models are already strict by their own classes.
_CHILDREN: Final = (
    "schema",
    "items_schema",
    "keys_schema",
    "values_schema",
    "extras_schema",
    "choices",
    "fields",
    "steps",
    "definitions",
)


def integral(value: Any) -> Any:
    """Return 3 for 3.0, like the API server; return all other values unchanged.

    Raises:
        PydanticCustomError: The number exceeds 64 bits, so that no typed client could read it.
    """
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int:
        low, high = RANGES["int64"]
        if not low <= value <= high:
            raise PydanticCustomError("int64", "must fit into 64 bits")
    return value


Resolve: TypeAlias = Callable[[CoreSchema], CoreSchema]


def strict(schema: CoreSchema, resolve: Resolve) -> CoreSchema:
    """Return a copy of a model's core schema that accepts scalars only in their JSON types.

    Enums, lists and sets stay lax, since strict ones would reject JSON strings and arrays.
    `resolve` returns the target of a reference, or raises LookupError if it is still being built.
    """
    return cast("CoreSchema", _strict(schema, resolve, root=True))


def _strict(node: Any, resolve: Resolve, *, root: bool = False) -> Any:
    if isinstance(node, list):
        return [_strict(item, resolve) for item in node]
    if isinstance(node, tuple):  # a labelled choice of a union
        return (_strict(node[0], resolve), *node[1:])
    if not isinstance(node, dict) or (node.get("type") == "model" and not root):
        return node
    kind = node.get("type")
    if not isinstance(kind, str):  # a table of fields or of tagged choices, one possibly named `type`
        return {name: _strict(child, resolve) for name, child in node.items()}
    children = {name: _strict(node[name], resolve) for name in _CHILDREN if isinstance(node.get(name), list | Mapping)}
    return _scalar(node, kind, resolve) | children


def _scalar(node: dict[str, Any], kind: str, resolve: Resolve) -> dict[str, Any]:
    if kind in _SCALARS:
        return node | {"strict": True}
    if kind == "int":
        return _before(integral, node | {"strict": True})
    if kind == "enum" or (kind == "definition-ref" and _is_enum(node, resolve)):
        return _before(_enum_scalar, node)
    return node


def _before(function: Callable[[Any], Any], node: dict[str, Any]) -> dict[str, Any]:
    schema = core_schema.no_info_before_validator_function(function, cast("CoreSchema", node))
    return cast("dict[str, Any]", schema)


def _is_enum(reference: dict[str, Any], resolve: Resolve) -> bool:
    try:
        target = resolve(cast("CoreSchema", reference))
    except LookupError:  # a recursive model
        return False
    return bool(target["type"] == "enum")


def _enum_scalar(value: Any) -> Any:
    """Reject booleans, which an enum of numbers would accept: `true` is not 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("enum", "must not be a boolean")
    return integral(value)


class Model(BaseModel):
    """A part of a Kubernetes object.

    Fields are snake_case in Python and camelCase in JSON. Values must have the types that the API server accepts: `"3"`
    and `true` are not integers, `3.0` is. Unknown fields are ignored, because the API server prunes them. The docstring
    becomes the schema's description.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="ignore", frozen=True, protected_namespaces=(), defer_build=True
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Build the validator without misleading coercions."""
        return strict(handler(source), handler.resolve_ref_schema)

    def to_json(self) -> dict[str, Any]:
        """Return the object as Kubernetes JSON: camelCase, and without nulls."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
