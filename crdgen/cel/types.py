"""What rules see of a schema: CEL types, and how large values can be.

Sources: k8s.io/apiserver, pkg/cel/common/schemas.go and pkg/cel/limits.go.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from crdgen.escaping import RESERVED, escape
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, Schema
from crdgen.schema.look import utf8

#: The most bytes of a request: what has no bound may be as large.
REQUEST: Final = 3 * 1024 * 1024
#: A character is up to so many bytes.
_CHARACTER: Final = 4

#: Texts that rules see as something else, with the most characters and the fewest bytes of one.
_TIMES: Final = {"date": ("timestamp", 12, 12), "date-time": ("timestamp", 32, 21), "duration": ("duration", 32, 3)}
#: Numbers and the like, with the fewest bytes of one.
_SCALARS: Final = {"boolean": ("bool", 4), "integer": ("int", 1), "number": ("double", 1)}

_TEXT: Final[Schema] = {"type": "string"}
_META: Final[Schema] = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}


@dataclass(frozen=True, eq=False)
class Type:
    """The values at one place of a schema.

    Attributes:
        name: their type in CEL; `object` for one with fields, `dyn` for an integer or text.
        path: the place, as messages name it: `self.tasks[]`.
        most: the most characters, bytes or entries of one; 0 where it has no size.
        least: the fewest bytes of one in JSON.
        keyword: the keyword that bounds the size; empty where none does.
        bounded: whether that keyword is there.
        inner: the type of items, or of a map's values.
        fields: the fields of an object, by their names in rules: escaped, and reserved words also as they are.
        timed: the format of a text that rules see as a time.
        keys: what tells the items of a list apart whose order does not matter: of a set, nothing but themselves.
    """

    name: str
    path: str = "self"
    most: int = 0
    least: int = 0
    keyword: str = ""
    bounded: bool = True
    inner: "Type | None" = None
    fields: "dict[str, Type]" = field(default_factory=dict)
    timed: str = ""
    keys: "tuple[str, ...] | None" = None


def type_of(schema: Schema, path: str = "self", *, root: bool = False) -> Type | None:  # noqa: PLR0911 - one for each type
    """Return the type of a schema's values, or None where rules do not see them.

    `root` says that the value is a whole resource, whose type and name rules see though the schema does not list them.
    """
    if schema.get(INT_OR_STRING):
        return _sized("dyn", path, schema, "maxLength", REQUEST - 2, least=1, factor=_CHARACTER)
    match schema.get("type"):
        case "array":
            items = _inside(schema.get("items"), f"{path}[]")
            most = (REQUEST - 2) // (items.least + 1) if items else 0
            return _sized("list", path, schema, "maxItems", most, least=2, inner=items) if items else None
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            values = _inside(schema["additionalProperties"], f"{path}.*")
            most = (REQUEST - 2) // (values.least + 6) if values else 0
            return _sized("map", path, schema, "maxProperties", most, least=2, inner=values) if values else None
        case "object":
            return _object(_with_meta(schema) if root or schema.get(EMBEDDED) else schema, path)
        case "string":
            return _text(schema, path)
        case str(kind) if kind in _SCALARS:
            name, least = _SCALARS[kind]
            return Type(name, path, least=least)
        case _:
            return None


def _inside(schema: Any, path: str) -> Type | None:
    return type_of(schema, path) if isinstance(schema, dict) else None


def _sized(
    name: str,
    path: str,
    schema: Schema,
    keyword: str,
    otherwise: int,
    *,
    least: int,
    factor: int = 1,
    inner: Type | None = None,
) -> Type:
    bounded = keyword in schema
    most = max(0, schema[keyword]) * factor if bounded else otherwise
    keys = {"set": (), "map": tuple(schema.get(LIST_MAP_KEYS, ()))}.get(schema.get(LIST_TYPE, ""))
    return Type(name, path, most, least, keyword, bounded, inner, keys=keys)


def _text(schema: Schema, path: str) -> Type:
    form = schema.get("format", "")
    if form in _TIMES:
        name, most, least = _TIMES[form]
        return Type(name, path, most, least, timed=form)
    if form == "byte":
        return _sized("bytes", path, schema, "maxLength", REQUEST - 2, least=2)
    if "maxLength" not in schema and schema.get("enum"):
        longest = max((len(utf8(value)) for value in schema["enum"] if isinstance(value, str)), default=0)
        return Type("string", path, longest, 2, "maxLength")
    return _sized("string", path, schema, "maxLength", REQUEST - 2, least=2, factor=_CHARACTER)


def _object(schema: Schema, path: str) -> Type:
    fields, least = {}, 2
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        inner = type_of(child, f"{path}.{name}")
        if inner is None:
            continue
        if written := escape(name):
            fields[written] = inner
        if name in RESERVED:
            # Known by its own name, too, as far as CEL's grammar lets that be written: `self.namespace`.
            fields[name] = inner
        # What has a default need not be sent.
        if name in required and child.get("default") is None:
            least += len(utf8(name)) + inner.least + len('"":,')
    return Type("object", path, least=least, fields=fields)


def _with_meta(schema: Schema) -> Schema:
    """Return the schema of a resource with what rules always see of one: type, name and generateName."""
    properties: Schema = schema.get("properties", {})
    meta = properties.get("metadata", {}).get("properties", {})
    if all(properties.get(name, {}).get("type") == "string" for name in ("apiVersion", "kind")) and all(
        meta.get(name, {}).get("type") == "string" for name in ("name", "generateName")
    ):
        return schema
    return schema | {"properties": properties | {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _META}}
