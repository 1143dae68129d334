"""Printer columns, checked against the schema that they read."""

from collections.abc import Iterable
from typing import Any, Final, get_args

from crdgen.generate.errors import SchemaError
from crdgen.resource import paths
from crdgen.resource.resource import Column, ColumnType
from crdgen.schema import INT_OR_STRING, Schema
from crdgen.schema.limits import COLUMN_FORMATS

_TYPES: Final[dict[str, ColumnType]] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "string": "string",
}
# What a column of this type prints; of any other value it prints nothing. A column of text prints whatever it finds.
# k8s.io/apiextensions-apiserver, pkg/registry/customresource/tableconvertor/tableconvertor.go
_PRINTS: Final[dict[ColumnType, frozenset[str]]] = {
    "boolean": frozenset({"boolean"}),
    "date": frozenset({"string"}),
    "integer": frozenset({"integer", "number"}),
    "number": frozenset({"integer", "number"}),
}


def printer_columns(columns: Iterable[Column], schema: Schema, kind: str) -> list[dict[str, Any]]:
    """Return the columns as the CRD has them, typed.

    Raises:
        SchemaError: When a path is not a field, or is one that has no column type and none is given.
    """
    whole = schema | {"properties": schema.get("properties", {}) | {"metadata": paths.METADATA}}
    return [_column(column, whole, f"{kind} column {column.name}") for column in columns]


def _column(column: Column, schema: Schema, path: str) -> dict[str, Any]:
    if not column.name.strip():
        raise SchemaError(path, f"the column of {column.json_path} has no name", "give it a heading")
    if column.type is not None and column.type not in get_args(ColumnType):
        raise SchemaError(path, f"{column.type} is no column type", f"use one of: {', '.join(get_args(ColumnType))}")
    if column.format and column.format not in COLUMN_FORMATS:
        raise SchemaError(path, f"{column.format} is no format of a column", f"use one of: {', '.join(COLUMN_FORMATS)}")
    result: dict[str, Any] = {
        "name": column.name,
        "jsonPath": column.json_path,
        "type": _type(column, schema, path),
        "description": column.description,
        "priority": column.priority,
        "format": column.format,
    }
    return {key: value for key, value in result.items() if value}


def _type(column: Column, schema: Schema, path: str) -> ColumnType:
    """Return the type that is given, where the field's can be printed as such, or else the field's own."""
    if not column.json_path.startswith("."):
        raise SchemaError(path, f"{column.json_path!r} does not begin with a dot", "write it as `.status.phase`")
    node = paths.field(schema, column.json_path, path)
    kind = "string" if node and node.get(INT_OR_STRING) else (node or {}).get("type")
    if column.type is not None:
        if kind is not None and column.type in _PRINTS and kind not in _PRINTS[column.type]:
            fix = "leave the type out, or use `string`, which prints anything"
            raise SchemaError(
                path, f"{column.json_path} is of type {kind}, which is never printed as {column.type}", fix
            )
        return column.type
    if node is None or kind is None:
        raise SchemaError(
            path, f"the type of {column.json_path} cannot be told from the schema", "give the column a type"
        )
    if kind not in _TYPES:
        raise SchemaError(path, f"{column.json_path} is no scalar", "give the column a type, or a path to a scalar")
    return "date" if kind == "string" and node.get("format") in {"date", "date-time"} else _TYPES[kind]
