"""The table of the fields below a schema."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.markdown import code, escape, table
from crdgen.docs.types import kubernetes_type, type_of, value
from crdgen.schema.look import mapping, members

_HEAD: Final = ("field", "type", "default", "")


def fields(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of the fields below some schemas, each with the path where it stands.

    What Kubernetes documents itself, pod templates and volumes, is named and not entered.
    """
    return table(_HEAD, [row for path, schema in schemas.items() for row in _below(path, schema)])


def _below(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    if kubernetes_type(schema):
        return
    required = members(schema.get("required"))
    properties = mapping(schema, "properties")
    for name in properties:
        yield from _field(f"{path}.{name}".lstrip("."), mapping(properties, name), required=name in required)
    for key, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from _below(f"{path}{step}", schema[key])


def _field(path: str, schema: Mapping[str, Any], *, required: bool) -> Iterator[tuple[str, str, str, str]]:
    default = value(schema["default"]) if "default" in schema else "required" if required else ""
    yield code(path), type_of(schema), default, _text(schema)
    yield from _below(path, schema)


def _text(schema: Mapping[str, Any]) -> str:
    text = schema.get("description")
    words = [escape(text)] if isinstance(text, str) and text else []
    if "example" in schema:
        words.append(f"Example: {value(schema['example'])}.")
    return " ".join(words)
