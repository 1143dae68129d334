"""What rules see of a schema: CEL types, as protobuf descriptors (k8s.io/apiserver, pkg/cel/common/schemas.go).

Protobuf has no lists of lists and no maps of lists or maps: what is inside of those is not typed (`dyn`) where they are
fields. Everything else is typed as the API server types it.
"""

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from crdgen.escaping import RESERVED, escape
from crdgen.schema.walk import Schema
from crdgen.words import EMBEDDED, INT_OR_STRING

PACKAGE: Final = "schema"

_TEXT: Final = {
    "byte": "bytes",
    "date": "timestamp",
    "date-time": "timestamp",
    "datetime": "string",
    "duration": "duration",
}
_META: Final[Schema] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}


@dataclass(frozen=True)
class Scalar:
    """A CEL type without parts."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: "Type"


@dataclass(frozen=True)
class Mapping:
    """A map from text."""

    values: "Type"


@dataclass(frozen=True)
class Structure:
    """An object with named fields; the names are escaped, and reserved words are there as they are, too."""

    path: str
    fields: "dict[str, Type]" = field(hash=False)


Type: TypeAlias = Scalar | Sequence | Mapping | Structure

DYN: Final = Scalar("dyn")


def declared(schema: Schema, path: str = "self", *, root: bool = False) -> Type | None:  # noqa: PLR0911 - one for each type
    """Return the type of a schema's values in rules, or None where rules do not see them."""
    if schema.get(INT_OR_STRING):
        return DYN
    match schema.get("type"):
        case "array":
            items = declared(schema["items"], f"{path}[]") if isinstance(schema.get("items"), dict) else None
            return Sequence(items) if items else None
        case "object":
            return _object(with_meta(schema) if root or schema.get(EMBEDDED) else schema, path)
        case "string":
            return Scalar(_TEXT.get(schema.get("format", ""), "string"))
        case "boolean":
            return Scalar("bool")
        case "number":
            return Scalar("double")
        case "integer":
            return Scalar("int")
        case _:
            return None


def with_meta(schema: Schema) -> Schema:
    """Return the schema of a resource with what rules always see of one: type, name and generateName."""
    text: Schema = {"type": "string"}
    properties: dict[str, Any] = schema.get("properties", {})
    meta = properties.get("metadata", {}).get("properties", {})
    if all(properties.get(name, {}).get("type") == "string" for name in ("apiVersion", "kind")) and all(
        meta.get(name, {}).get("type") == "string" for name in ("name", "generateName")
    ):
        return schema
    return schema | {"properties": properties | {"apiVersion": text, "kind": text, "metadata": _META}}


def _object(schema: Schema, path: str) -> Type | None:
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        values = declared(extra, f"{path}.*")
        return Mapping(values) if values else None
    fields = {}
    for name, child in schema.get("properties", {}).items():
        written, kind = escape(name), declared(child, f"{path}.{name}")
        if written and kind:
            fields[written] = kind
            if name in RESERVED:
                # Known by its own name, too, as far as CEL's grammar lets that be written: `self.namespace`.
                fields[name] = kind
    return Structure(path, fields)
