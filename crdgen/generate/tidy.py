"""The last look: private notes go, and what no earlier stage could give a type is refused."""

from typing import Final

from crdgen.generate.errors import Faults, SchemaError
from crdgen.generate.notes import COSTLY, PREFIX
from crdgen.schema import INT_OR_STRING, PRESERVE, Schema
from crdgen.schema.sealed import Sealed

_TYPES: Final = frozenset({"array", "boolean", "integer", "number", "object", "string"})


def tidy(schema: Schema, path: str) -> Schema:
    """Return the schema, all stages behind it, without private notes."""
    faults = Faults()
    result = _tidied(schema, path, faults, unbounded="")
    faults.tell()
    return result


def _tidied(schema: Schema, path: str, faults: Faults, *, unbounded: str) -> Schema:
    """Return the node tidied; `unbounded` is the path of a list or map around it that may have any number of items."""
    if isinstance(schema, Sealed):
        return schema
    with faults.gathered():
        _check(schema, path, unbounded)
    result = {key: value for key, value in schema.items() if not key.startswith(PREFIX)}
    for keyword, bound, step in (("items", "maxItems", "[]"), ("additionalProperties", "maxProperties", ".*")):
        if isinstance(schema.get(keyword), dict):
            around = unbounded or ("" if bound in schema else path)
            result[keyword] = _tidied(schema[keyword], f"{path}{step}", faults, unbounded=around)
    if "properties" in schema:
        result["properties"] = {
            name: _tidied(child, f"{path}.{name}", faults, unbounded=unbounded)
            for name, child in schema["properties"].items()
        }
    return result


def _check(schema: Schema, path: str, unbounded: str) -> None:
    if schema.get("type") not in _TYPES and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        raise SchemaError(path, *_untyped(schema.get("type")))
    if COSTLY in schema and unbounded:
        raise SchemaError(
            path,
            f"a rule over the keys, checked for each of any number of items of {unbounded}, would cost more than the "
            "API server allows",
            "bound the items with `Field(max_length=…)`, or use `dict[str, …]`",
        )


def _untyped(found: object) -> tuple[str, str]:
    if found == "null":
        return "the field takes nothing but null", "leave it out, or give it a type"
    problem = f"the type {found!r} is none of JSON's" if found else "has no single type"
    return problem, "use one type, or `Annotated[Any, PreserveUnknown]`"
