"""The CEL types of a schema, and the largest sizes of their values.

Sources: k8s.io/apiserver, pkg/cel/common/schemas.go and pkg/cel/limits.go.
"""

from typing import Any, Final

from msgspec import Struct

from crdgen.escaping import RESERVED, escape
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, Schema
from crdgen.schema.look import utf8

#: Limit of a request in bytes, and so of values without a bound.
REQUEST: Final = 3 * 1024 * 1024
#: Largest number of bytes per character.
_CHARACTER: Final = 4

#: Formats of strings that have another type in rules, with the maximum characters and minimum bytes of a value.
_TIMES: Final = {"date": ("timestamp", 12, 12), "date-time": ("timestamp", 32, 21), "duration": ("duration", 32, 3)}
#: Scalars that are not strings, with the minimum bytes of a value.
_SCALARS: Final = {"boolean": ("bool", 4), "integer": ("int", 1), "number": ("double", 1)}

_TEXT: Final[Schema] = {"type": "string"}
_META: Final[Schema] = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}


class Type(Struct, frozen=True, eq=False):
    """The values at one place of a schema.

    Attributes:
        name: the type in CEL; `object` for objects with fields, `dyn` for an integer or string.
        path: the place, as in messages: `self.tasks[]`.
        max_size: the largest number of characters, bytes or entries of a value; 0 if it has no size.
        min_bytes: the smallest number of bytes of a value in JSON.
        keyword: the keyword that bounds the size; empty if there is none.
        bounded: whether the schema has that keyword.
        inner: the type of items, or of a map's values.
        fields: the fields of an object by their names in rules: escaped, and reserved words also without escaping.
        time_format: the format of a string that is a time in rules.
        keys: for lists whose order does not matter, the keys that identify an item; empty for sets.
    """

    name: str
    path: str = "self"
    max_size: int = 0
    min_bytes: int = 0
    keyword: str = ""
    bounded: bool = True
    inner: "Type | None" = None
    fields: "dict[str, Type]" = {}
    time_format: str = ""
    keys: "tuple[str, ...] | None" = None


def type_of(schema: Schema, path: str = "self", *, root: bool = False) -> Type | None:  # noqa: PLR0911 - one for each type
    """Return the type of a schema's values, or None if rules do not see them.

    With `root`, the value is a whole resource: rules see its type and name even if the schema does not list them.
    """
    if schema.get(INT_OR_STRING):
        return _sized("dyn", path, schema, "maxLength", REQUEST - 2, min_bytes=1, factor=_CHARACTER)
    match schema.get("type"):
        case "array":
            items = _inside(schema.get("items"), f"{path}[]")
            max_size = (REQUEST - 2) // (items.min_bytes + 1) if items else 0
            return _sized("list", path, schema, "maxItems", max_size, min_bytes=2, inner=items) if items else None
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            values = _inside(schema["additionalProperties"], f"{path}.*")
            max_size = (REQUEST - 2) // (values.min_bytes + 6) if values else 0
            return _sized("map", path, schema, "maxProperties", max_size, min_bytes=2, inner=values) if values else None
        case "object":
            return _object(_with_meta(schema) if root or schema.get(EMBEDDED) else schema, path)
        case "string":
            return _text(schema, path)
        case str(kind) if kind in _SCALARS:
            name, min_bytes = _SCALARS[kind]
            return Type(name, path, min_bytes=min_bytes)
        case _:
            return None


def _inside(schema: Any, path: str) -> Type | None:
    return type_of(schema, path) if isinstance(schema, dict) else None


def _sized(
    name: str,
    path: str,
    schema: Schema,
    keyword: str,
    default: int,
    *,
    min_bytes: int,
    factor: int = 1,
    inner: Type | None = None,
) -> Type:
    bounded = keyword in schema
    max_size = max(0, schema[keyword]) * factor if bounded else default
    keys = {"set": (), "map": tuple(schema.get(LIST_MAP_KEYS, ()))}.get(schema.get(LIST_TYPE, ""))
    return Type(name, path, max_size, min_bytes, keyword, bounded, inner, keys=keys)


def _text(schema: Schema, path: str) -> Type:
    form = schema.get("format", "")
    if form in _TIMES:
        name, max_size, min_bytes = _TIMES[form]
        return Type(name, path, max_size, min_bytes, time_format=form)
    if form == "byte":
        return _sized("bytes", path, schema, "maxLength", REQUEST - 2, min_bytes=2)
    if "maxLength" not in schema and schema.get("enum"):
        longest = max((len(utf8(value)) for value in schema["enum"] if isinstance(value, str)), default=0)
        return Type("string", path, longest, 2, "maxLength")
    return _sized("string", path, schema, "maxLength", REQUEST - 2, min_bytes=2, factor=_CHARACTER)


def _object(schema: Schema, path: str) -> Type:
    fields, min_bytes = {}, 2
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        inner = type_of(child, f"{path}.{name}")
        if inner is None:
            continue
        if escaped := escape(name):
            fields[escaped] = inner
        if name in RESERVED:
            # Also known without escaping, if CEL's grammar allows it: `self.namespace`.
            fields[name] = inner
        # A field with a default need not be sent.
        if name in required and child.get("default") is None:
            min_bytes += len(utf8(name)) + inner.min_bytes + len('"":,')
    return Type("object", path, min_bytes=min_bytes, fields=fields)


def _with_meta(schema: Schema) -> Schema:
    """Return the schema of a resource with the fields that rules always see: type, name and generateName."""
    properties: Schema = schema.get("properties", {})
    meta = properties.get("metadata", {}).get("properties", {})
    if all(properties.get(name, {}).get("type") == "string" for name in ("apiVersion", "kind")) and all(
        meta.get(name, {}).get("type") == "string" for name in ("name", "generateName")
    ):
        return schema
    return schema | {"properties": properties | {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _META}}
