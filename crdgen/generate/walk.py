"""Walking a schema: every node, with its path in the model."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crdgen.generate.errors import Faults
from crdgen.generate.notes import KEYS
from crdgen.schema import BRANCHES, Schema
from crdgen.schema.sealed import Sealed

Stage: TypeAlias = Callable[[Schema, str], Schema]


def rewrite(schema: Schema, path: str, stage: Stage) -> Schema:
    """Return the schema with every node rewritten, children before their parents; the input is not changed."""
    faults = Faults()
    result = _rewritten(schema, path, stage, faults)
    faults.tell()
    return result


def _rewritten(schema: Schema, path: str, stage: Stage, faults: Faults) -> Schema:
    if isinstance(schema, Sealed):
        return schema
    before = len(faults)
    inner = map_children(schema, path, lambda child, at: _rewritten(child, at, stage, faults))
    if len(faults) == before:
        with faults.gathered():
            return stage(inner, path)
    return schema


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
