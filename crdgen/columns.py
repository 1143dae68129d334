"""Printer columns, checked against the schema that they read."""

import re
from collections.abc import Iterable
from typing import Any, Final

from crdgen.errors import SchemaError
from crdgen.resource import Column, ColumnType
from crdgen.schema.walk import Schema

_METADATA: Final[dict[str, ColumnType]] = {
    ".metadata.creationTimestamp": "date",
    ".metadata.deletionTimestamp": "date",
    ".metadata.generation": "integer",
    ".metadata.name": "string",
    ".metadata.namespace": "string",
}
_TYPES: Final[dict[str, ColumnType]] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "string": "string",
}
_PLAIN: Final = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_-]*)+")


def printer_columns(columns: Iterable[Column], schema: Schema, kind: str) -> list[dict[str, Any]]:
    """Return the columns as the CRD has them, typed.

    Raises:
        SchemaError: When a path is not a field, or is one that has no column type and none is given.
    """
    return [_column(column, schema, f"{kind} column {column.name}") for column in columns]


def _column(column: Column, schema: Schema, path: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": column.name,
        "jsonPath": column.json_path,
        "type": column.type or _type(column.json_path, schema, path),
    }
    if column.description:
        result["description"] = column.description
    if column.priority:
        result["priority"] = column.priority
    return result


def _type(json_path: str, schema: Schema, path: str) -> ColumnType:
    if json_path in _METADATA:
        return _METADATA[json_path]
    if not _PLAIN.fullmatch(json_path):
        raise SchemaError(path, f"the type of {json_path} cannot be told from the schema", "give the column a type")
    node = schema
    for name in json_path[1:].split("."):
        properties: dict[str, Schema] = node.get("properties", {})
        if name not in properties:
            known = ", ".join(sorted(properties)) or "nothing"
            raise SchemaError(path, f"{json_path} names no field", f"at `{name}` the schema has {known}")
        node = properties[name]
    if node.get("format") in {"date", "date-time"}:
        return "date"
    found = _TYPES.get(node.get("type", ""))
    if found is None:
        raise SchemaError(path, f"{json_path} is no scalar", "give the column a type, or a path to a scalar")
    return found
