"""Unions. `X | None` is X; null is how a user of Kubernetes leaves a field out.

Members of one JSON type are hoisted (`hoist`), and types are then put beside each other (`mixed`).
"""

from typing import Final

from crdgen.escaping import escape
from crdgen.generate.errors import SchemaError
from crdgen.generate.hoist import as_number, hoist
from crdgen.generate.inline import OWN, merge
from crdgen.generate.mixed import mixed
from crdgen.generate.walk import MIXED, PREFIX
from crdgen.schema import BRANCHES, PRESERVE, TEXTS, VALIDATIONS, VALUES, Schema
from crdgen.schema.look import canonical, distinct, with_children, without

_NULL: Final = "null"
# What stays of a branch that an author wrote: what holds for values. Types are said once, outside.
_OF_BRANCH: Final = VALUES | {"items", "properties", "required"}


def unions(schema: Schema, path: str) -> Schema:
    """Return the node without unions of types; alternatives that only check values stay.

    A field that defaults to null is simply optional: the API server drops a null there. One that may be null and has no
    such default is `nullable`, because the null means something.
    """
    if "type" in schema:
        return _without_null_default(_value_branches(schema))
    keyword = next((keyword for keyword in ("anyOf", "oneOf") if keyword in schema), None)
    if keyword is None:
        return _without_null_default(schema)
    outer = without(schema, keyword, "discriminator")
    members = [choice for choice in schema[keyword] if choice.get("type") != _NULL]
    if not members:
        raise SchemaError(path, "the field takes nothing but null", "leave it out, or give it a type")
    takes_null = len(members) < len(schema[keyword]) or any(member.get("nullable") for member in members)
    if takes_null and schema.get("default", False) is not None:
        outer["nullable"] = True
    tag = schema.get("discriminator", {}).get("propertyName")
    members = [without(member, "nullable") for member in members]
    united = members[0] if len(members) == 1 else _unite(members, path, tag)
    return _without_null_default(merge(united, outer))


def _unite(members: list[Schema], path: str, tag: str | None) -> Schema:
    split = [part for member in members for part in member.get(MIXED, [member])]
    if any(part.get(PRESERVE) and not part.keys() & {"type", MIXED, "enum"} for part in split):
        return {PRESERVE: True}
    by_type: dict[str, list[Schema]] = {}
    for part in split:
        by_type.setdefault(part.get("type", ""), []).append(part)
    if "" in by_type:
        fix = "use `Annotated[Any, PreserveUnknown]`"
        raise SchemaError(path, "a member of the union has no type of its own", fix)
    if "number" in by_type and "integer" in by_type:
        by_type["number"] += [as_number(part) for part in by_type.pop("integer")]
    united = [_of_one_type(parts, path, tag) for parts in by_type.values()]
    return united[0] if len(united) == 1 else mixed(united, path)


def _of_one_type(parts: list[Schema], path: str, tag: str | None) -> Schema:
    found = distinct(parts, _meaning)
    if len(found) == 1:
        return found[0]
    for part in found:
        if part["type"] == "object" and part.get(PRESERVE) and not part.get("properties"):
            return {"type": "object", PRESERVE: True}
    if tag is not None:
        found = [tag_of(part, tag) for part in found]
    parent, branches = hoist(guarded(found, tag, path), path)
    return _with_branches(parent, branches, "oneOf" if tag is not None else "anyOf")


def _meaning(schema: Schema) -> str:
    """Return text that is the same for members that take the same values."""
    return canonical({key: value for key, value in schema.items() if key not in TEXTS and not key.startswith(PREFIX)})


def _with_branches(parent: Schema, branches: list[Schema], keyword: str) -> Schema:
    if any(not branch for branch in branches):
        return parent
    found = distinct(branches)
    if all(set(branch) == {"enum"} for branch in found) and "enum" not in parent:
        return {**parent, "enum": distinct(value for branch in found for value in branch["enum"])}
    if len(found) == 1:
        return {**parent, **found[0]} if not parent.keys() & found[0] else {**parent, "allOf": found}
    if keyword in parent:
        return {**parent, "allOf": [*parent.get("allOf", ()), {keyword: found}]}
    return {**parent, keyword: found}


def _value_branches(schema: Schema) -> Schema:
    """Return a typed node whose alternatives, written by the author, say nothing about types."""
    found: Schema = {
        keyword: [_value_branch(branch) for branch in schema[keyword]] for keyword in BRANCHES if keyword in schema
    }
    if "not" in schema:
        found["not"] = _value_branch(schema["not"])
    return schema | found if found else schema


def _value_branch(branch: Schema) -> Schema:
    said = {key: value for key, value in branch.items() if key in _OF_BRANCH}
    return _value_branches(with_children(said, lambda child, _: _value_branch(child)))


def _without_null_default(schema: Schema) -> Schema:
    if schema.get("default", False) is not None:
        return schema
    rest = without(schema, "default")
    # Of a value of any type too, null then means that there is none.
    return rest if {key for key in rest if not key.startswith(PREFIX)} - OWN else rest | {PRESERVE: True}


def tag_of(variant: Schema, tag: str) -> Schema:
    """Return a variant whose tag must be there, as Pydantic wants it even where it has a default."""
    tagged = variant.get("properties", {}).get(tag)
    if tagged is None or tag in variant.get("required", ()):
        return variant
    plain = without(tagged, "default")
    properties = {**variant["properties"], tag: plain}
    return {**variant, "properties": properties, "required": [*variant.get("required", ()), tag]}


def guarded(variants: list[Schema], tag: str | None, path: str) -> list[Schema]:
    """Return the variants with rules that hold for all of them: a branch has none, so each rule asks for the tag."""
    if all(variant.get(VALIDATIONS) == variants[0].get(VALIDATIONS) for variant in variants):
        return variants
    rules = [rule for variant in variants for rule in _guarded(variant, tag, path)]
    return [{**variant, VALIDATIONS: rules} for variant in variants]


def _guarded(variant: Schema, tag: str | None, path: str) -> list[Schema]:
    if VALIDATIONS not in variant:
        return []
    values = variant.get("properties", {}).get(tag or "", {}).get("enum")
    name = escape(tag or "")
    if name is None or not values or not all(isinstance(value, str) for value in values):
        fix = "tag the union with `Field(discriminator=…)`, or move the rule to the object around it"
        raise SchemaError(path, "a rule of one of several variants would hold for all of them", fix)
    listed = ", ".join(cel_text(value) for value in values)
    return [{**rule, "rule": f"!(self.{name} in [{listed}]) || ({rule['rule']})"} for rule in variant[VALIDATIONS]]


def cel_text(text: str) -> str:
    """Return a text as CEL writes it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"
