"""Walking a schema: every node, with its path in the model."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from crdgen.schema.notes import KEYS
from crdgen.sealed import Sealed

Schema: TypeAlias = dict[str, Any]
Stage: TypeAlias = Callable[[Schema, str], Schema]

BRANCHES = ("allOf", "anyOf", "oneOf")


def rewrite(schema: Schema, path: str, stage: Stage) -> Schema:
    """Return the schema with every node rewritten, children before their parents; the input is not changed."""
    if isinstance(schema, Sealed):
        return schema
    return stage(map_children(schema, path, lambda child, at: rewrite(child, at, stage)), path)


def map_children(schema: Schema, path: str, function: Stage) -> Schema:
    """Return a shallow copy of the node whose direct children went through the function."""
    result = dict(schema)
    if "properties" in schema:
        properties: Mapping[str, Schema] = schema["properties"]
        result["properties"] = {name: function(child, f"{path}.{name}") for name, child in properties.items()}
    if isinstance(schema.get("items"), dict):
        result["items"] = function(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = function(schema["additionalProperties"], f"{path}.*")
    if KEYS in schema:
        result[KEYS] = function(schema[KEYS], f"{path} (its keys)")
    if "prefixItems" in schema:
        result["prefixItems"] = [function(child, f"{path}[{at}]") for at, child in enumerate(schema["prefixItems"])]
    for keyword in BRANCHES:
        if keyword in schema:
            result[keyword] = [function(child, path) for child in schema[keyword]]
    return result
