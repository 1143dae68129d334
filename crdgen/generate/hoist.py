"""Combine variants of the same JSON type into one structural schema.

A structural schema defines types only once, so properties and items go to the parent. Checks of values (bounds, enums,
required fields) stay in a branch for each variant. Variants with different types for the same field are an error: no
structural schema can express them.
"""

from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import CLOSED, DEPRECATED, MIXED
from crdgen.schema import LIST_MAP_KEYS, PRESERVE, TEXTS, VALUES, Schema
from crdgen.schema.look import distinct, without

# A bound and the keyword that makes it exclusive stay together.
_PAIRS: Final = {
    "exclusiveMinimum": "minimum",
    "minimum": "exclusiveMinimum",
    "exclusiveMaximum": "maximum",
    "maximum": "exclusiveMaximum",
}
# The formats of these types are sizes, and count as part of the type.
_NUMBERS: Final = frozenset({"integer", "number"})
_MISSING: Any = object()
# Rejects every value of any type; `required` under `not` would also reject strings.
_NEVER: Final[Schema] = {"not": {}}


def hoist(variants: list[Schema], path: str) -> tuple[Schema, list[Schema]]:
    """Return the common parent of the variants, and a branch per variant with its own checks."""
    variants = _numbers(variants)
    if all(variant == variants[0] for variant in variants):
        return variants[0], [{} for _ in variants]
    parent: Schema = {}
    branches: list[Schema] = [{} for _ in variants]
    for key in dict.fromkeys(key for variant in variants for key in variant):
        if key == "properties":
            _properties(variants, path, parent, branches)
        elif key == "required":
            _required(variants, parent, branches)
        elif key == "items" and all("items" in variant for variant in variants):
            parent["items"], item_branches = hoist([variant["items"] for variant in variants], f"{path}[]")
            for branch, item_branch in zip(branches, item_branches, strict=True):
                branch.update({"items": item_branch} if item_branch else {})
        else:
            _keyword(key, variants, path, parent, branches)
    return parent, branches


def _keyword(key: str, variants: list[Schema], path: str, parent: Schema, branches: list[Schema]) -> None:
    """Put the values of a keyword into the parent or into the branches."""
    values = [variant.get(key, _MISSING) for variant in variants]
    if key in TEXTS or key == PRESERVE:
        parent[key] = next(value for value in values if value is not _MISSING)
    elif key in {CLOSED, DEPRECATED, MIXED}:
        return
    elif all(value == values[0] for value in values) and (key not in _PAIRS or _agree(variants, _PAIRS[key])):
        parent[key] = values[0]
    elif key in VALUES:
        for branch, value in zip(branches, values, strict=True):
            branch.update({key: value} if value is not _MISSING else {})
    elif key != "default":
        raise _disagree(variants, key, path)


def _agree(variants: list[Schema], key: str) -> bool:
    return all(variant.get(key) == variants[0].get(key) for variant in variants)


def _numbers(variants: list[Schema]) -> list[Schema]:
    """Make all variants numbers if some are integers; integers are then multiples of 1."""
    if {variant.get("type") for variant in variants} != {"integer", "number"}:
        return variants
    return [as_number(variant) if variant["type"] == "integer" else variant for variant in variants]


def as_number(schema: Schema) -> Schema:
    """Convert an integer schema to a number schema: a multiple of 1."""
    return {"multipleOf": 1, **without(schema, "format"), "type": "number"}


def _properties(variants: list[Schema], path: str, parent: Schema, branches: list[Schema]) -> None:
    tables: list[dict[str, Schema]] = [variant.get("properties", {}) for variant in variants]
    parent["properties"] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        holders = [index for index, table in enumerate(tables) if name in table]
        children = [tables[index][name] for index in holders]
        others = [variant for index, variant in enumerate(variants) if index not in holders]
        if len(children) == 1:
            # If the other variants reject the field, the checks of its values always apply.
            is_only_here = all(variant.get(CLOSED) for variant in others)
            child, branch = (children[0], {}) if is_only_here else split(children[0])
            child_branches = [branch]
        else:
            child, child_branches = hoist(children, f"{path}.{name}")
            enums = [child.get("enum") for child in children]
            if not others and all(enums) and "enum" not in child:
                child["enum"] = distinct(value for enum in enums for value in enum or ())
        if others:
            child = without(child, "default")
        parent["properties"][name] = child
        for index, branch in zip(holders, child_branches, strict=True):
            if branch:
                branches[index].setdefault("properties", {})[name] = branch
    for variant, table, branch in zip(variants, tables, branches, strict=True):
        if variant.get(CLOSED):
            for name in parent["properties"].keys() - table.keys():
                branch.setdefault("properties", {})[name] = _NEVER


def _required(variants: list[Schema], parent: Schema, branches: list[Schema]) -> None:
    lists = [variant.get("required", []) for variant in variants]
    common = [name for name in lists[0] if all(name in names for names in lists)]
    if common:
        parent["required"] = common
    for names, branch in zip(lists, branches, strict=True):
        rest = [name for name in names if name not in common]
        branch.update({"required": rest} if rest else {})


def split(schema: Schema) -> tuple[Schema, Schema]:
    """Split a node into its types, and its checks of values, which a branch may have."""
    if LIST_MAP_KEYS in schema:  # its keys must be required, or have defaults, in the same schema
        return without(schema, "default"), {}
    value_keywords = VALUES - {"format"} if schema.get("type") in _NUMBERS else VALUES
    is_mixed = schema.get("type") is None or MIXED in schema
    values = (
        {} if is_mixed else {key: value for key, value in schema.items() if key in value_keywords or key == "required"}
    )
    structure = without(schema, "default", *values)
    if "properties" in schema:
        split_children = {name: split(child) for name, child in schema["properties"].items()}
        structure["properties"] = {
            name: structure_of_child | {key: child[key] for key in ("default",) if key in child}
            for (name, child), (structure_of_child, _) in zip(
                schema["properties"].items(), split_children.values(), strict=True
            )
        }
        if not is_mixed and any(branch for _, branch in split_children.values()):
            values["properties"] = {name: branch for name, (_, branch) in split_children.items() if branch}
    if isinstance(schema.get("items"), dict):
        structure["items"], branch = split(schema["items"])
        values |= {"items": branch} if branch and not is_mixed else {}
    return structure, values


def _disagree(variants: list[Schema], key: str, path: str) -> SchemaError:
    what = key.removeprefix("x-kubernetes-")
    types = list(dict.fromkeys(str(variant.get("type", "several types")) for variant in variants))
    type_list = f" ({', '.join(types)})" if len(types) > 1 else ""
    return SchemaError(
        path,
        f"the variants of a union disagree on its {what}{type_list}, and a structural schema says it once",
        "give the field one type in all variants, or another name in one of them",
    )
