"""Stage 7: what a marker on a field asks of the object that the field is in."""

from collections.abc import Callable
from typing import Final, TypeAlias

from crdgen.schema.walk import Schema

PARENT: Final = "x-crdgen-parent"
OfParent: TypeAlias = Callable[[Schema, str, str], Schema]
"""Takes the object's node, the field's JSON name and the object's path; returns the node with what the marker asks."""


def parents(schema: Schema, path: str) -> Schema:
    """Return the node with what its fields' markers ask of it, and without what they left for it.

    Items of a list and values of a map ask nothing: they have no name there.
    """
    result = schema
    for name, child in schema.get("properties", {}).items():
        for ask in child.get(PARENT, ()):
            result = ask(result, name, path)
    return _without(result)


def _without(schema: Schema) -> Schema:
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: _settled(child) for name, child in schema["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = _settled(schema[keyword])
    return result


def _settled(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != PARENT} if PARENT in schema else schema
