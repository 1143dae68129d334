"""The last look: private notes go, and what no earlier stage could give a type is refused."""

from typing import Final

from crdgen.errors import SchemaError
from crdgen.schema.notes import COSTLY, PREFIX
from crdgen.schema.walk import Schema
from crdgen.sealed import Sealed
from crdgen.words import INT_OR_STRING, PRESERVE

_TYPES: Final = frozenset({"array", "boolean", "integer", "number", "object", "string"})


def tidy(schema: Schema, path: str, *, unbounded: str = "") -> Schema:
    """Return the schema without private notes.

    Args:
        schema: The schema, all stages behind it.
        path: The node's path.
        unbounded: The path of a list or map around the node that may have any number of items; empty where none may.

    Raises:
        SchemaError: For a node without a type, and for a rule over keys that would be checked any number of times.
    """
    if isinstance(schema, Sealed):
        return schema
    if schema.get("type") not in _TYPES and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        raise SchemaError(path, *_untyped(schema.get("type")))
    if COSTLY in schema and unbounded:
        raise SchemaError(
            path,
            f"a rule over the keys, checked for each of any number of items of {unbounded}, would cost more than the "
            "API server allows",
            "bound the items with `Field(max_length=…)`, or use `dict[str, …]`",
        )
    result = {key: value for key, value in schema.items() if not key.startswith(PREFIX)}
    for keyword, bound, step in (("items", "maxItems", "[]"), ("additionalProperties", "maxProperties", ".*")):
        if isinstance(schema.get(keyword), dict):
            around = unbounded or ("" if bound in schema else path)
            result[keyword] = tidy(schema[keyword], f"{path}{step}", unbounded=around)
    if "properties" in schema:
        result["properties"] = {
            name: tidy(child, f"{path}.{name}", unbounded=unbounded) for name, child in schema["properties"].items()
        }
    return result


def _untyped(found: object) -> tuple[str, str]:
    if found == "null":
        return "the field takes nothing but null", "leave it out, or give it a type"
    problem = f"the type {found!r} is none of JSON's" if found else "has no single type"
    return problem, "use one type, or `Annotated[Any, PreserveUnknown]`"
