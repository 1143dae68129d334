"""The base of models that read Kubernetes JSON, as strict as the API server: no coercion that would lie."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from crdgen.schema.limits import RANGES

# Coercion makes `"3"`, `true` and `1` out of each other for these.
_SCALARS: Final = frozenset({"bool", "float", "str"})
# Where a core schema keeps its children. A nested model has been built, and made strict, by its own class.
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
    """Return 3 for 3.0, because the API server does; everything else as it is.

    Raises:
        PydanticCustomError: For a number beyond 64 bits, which no typed client could read.
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
    """Return a copy of a model's core schema that takes scalars only as JSON writes them.

    Enums, lists and sets stay lax: they are built from JSON strings and arrays, which strictness would reject.
    `resolve` returns what a reference refers to, and raises LookupError where that is still being built.
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
    if not isinstance(kind, str):  # a table of names, one of which may be `type`: fields, tagged choices
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
        referred = resolve(cast("CoreSchema", reference))
    except LookupError:  # a model, which refers to itself
        return False
    return bool(referred["type"] == "enum")


def _enum_scalar(value: Any) -> Any:
    """Reject what an enum of numbers would take for one: `true` is not 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("enum", "must not be a boolean")
    return integral(value)


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
