"""Makes a Pydantic model as strict as the API server: no coercion that would lie, none refused that is harmless."""

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from crdgen.integers import integral

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


def strict(schema: CoreSchema) -> CoreSchema:
    """Return a copy of a model's core schema that takes scalars only as JSON writes them.

    Enums, lists and sets stay lax: they are built from JSON strings and arrays, which strictness would refuse.
    """
    return cast("CoreSchema", _strict(schema, root=True))


def _strict(node: Any, *, root: bool = False) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if isinstance(node, tuple):  # a labelled choice of a union
        return (_strict(node[0]), *node[1:])
    if not isinstance(node, dict) or (node.get("type") == "model" and not root):
        return node
    kind = node.get("type")
    if not isinstance(kind, str):  # a table of names, one of which may be `type`: fields, tagged choices
        return {name: _strict(child) for name, child in node.items()}
    return _scalar(node, kind) | {name: _strict(node[name]) for name in _CHILDREN if _is_schema(node.get(name))}


def _scalar(node: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind in _SCALARS:
        return node | {"strict": True}
    if kind == "int":
        schema = core_schema.no_info_before_validator_function(integral, cast("CoreSchema", node | {"strict": True}))
        return cast("dict[str, Any]", schema)
    if kind == "enum":
        schema = core_schema.no_info_before_validator_function(_enum_scalar, cast("CoreSchema", node))
        return cast("dict[str, Any]", schema)
    return node


def _is_schema(child: object) -> bool:
    return isinstance(child, list | Mapping)


def _enum_scalar(value: Any) -> Any:
    """Refuse what an enum of numbers would take for one: `true` is not 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("enum", "must not be a boolean")
    return integral(value)
