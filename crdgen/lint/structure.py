"""Rules that make a schema structural."""

from collections.abc import Iterator
from typing import Final

from crdgen.lint.node import Node
from crdgen.lint.rule import Issue, error, warning
from crdgen.schema import (
    BRANCHES,
    EITHER,
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    TYPES,
    VALIDATIONS,
    Schema,
)

_NOT_IN_A_BRANCH: Final = (
    *("type", "title", "description", LIST_MAP_KEYS, VALIDATIONS, "nullable", PRESERVE, EMBEDDED, INT_OR_STRING),
)
_EVEN_EMPTY: Final = frozenset(
    {
        *("$ref", "additionalProperties", "example", "externalDocs", "not", "required"),
        *(LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, VALIDATIONS),
    }
)
_NAME_FIELDS: Final = frozenset({"generateName", "name"})


@error("apiextensions validation.go, specStandardValidatorV3", "type")
def type_is_known(node: Node) -> Iterator[Issue]:
    """A type is one of six; null is not a type."""
    if node.type == "null":
        yield Issue("type", "type must not be null", "remove it, and write nullable: true beside the type of the value")
    elif node.type and node.type not in TYPES:
        yield Issue(
            "type", f"type must be one of {', '.join(TYPES)}, not {node.type}", f"set type to one of {', '.join(TYPES)}"
        )


@error("schema/validation.go, validateStructuralInvariants")
def type_is_set(node: Node) -> Iterator[Issue]:
    """Each value has a type, except int-or-string and preserved fields."""
    if node.branch or node.type or node.flag(INT_OR_STRING) or (node.flag(PRESERVE) and not node.flag(EMBEDDED)):
        return
    if node.flag(EMBEDDED):
        yield Issue("type", "an embedded resource has no type", "write type: object")
        return
    fix = "write its type, or x-kubernetes-preserve-unknown-fields: true for any value"
    yield Issue("type", f"type must be one of {', '.join(TYPES)}, and {node.level} has none", fix)


@error("schema/validation.go, validateStructuralInvariants; apiextensions validation.go", "nullable", "type")
def root_is_an_object(node: Node) -> Iterator[Issue]:
    """The root is an object and not nullable."""
    if not node.is_root:
        return
    if node.type and node.type != "object":
        yield Issue("type", f"the root must be an object, not {node.type}", "write type: object")
    if node.flag("nullable"):
        yield Issue("nullable", "the root cannot be null", "remove nullable")


@error("schema/validation.go, validateStructuralInvariants", "type")
def list_has_items(node: Node) -> Iterator[Issue]:
    """A list declares its items, so that they can be pruned."""
    if not node.branch and node.type == "array" and node.items is None and not node.schema.get("items"):
        yield Issue("items", "a list needs the schema of its items", "write items")


@error("apiextensions validation.go, specStandardValidatorV3", "items")
def items_are_one_schema(node: Node) -> Iterator[Issue]:
    """All items of a list have the same schema; a tuple of schemas is not structural."""
    if isinstance(node.schema.get("items"), list) and node.schema["items"]:
        yield Issue("items", "items must be one schema, not a list of schemas", "write the schema that all items have")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", "additionalProperties")
def fields_or_map(node: Node) -> Iterator[Issue]:
    """An object has either declared fields or is a map; it cannot be both, because unknown fields are pruned."""
    if node.properties and node.schema.get("additionalProperties", True) is not True:
        fix = "remove additionalProperties: fields that are not declared are pruned anyway"
        yield Issue("additionalProperties", "properties and additionalProperties exclude each other", fix)


@error("schema/validation.go, validateStructuralInvariants", "additionalProperties")
def resource_is_no_map(node: Node) -> Iterator[Issue]:
    """The root and embedded resources are not maps."""
    if not node.branch and "additionalProperties" in node.schema and node.is_resource:
        what = "an embedded resource" if node.flag(EMBEDDED) else "the root"
        yield Issue("additionalProperties", f"{what} must not have additionalProperties", "remove it")


@error("schema/validation.go, validateNestedValueValidation")
def branches_only_restrict(node: Node) -> Iterator[Issue]:
    """Branches of allOf, anyOf, oneOf and not restrict declared fields; they declare nothing."""
    if not node.branch or node.exempt:
        return
    forbidden = {keyword for keyword in _NOT_IN_A_BRANCH if node.schema.get(keyword)}
    for keyword in sorted(forbidden | (node.schema.keys() & {"default", LIST_TYPE, MAP_TYPE})):
        yield Issue(keyword, f"{keyword} must not be within a branch", "write it outside of the branch only")
    if node.schema.get("additionalProperties", False) is not False:
        fix = "write it outside of the branch only"
        yield Issue("additionalProperties", "additionalProperties must not be within a branch", fix)
    if "metadata" in node.properties:
        yield Issue("properties[metadata]", "a branch must not restrict metadata", "write a rule of CEL")


@error("schema/complete.go", *BRANCHES, "not")
def branches_of_the_root_are_declared(node: Node) -> Iterator[Issue]:
    """Fields that branches of the root restrict are declared outside of the branch."""
    if node.is_root:
        for branch, step in _undeclared(node):
            fix = "declare the field outside of the branch, with its type"
            yield Issue(step, f"{step} is restricted in {branch} only", fix)


@warning("schema/complete.go, which looks at the root only", *BRANCHES, "not")
def branches_are_declared(node: Node) -> Iterator[Issue]:
    """A field that only a branch names is pruned before validation. Below the root, the API server accepts this."""
    if node.is_root or node.branch or node.flag(PRESERVE) or "additionalProperties" in node.schema:
        return
    for branch, step in _undeclared(node):
        yield Issue(step, f"{step} is restricted in {branch} only, and pruned", "declare it outside of the branch")


def _undeclared(node: Node) -> Iterator[tuple[str, str]]:
    """Yield each path that a branch restricts and its node does not declare, as (branch, path)."""
    branches: list[tuple[Schema, Schema, str, str]] = [
        (child.schema, node.schema, child.path.removeprefix(node.path).lstrip("."), "")
        for child in node.children
        if child.branch
    ]
    for schema, declared, branch, path in branches:
        if isinstance(schema.get("items"), dict):
            inner = declared.get("items")
            if isinstance(inner, dict):
                branches.append((schema["items"], inner, branch, f"{path}.items".lstrip(".")))
            else:
                yield branch, f"{path}.items".lstrip(".")
        for name, child in schema.get("properties", {}).items():
            step = f"{path}.properties[{name}]".lstrip(".")
            if name in declared.get("properties", {}):
                branches.append((child, declared["properties"][name], branch, step))
            else:
                yield branch, step
        for keyword in BRANCHES:
            branches += [(inner, declared, branch, path) for inner in schema.get(keyword, ())]
        if "not" in schema:
            branches.append((schema["not"], declared, branch, path))


@error("schema/validation.go, validateExtensions", INT_OR_STRING)
def int_or_string_stands_alone(node: Node) -> Iterator[Issue]:
    """An int-or-string is not an embedded resource and preserves no fields."""
    if not node.branch and node.flag(INT_OR_STRING):
        for keyword in (PRESERVE, EMBEDDED):
            if node.flag(keyword):
                yield Issue(keyword, f"{INT_OR_STRING} and {keyword} exclude each other", "remove one of them")


@warning("kube-openapi validation/validate/type.go", INT_OR_STRING)
def int_or_string_has_no_type(node: Node) -> Iterator[Issue]:
    """int-or-string has no effect on a field with a type."""
    if not node.branch and node.type and node.flag(INT_OR_STRING):
        yield Issue("type", f"{INT_OR_STRING} excludes a type: only {node.type} passes both", "remove type")


@warning("schema/validation.go, isIntOrStringAnyOfPattern", "anyOf")
def either_type_needs_int_or_string(node: Node) -> Iterator[Issue]:
    """The two types in anyOf are for int-or-string; without it the type outside decides."""
    if not node.branch and not node.flag(INT_OR_STRING) and node.schema.get("anyOf") == EITHER:
        fix = f"write {INT_OR_STRING}: true instead of type"
        yield Issue("anyOf", "anyOf of integer and string does not widen the type beside it", fix)


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", PRESERVE)
def preserving_is_never_off(node: Node) -> Iterator[Issue]:
    """x-kubernetes-preserve-unknown-fields is true or left out; false is not allowed."""
    if node.schema.get(PRESERVE) is False:
        yield Issue(PRESERVE, f"{PRESERVE} is true or left out", "remove it")


@error("schema/validation.go, validateStructuralInvariants; apiextensions validation.go", EMBEDDED)
def embedded_resource_is_whole(node: Node) -> Iterator[Issue]:
    """An embedded resource is an object with fields, outside of metadata."""
    if not node.flag(EMBEDDED):
        return
    if node.inside_meta:
        yield Issue(EMBEDDED, "metadata must not contain embedded resources", "remove it")
    if node.branch:
        return
    if node.type and node.type != "object":
        yield Issue("type", f"an embedded resource is an object, not {node.type}", "write type: object")
    if not node.properties and not node.flag(PRESERVE):
        fix = f"declare them, or write {PRESERVE}: true"
        yield Issue("properties", "an embedded resource needs fields", fix)


@error("schema/validation.go, validateStructuralInvariants", "properties")
def type_meta_is_text(node: Node) -> Iterator[Issue]:
    """The fields apiVersion and kind are strings, metadata is an object."""
    if node.branch or not node.is_resource:
        return
    for name, expected in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        if name in node.properties and node.properties[name].get("type") != expected:
            path = f"properties[{name}].type"
            yield Issue(path, f"type of {name} must be {expected}", f"write type: {expected}, or leave the field out")


@error("schema/validation.go, validateStructuralMetadataInvariants", "properties")
def root_metadata_is_bare(node: Node) -> Iterator[Issue]:
    """The schema of metadata may restrict name and generateName only."""
    metadata = node.properties.get("metadata")
    if not node.is_root or metadata is None:
        return
    names = metadata.get("properties", {}).keys()
    extra = [
        keyword
        for keyword in sorted(metadata.keys() - {"type", "default", "properties"})
        if _has_effect(metadata, keyword)
    ]
    extra += [f"properties[{name}]" for name in sorted(names - _NAME_FIELDS)]
    if extra:
        problem = f"metadata must be a bare object, or restrict name and generateName only: not {', '.join(extra)}"
        yield Issue("properties[metadata]", problem, "write type: object and nothing else")


def _has_effect(schema: Schema, keyword: str) -> bool:
    """Return whether the keyword has a value other than Go's zero value."""
    return bool(schema[keyword]) or type(schema[keyword]) in {int, float} or keyword in _EVEN_EMPTY
