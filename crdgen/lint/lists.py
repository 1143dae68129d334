"""Rules for list types and map types, by which server-side apply merges."""

from collections.abc import Iterator
from typing import Final

from crdgen.lint.node import Node
from crdgen.lint.rule import Issue, error
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE

_MERGE_TYPES: Final = (
    (LIST_TYPE, "list", "array", ("atomic", "map", "set")),
    (MAP_TYPE, "map", "object", ("atomic", "granular")),
)


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE, MAP_TYPE)
def merge_type_is_known(node: Node) -> Iterator[Issue]:
    """Only lists have a list type: atomic, set or map. Only objects have a map type: atomic or granular."""
    for keyword, what, expected, kinds in _MERGE_TYPES:
        if keyword not in node.schema:
            continue
        if node.type != expected:
            plural = {"array": "lists", "object": "objects"}[expected]
            yield Issue("type", f"a {what} type is for {plural}", f"write type: {expected}, or remove {keyword}")
        if node.schema[keyword] not in kinds:
            problem = f"there is no {what} type {node.schema[keyword]}"
            yield Issue(keyword, problem, f"set {keyword} to one of {', '.join(kinds)}")


@error("apiextensions validation.go, requireAtomicSetType, validateMapListKeysMapSet", LIST_TYPE)
def items_can_be_told_apart(node: Node) -> Iterator[Issue]:
    """The items of a set are scalars, or atomic lists or objects; those of map lists are objects. None is nullable."""
    kind, items = node.schema.get(LIST_TYPE), node.items
    if kind == "map" and items is None:
        yield Issue("items", "a list of type map needs one schema for its items", "write it")
    if kind not in {"map", "set"} or items is None:
        return
    if kind == "map" and items.get("type", "") != "object":
        yield Issue("items.type", "the items of a list of type map are objects", "write type: object for the items")
    if kind == "set" and items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        yield Issue(f"items.{LIST_TYPE}", "lists in a set must be atomic", f"write {LIST_TYPE}: atomic for the items")
    if kind == "set" and items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        fix = f"write {MAP_TYPE}: atomic for the items, or make it a map list"
        yield Issue(f"items.{MAP_TYPE}", "the items of a set are scalars, or atomic objects", fix)
    if items.get("nullable"):
        yield Issue("items.nullable", f"the items of a {kind} list are not nullable", "remove nullable")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE, LIST_MAP_KEYS)
def map_keys_belong_to_map_lists(node: Node) -> Iterator[Issue]:
    """Map lists have at least one key; other lists have none."""
    kind, keys = node.schema.get(LIST_TYPE), node.schema.get(LIST_MAP_KEYS)
    if keys and kind != "map":
        yield Issue(LIST_TYPE, "map keys belong to a list of type map", f"write {LIST_TYPE}: map, or remove the keys")
    if kind == "map" and not keys:
        problem = "a list of type map needs keys that identify its items"
        yield Issue(LIST_MAP_KEYS, problem, f"set {LIST_MAP_KEYS}, for example to [name]")


@error("apiextensions validation.go, validateMapListKeysMapSet", LIST_TYPE)
def map_keys_identify_items(node: Node) -> Iterator[Issue]:
    """A key is a declared scalar field of the items, listed once. It is required or has a default, and not nullable."""
    if node.schema.get(LIST_TYPE) != "map" or node.items is None or node.items.get("type") != "object":
        return
    fields, keys = node.items.get("properties", {}), node.schema.get(LIST_MAP_KEYS, ())
    for index, key in enumerate(keys):
        field, path = fields.get(key, {}), f"items.properties[{key}]"
        if key not in fields:
            fix = "declare it in the items' properties"
            yield Issue(LIST_MAP_KEYS, f"map key {key} is no field of the items", fix)
        if key in keys[:index]:
            yield Issue(LIST_MAP_KEYS, f"map key {key} is named twice", "name it once")
        if field.get("type") in {"array", "object"}:
            yield Issue(f"{path}.type", f"map key {key} must be a scalar", "take another key")
        if key in fields and key not in node.items.get("required", ()) and "default" not in field:
            fix = "add it to the items' required, or give it a default"
            yield Issue(f"{path}.default", f"map key {key} must be required or have a default", fix)
        if field.get("nullable"):
            yield Issue(f"{path}.nullable", f"map key {key} must be a scalar that is not null", "remove nullable")
