"""Rules for list types and map types, by which server-side apply merges."""

from collections.abc import Iterator

from crdgen.lint.node import Node
from crdgen.lint.rule import Problem, error
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE)
def list_type_is_known(node: Node) -> Iterator[Problem]:
    """Only lists have a list type: atomic, set or map."""
    yield from _merge_type(node, LIST_TYPE, "list", "array", ("atomic", "map", "set"))


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", MAP_TYPE)
def map_type_is_known(node: Node) -> Iterator[Problem]:
    """Only objects have a map type: atomic or granular."""
    yield from _merge_type(node, MAP_TYPE, "map", "object", ("atomic", "granular"))


def _merge_type(node: Node, keyword: str, what: str, wanted: str, kinds: tuple[str, ...]) -> Iterator[Problem]:
    kind = node.schema.get(keyword)
    if kind is None:
        return
    if node.type != wanted:
        plural = {"array": "lists", "object": "objects"}[wanted]
        yield Problem("type", f"a {what} type is for {plural}", f"write type: {wanted}, or remove {keyword}")
    if kind not in kinds:
        yield Problem(keyword, f"there is no {what} type {kind}", f"set {keyword} to one of {', '.join(kinds)}")


@error("apiextensions validation.go, requireAtomicSetType", LIST_TYPE)
def set_is_of_whole_values(node: Node) -> Iterator[Problem]:
    """The items of a set are compared whole, so they are scalars, atomic lists or atomic objects."""
    items = node.items
    if node.schema.get(LIST_TYPE) != "set" or node.type != "array" or items is None:
        return
    if items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        fix = f"write {LIST_TYPE}: atomic for the items"
        yield Problem(f"items.{LIST_TYPE}", "lists in a set must be atomic", fix)
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        fix = f"write {MAP_TYPE}: atomic for the items, or make it a map list"
        yield Problem(f"items.{MAP_TYPE}", "the items of a set are scalars, or atomic objects", fix)


@error("apiextensions validation.go, validateMapListKeysMapSet", LIST_TYPE)
def set_and_map_items_are_never_null(node: Node) -> Iterator[Problem]:
    """Items of sets and map lists are not nullable."""
    kind = node.schema.get(LIST_TYPE)
    if kind in {"map", "set"} and node.items is not None and node.items.get("nullable"):
        yield Problem("items.nullable", f"the items of a {kind} list are not nullable", "remove nullable")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE, LIST_MAP_KEYS)
def map_keys_belong_to_map_lists(node: Node) -> Iterator[Problem]:
    """Map lists have at least one key; other lists have none."""
    kind, keys = node.schema.get(LIST_TYPE), node.schema.get(LIST_MAP_KEYS)
    if keys and kind != "map":
        yield Problem(LIST_TYPE, "map keys belong to a list of type map", f"write {LIST_TYPE}: map, or remove the keys")
    if kind == "map" and not keys:
        yield Problem(
            LIST_MAP_KEYS,
            "a list of type map needs keys that identify its items",
            f"set {LIST_MAP_KEYS}, for example to [name]",
        )


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE)
def map_list_is_of_objects(node: Node) -> Iterator[Problem]:
    """The items of a map list are objects of one schema, because the keys are their fields."""
    if node.schema.get(LIST_TYPE) != "map":
        return
    if node.items is None:
        yield Problem("items", "a list of type map needs one schema for its items", "write it")
    elif node.items.get("type", "") != "object":
        yield Problem("items.type", "the items of a list of type map are objects", "write type: object for the items")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", LIST_TYPE)
def map_keys_are_scalars(node: Node) -> Iterator[Problem]:
    """A key is a declared scalar field of the items, listed once."""
    if node.schema.get(LIST_TYPE) != "map" or node.items is None or node.items.get("type") != "object":
        return
    seen: set[str] = set()
    fields = node.items.get("properties", {})
    for key in node.schema.get(LIST_MAP_KEYS, ()):
        if key not in fields:
            yield Problem(
                LIST_MAP_KEYS, f"map key {key} is no field of the items", "declare it in the items' properties"
            )
        elif fields[key].get("type") in {"array", "object"}:
            path = f"items.properties[{key}].type"
            yield Problem(path, f"map key {key} must be a scalar", "take another key")
        if key in seen:
            yield Problem(LIST_MAP_KEYS, f"map key {key} is named twice", "name it once")
        seen.add(key)


@error("apiextensions validation.go, validateMapListKeysMapSet", LIST_TYPE)
def map_keys_are_there(node: Node) -> Iterator[Problem]:
    """Keys are required or have a default, and are not nullable."""
    if node.schema.get(LIST_TYPE) != "map" or node.items is None:
        return
    fields = node.items.get("properties", {})
    for key in node.schema.get(LIST_MAP_KEYS, ()):
        if key not in fields:
            continue
        path = f"items.properties[{key}]"
        if key not in node.items.get("required", ()) and "default" not in fields[key]:
            fix = "add it to the items' required, or give it a default"
            yield Problem(f"{path}.default", f"map key {key} must be required or have a default", fix)
        if fields[key].get("nullable"):
            yield Problem(f"{path}.nullable", f"map key {key} must be a scalar that is not null", "remove nullable")
