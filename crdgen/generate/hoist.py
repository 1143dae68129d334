"""Variants of one JSON type in one structural schema.

What a structural schema says of types is said once: properties and items go to the parent. What holds for values
(bounds, enums, required fields) stays in a branch for each variant. Where two variants want different types for one
field, nothing structural says that, and it is an error.
"""

from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import CLOSED, DEPRECATED, MIXED
from crdgen.schema import LIST_MAP_KEYS, PRESERVE, TEXTS, VALUES, Schema
from crdgen.schema.look import distinct, without

# A bound and the word that says whether it is exclusive stay together.
_PAIRS: Final = {
    "exclusiveMinimum": "minimum",
    "minimum": "exclusiveMinimum",
    "exclusiveMaximum": "maximum",
    "maximum": "exclusiveMaximum",
}
# Whose formats are sizes, and as good as types.
_NUMBERS: Final = frozenset({"integer", "number"})
_MISSING: Any = object()
# No value at all. It holds for whatever the type is, where `required` under `not` would ask it of texts too.
_NEVER: Final[Schema] = {"not": {}}


def hoist(variants: list[Schema], path: str) -> tuple[Schema, list[Schema]]:
    """Return the parent that all variants have, and for each variant the branch of what is its own."""
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
            parent["items"], below = hoist([variant["items"] for variant in variants], f"{path}[]")
            for branch, own in zip(branches, below, strict=True):
                branch.update({"items": own} if own else {})
        else:
            _keyword(key, variants, path, parent, branches)
    return parent, branches


def _keyword(key: str, variants: list[Schema], path: str, parent: Schema, branches: list[Schema]) -> None:
    """Put what the variants say with one keyword to its place."""
    held = [variant.get(key, _MISSING) for variant in variants]
    if key in TEXTS or key == PRESERVE:
        parent[key] = next(value for value in held if value is not _MISSING)
    elif key in {CLOSED, DEPRECATED, MIXED}:
        return
    elif all(value == held[0] for value in held) and (key not in _PAIRS or _agree(variants, _PAIRS[key])):
        parent[key] = held[0]
    elif key in VALUES:
        for branch, value in zip(branches, held, strict=True):
            branch.update({key: value} if value is not _MISSING else {})
    elif key != "default":
        raise _disagree(variants, key, path)


def _agree(variants: list[Schema], key: str) -> bool:
    return all(variant.get(key) == variants[0].get(key) for variant in variants)


def _numbers(variants: list[Schema]) -> list[Schema]:
    """A field that is an integer in one variant and a number in another is a number, whole in the one."""
    if {variant.get("type") for variant in variants} != {"integer", "number"}:
        return variants
    return [as_number(variant) if variant["type"] == "integer" else variant for variant in variants]


def as_number(schema: Schema) -> Schema:
    """Return an integer as a number that is whole."""
    return {"multipleOf": 1, **without(schema, "format"), "type": "number"}


def _properties(variants: list[Schema], path: str, parent: Schema, branches: list[Schema]) -> None:
    tables: list[dict[str, Schema]] = [variant.get("properties", {}) for variant in variants]
    parent["properties"] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        holders = [at for at, table in enumerate(tables) if name in table]
        own = [tables[at][name] for at in holders]
        others = [variant for at, variant in enumerate(variants) if at not in holders]
        if len(own) == 1:
            # Where the others reject the field, what this one says of its values holds whenever it is there.
            shared = all(variant.get(CLOSED) for variant in others)
            kept, branch = (own[0], {}) if shared else split(own[0])
            below = [branch]
        else:
            kept, below = hoist(own, f"{path}.{name}")
            enums = [child.get("enum") for child in own]
            if not others and all(enums) and "enum" not in kept:
                kept["enum"] = distinct(value for enum in enums for value in enum or ())
        if others:
            kept = without(kept, "default")
        parent["properties"][name] = kept
        for at, branch in zip(holders, below, strict=True):
            if branch:
                branches[at].setdefault("properties", {})[name] = branch
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
    """Return what a node says of types, and what it says of values, as a branch may have it."""
    if LIST_MAP_KEYS in schema:  # its keys must be required, or have defaults, at this very place
        return without(schema, "default"), {}
    own = VALUES - {"format"} if schema.get("type") in _NUMBERS else VALUES
    is_mixed = schema.get("type") is None or MIXED in schema
    values = {} if is_mixed else {key: value for key, value in schema.items() if key in own or key == "required"}
    structure = without(schema, "default", *values)
    if "properties" in schema:
        below = {name: split(child) for name, child in schema["properties"].items()}
        structure["properties"] = {
            name: kept | {key: child[key] for key in ("default",) if key in child}
            for (name, child), (kept, _) in zip(schema["properties"].items(), below.values(), strict=True)
        }
        if not is_mixed and any(branch for _, branch in below.values()):
            values["properties"] = {name: branch for name, (_, branch) in below.items() if branch}
    if isinstance(schema.get("items"), dict):
        structure["items"], branch = split(schema["items"])
        values |= {"items": branch} if branch and not is_mixed else {}
    return structure, values


def _disagree(variants: list[Schema], key: str, path: str) -> SchemaError:
    what = key.removeprefix("x-kubernetes-")
    types = list(dict.fromkeys(str(variant.get("type", "several types")) for variant in variants))
    said = f" ({', '.join(types)})" if len(types) > 1 else ""
    return SchemaError(
        path,
        f"the variants of a union disagree on its {what}{said}, and a structural schema says it once",
        "give the field one type in all variants, or another name in one of them",
    )
