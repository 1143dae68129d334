"""Convert unions. `X | None` is X, because null means an absent field in Kubernetes.

Members of the same JSON type are combined first (`hoist`), then the types (`mixed`).
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
# Keywords that an author's branch keeps: checks of values. Types are only defined outside of branches.
_BRANCH_KEYWORDS: Final = VALUES | {"items", "properties", "required"}


def unions(schema: Schema, path: str) -> Schema:
    """Return the node without unions of types; branches that only check values stay.

    A field with the default null is optional: the API server drops null. A field that accepts null without that default
    is `nullable`, because its null has a meaning.
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
    node = members[0] if len(members) == 1 else _unite(members, path, tag)
    return _without_null_default(merge(node, outer))


def _unite(members: list[Schema], path: str, tag: str | None) -> Schema:
    parts = [part for member in members for part in member.get(MIXED, [member])]
    if any(part.get(PRESERVE) and not part.keys() & {"type", MIXED, "enum"} for part in parts):
        return {PRESERVE: True}
    by_type: dict[str, list[Schema]] = {}
    for part in parts:
        by_type.setdefault(part.get("type", ""), []).append(part)
    if "" in by_type:
        fix = "use `Annotated[Any, PreserveUnknown]`"
        raise SchemaError(path, "a member of the union has no type of its own", fix)
    if "number" in by_type and "integer" in by_type:
        by_type["number"] += [as_number(part) for part in by_type.pop("integer")]
    nodes = [_of_one_type(parts, path, tag) for parts in by_type.values()]
    return nodes[0] if len(nodes) == 1 else mixed(nodes, path)


def _of_one_type(parts: list[Schema], path: str, tag: str | None) -> Schema:
    variants = distinct(parts, _meaning)
    if len(variants) == 1:
        return variants[0]
    for part in variants:
        if part["type"] == "object" and part.get(PRESERVE) and not part.get("properties"):
            return {"type": "object", PRESERVE: True}
    if tag is not None:
        variants = [require_tag(part, tag) for part in variants]
    parent, branches = hoist(with_guarded_rules(variants, tag, path), path)
    return _with_branches(parent, branches, "oneOf" if tag is not None else "anyOf")


def _meaning(schema: Schema) -> str:
    """Return a text that is equal for members that accept the same values."""
    return canonical({key: value for key, value in schema.items() if key not in TEXTS and not key.startswith(PREFIX)})


def _with_branches(parent: Schema, branches: list[Schema], keyword: str) -> Schema:
    if any(not branch for branch in branches):
        return parent
    branch_list = distinct(branches)
    if all(set(branch) == {"enum"} for branch in branch_list) and "enum" not in parent:
        return {**parent, "enum": distinct(value for branch in branch_list for value in branch["enum"])}
    if len(branch_list) == 1:
        return {**parent, **branch_list[0]} if not parent.keys() & branch_list[0] else {**parent, "allOf": branch_list}
    if keyword in parent:
        return {**parent, "allOf": [*parent.get("allOf", ()), {keyword: branch_list}]}
    return {**parent, keyword: branch_list}


def _value_branches(schema: Schema) -> Schema:
    """Return a typed node, with branches of the author reduced to checks of values."""
    branches: Schema = {
        keyword: [_value_branch(branch) for branch in schema[keyword]] for keyword in BRANCHES if keyword in schema
    }
    if "not" in schema:
        branches["not"] = _value_branch(schema["not"])
    return schema | branches if branches else schema


def _value_branch(branch: Schema) -> Schema:
    checks = {key: value for key, value in branch.items() if key in _BRANCH_KEYWORDS}
    return _value_branches(with_children(checks, lambda child, _: _value_branch(child)))


def _without_null_default(schema: Schema) -> Schema:
    if schema.get("default", False) is not None:
        return schema
    rest = without(schema, "default")
    # Then null means absent, for values of any type, too.
    return rest if {key for key in rest if not key.startswith(PREFIX)} - OWN else rest | {PRESERVE: True}


def require_tag(variant: Schema, tag: str) -> Schema:
    """Return a variant whose tag is required, as in Pydantic, even if it has a default."""
    tag_schema = variant.get("properties", {}).get(tag)
    if tag_schema is None or tag in variant.get("required", ()):
        return variant
    without_default = without(tag_schema, "default")
    properties = {**variant["properties"], tag: without_default}
    return {**variant, "properties": properties, "required": [*variant.get("required", ()), tag]}


def with_guarded_rules(variants: list[Schema], tag: str | None, path: str) -> list[Schema]:
    """Return the variants with all rules. Branches cannot have rules, so each rule checks the tag of its variant."""
    if all(variant.get(VALIDATIONS) == variants[0].get(VALIDATIONS) for variant in variants):
        return variants
    rules = [rule for variant in variants for rule in _guarded_rules(variant, tag, path)]
    return [{**variant, VALIDATIONS: rules} for variant in variants]


def _guarded_rules(variant: Schema, tag: str | None, path: str) -> list[Schema]:
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
    """Return a text as a CEL literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"
