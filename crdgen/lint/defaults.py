"""Rules for defaults."""

import re
from collections.abc import Iterator
from typing import Any, Final

from crdgen.evaluate import Evaluator
from crdgen.evaluate.metadata import resources
from crdgen.evaluate.pruning import pruner
from crdgen.formats import text_format
from crdgen.lint.node import FIELD, ITEM, Node
from crdgen.lint.rule import EVALUATED, Issue, error, warning
from crdgen.schema import BRANCHES, EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, Schema
from crdgen.schema.look import path_of, with_children

_VALUE: Final = "value"
# Keywords that the API server checks in objects, but not in defaults.
_ONLY_IN_OBJECTS: Final = frozenset({INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE})
# A format that accepts every string.
_ANY_STRING_FORMAT: Final = "password"
# Errors of the evaluation of a schema without other faults: a pattern that Python does not support or cannot nest; a
# number that is too large for a division.
_NOT_EVALUATED: Final = (re.error, RecursionError, ArithmeticError, ValueError)


@error("apiextensions validation.go, withForbiddenDefaults", "default", phase=EVALUATED)
def default_is_allowed_here(node: Node) -> Iterator[Issue]:
    """The API server sets apiVersion, kind and metadata; they have no defaults."""
    if node.no_default and "default" in node.schema and not node.branch:
        yield Issue("default", f"there must be no default: {node.no_default}", "remove it")


@error("schema/defaulting/validation.go", "default", phase=EVALUATED)
def default_is_pruned(node: Node) -> Iterator[Issue]:
    """Defaults have declared fields only; others would be pruned."""
    if _is_checked(node) and not node.inside_meta:
        value = {_VALUE: node.schema["default"]}
        try:
            schema = node.schema | ({EMBEDDED: True} if node.is_root else {})
            pruned = pruner({"type": "object", "properties": {_VALUE: schema}}, root=True)(value)
        except _NOT_EVALUATED:
            return
        if pruned != value:
            fix = "declare the fields, or remove them from the default"
            yield Issue("default", "the default has fields that are not declared", fix)


@error("schema/defaulting/validation.go", "default", phase=EVALUATED)
def default_is_valid(node: Node) -> Iterator[Issue]:
    """A default is valid on its own: it is validated before nested defaults are set."""
    if _is_checked(node):
        yield from _violations(node.schema)


@error("schema/objectmeta/validation.go", "default", phase=EVALUATED)
def default_of_a_resource_is_whole(node: Node) -> Iterator[Issue]:
    """A default that is an embedded resource has apiVersion, kind and valid metadata."""
    if not _is_checked(node):
        return
    schema, value = node.schema | ({EMBEDDED: True} if node.is_root else {}), node.schema["default"]
    if node.inside_meta:
        schema, value = _in_resource(node)
    check = resources(schema)
    for violation in (check(value) if check else None) or ():
        yield Issue(
            f"default{path_of(violation.path)}", f"the default is no whole resource: {violation.message}", "correct it"
        )


@warning("schema/defaulting/algorithm.go", "properties")
def default_can_be_set(node: Node) -> Iterator[Issue]:
    """Defaults of fields are set only in objects that are present: a missing parent needs `default: {}`."""
    parent = node.parent
    # Entries of maps and lists always exist.
    is_field = parent is not None and bool(node.name) and node.level == FIELD and not node.branch
    if not is_field or parent is None or node.name in parent.schema.get("required", ()) or node.field == "status":
        return
    if node.schema.keys() & {"default", "minProperties", "required"} or node.flag("nullable") or node.type != "object":
        return
    for name in [name for name, field in node.properties.items() if "default" in field][:1]:
        problem = f"the default of {name} is not set if {node.field} is left out, because {node.name} has no default"
        can_be_empty = not any(True for _ in _violations(node.schema | {"default": {}}))
        fix = f"write default: {{}} for {node.field}, or require it" if can_be_empty else f"require it: {node.field}"
        yield Issue("", problem, f"{fix}; ignore this if a missing object has its own meaning")


@warning("schema/defaulting/algorithm.go", "default")
def default_has_an_effect(node: Node) -> Iterator[Issue]:
    """The default of the object itself is never set. A default of list items or map values only replaces null."""
    is_entry = node.level == ITEM or (node.parent is not None and node.schema is node.parent.values)
    if node.is_root:
        yield Issue("default", "the default of the root has no effect", "write defaults for its fields")
    elif is_entry and not node.branch:
        yield Issue("default", "a default of list items or map values only replaces null", "write it for its fields")


@warning("schema/defaulting/validation.go, which holds it against the schema alone", "default", phase=EVALUATED)
def default_leaves_the_object_valid(node: Node) -> Iterator[Issue]:
    """The API server checks no defaults of map values, and no defaults for duplicate items and int-or-string."""
    if not node.branch and (node.unseen_defaults or not any(True for _ in _violations(node.schema))):
        yield from _violations(node.schema, whole=True)


def _is_checked(node: Node) -> bool:
    """Return whether the API server checks the default of the node."""
    return "default" in node.schema and not node.branch and not node.unseen_defaults


def _violations(schema: Schema, *, whole: bool = False) -> Iterator[Issue]:
    """Yield violations in a default, checked like a default or, with `whole`, like a part of an object."""
    wrapped = {"type": "object", "properties": {_VALUE: schema if whole else _schema_for_defaults(schema)}}
    value = {_VALUE: schema["default"]}
    try:
        evaluator = Evaluator(wrapped)
        violations = evaluator.validate(value) or ([] if whole else evaluator.validate(value, value))
    except _NOT_EVALUATED:
        return
    for violation in violations:
        problem = f"the default breaks the schema: {violation.message}"
        yield Issue(f"default{path_of(violation.path[1:])}", problem, "correct it, or what it breaks")


def _schema_for_defaults(schema: Schema) -> Schema:
    """Return the schema without keywords that the API server does not check in defaults."""
    result = {keyword: value for keyword, value in schema.items() if keyword not in _ONLY_IN_OBJECTS}
    if not result.get("type") and "format" in result and text_format(result["format"]) is None:
        # Without a type, even a format that is not checked requires a string, except int64.
        result["format"] = _ANY_STRING_FORMAT if result["format"] != "int64" else ""
    if not result.get("enum", True):
        del result["enum"]
    result = with_children(result, lambda child, _: _schema_for_defaults(child))
    if "not" in result:
        result["not"] = _schema_for_defaults(result["not"])
    for keyword in BRANCHES:
        if keyword in result:
            result[keyword] = [_schema_for_defaults(branch) for branch in result[keyword]]
    return result


def _in_resource(node: Node) -> tuple[Schema, Any]:
    """Return the schema of the resource with the node in its metadata, and a minimal object with the default."""
    value: Any = node.schema["default"]
    resource: Node | None = node
    while resource is not None and not resource.is_resource:
        value = {resource.name: value} if resource.name else [value]
        resource = resource.parent
    schema = resource.schema | {EMBEDDED: True} if resource else {}
    return schema, {"apiVersion": "validation/v1", "kind": "Validation"} | (value if isinstance(value, dict) else {})
