"""Stage 5: types that Pydantic and Kubernetes write differently."""

from typing import Final

from crdgen.errors import SchemaError
from crdgen.schema.inline import MARKERS
from crdgen.schema.unions import INT_OR_STRING
from crdgen.schema.walk import Schema

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
# A node with one of these and no type takes anything.
_ANNOTATIONS: Final = frozenset({"default", "description", "example", "nullable", MARKERS})
_SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})
# What the API server checks; any other format it ignores. https://github.com/kubernetes/apiextensions-apiserver,
# pkg/apiserver/validation/formats.go
NUMBER_FORMATS: Final = ("double", "float", "int32", "int64")
TEXT_FORMATS: Final = (
    *("bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "duration", "email", "hexcolor", "hostname"),
    *("ipv4", "ipv6", "isbn", "isbn10", "isbn13", "k8s-long-name", "k8s-short-name", "mac", "password", "rgbcolor"),
    *("ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5"),
)
_MISLEADING: Final = {
    "duration": ("ISO 8601 durations are not Kubernetes durations", "use a string such as `30s`, or whole seconds"),
    "binary": ("bytes are base64 in Kubernetes", "use a string of `format: byte`"),
}


def known(schema: Schema, path: str) -> Schema:
    """Return the node with integers sized, sets and open objects in Kubernetes' own words.

    Raises:
        SchemaError: For a type whose JSON form means something else to the API server.
    """
    if not set(schema) - _ANNOTATIONS:
        return schema | {PRESERVE: True}
    for stage in (_type_of_enum, _integers, _formats, _sets, _objects):
        schema = stage(schema, path)
    if "type" not in schema and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        raise SchemaError(path, "has no single type", "use one type, or `Annotated[Any, PreserveUnknown]`")
    return schema


def _type_of_enum(schema: Schema, path: str) -> Schema:
    if "enum" not in schema:
        return schema
    if schema.get("nullable"):
        fix = "make None the field's default, so that null means absent, or drop `| None`"
        raise SchemaError(path, "the API server takes null for no enum, not even for one that lists it", fix)
    if "type" in schema:
        return schema
    types = {type(value) for value in schema["enum"]}
    names = {str: "string", int: "integer", bool: "boolean", float: "number"}
    if len(types) != 1 or not types <= names.keys():
        raise SchemaError(path, "the enum's values have more than one type", "use strings only")
    return schema | {"type": names[types.pop()]}


def _integers(schema: Schema, _path: str) -> Schema:
    return {"format": "int64", **schema} if schema.get("type") == "integer" and "enum" not in schema else schema


def _formats(schema: Schema, path: str) -> Schema:
    name = schema.get("format")
    if name in _MISLEADING:
        raise SchemaError(path, *_MISLEADING[name])
    if name is None or name in {*NUMBER_FORMATS, *TEXT_FORMATS}:
        return schema
    return {key: value for key, value in schema.items() if key != "format"}


def _sets(schema: Schema, path: str) -> Schema:
    if not schema.get("uniqueItems"):
        return schema
    if schema.get("items", {}).get("type") not in _SCALARS:
        raise SchemaError(path, "a set of lists or objects has no key", "use `Annotated[list[…], MapList(…)]`")
    rest = {key: value for key, value in schema.items() if key != "uniqueItems"}
    return rest | {"x-kubernetes-list-type": "set"}


def _objects(schema: Schema, path: str) -> Schema:
    values = schema.get("additionalProperties")
    if schema.get("type") == "array" and "items" not in schema:
        return schema | {"items": {PRESERVE: True}}
    if values is None:
        return schema
    if isinstance(values, dict) and "properties" in schema:
        raise SchemaError(
            path, "named fields and typed extra fields exclude each other", "put the extra ones into a dict"
        )
    if isinstance(values, dict):
        return schema
    rest = {key: value for key, value in schema.items() if key != "additionalProperties"}
    # `true` would keep an object's values and yet prune what is inside them; `false` is what pruning does anyway.
    return rest | {PRESERVE: True} if values else rest
