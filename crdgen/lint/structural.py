"""A small linter: the rules of a structural schema that the generator's own output must obey.

The rules are those of k8s.io/apiextensions-apiserver (pkg/apiserver/schema/validation.go and
pkg/apis/apiextensions/validation/validation.go).
"""

from collections.abc import Iterator
from typing import Final

from crdgen.evaluate import Evaluator
from crdgen.lint.finding import Finding, Severity
from crdgen.schema.known import PRESERVE
from crdgen.schema.unions import INT_OR_STRING
from crdgen.schema.walk import Schema

_KEYWORDS: Final = frozenset(
    {
        "additionalProperties",
        "allOf",
        "anyOf",
        "default",
        "description",
        "enum",
        "example",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "externalDocs",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "nullable",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        INT_OR_STRING,
        PRESERVE,
        "x-kubernetes-embedded-resource",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
    }
)
_SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})
_TYPES: Final = _SCALARS | {"array", "object"}
_BOOLEANS: Final = ("exclusiveMaximum", "exclusiveMinimum", "nullable")


def check_structural(schema: Schema) -> list[Finding]:
    """Return what the API server would refuse in the schema of a whole object."""
    return [*_root(schema), *_node(schema, "")]


def _found(path: str, problem: str) -> Finding:
    fix = "say it by a type or a marker of crdgen, or as a rule of your own"
    return Finding(path, problem, fix, Severity.REFUSED, "structural")


def _root(schema: Schema) -> Iterator[Finding]:
    if schema.get("type") != "object":
        yield _found("", "the root must be an object")
    metadata = schema.get("properties", {}).get("metadata", {"type": "object"})
    if metadata != {"type": "object"}:
        yield _found("metadata", "must be a bare object")
    if "default" in schema:
        yield _found("", "the root has no default")


def _node(schema: Schema, path: str) -> Iterator[Finding]:
    for keyword in sorted(schema.keys() - _KEYWORDS):
        yield _found(path, f"{keyword} is unknown to the API server")
    yield from _type(schema, path)
    yield from _list(schema, path)
    yield from _default(schema, path)
    for name, child in schema.get("properties", {}).items():
        yield from _node(child, f"{path}.{name}".lstrip("."))
    if isinstance(schema.get("items"), dict):
        yield from _node(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _node(schema["additionalProperties"], f"{path}.*")


def _type(schema: Schema, path: str) -> Iterator[Finding]:
    kind = schema.get("type")
    if schema.get(INT_OR_STRING):
        if kind is not None or schema.get(PRESERVE):
            yield _found(path, "int-or-string excludes a type and preserved fields")
    elif kind not in _TYPES and not (kind is None and schema.get(PRESERVE)):
        yield _found(path, f"type must be one of {', '.join(sorted(_TYPES))}, not {kind}")
    if kind == "array" and not isinstance(schema.get("items"), dict):
        yield _found(path, "a list needs the schema of its items")
    if "properties" in schema and "additionalProperties" in schema:
        yield _found(path, "properties and additionalProperties exclude each other")
    for keyword in _BOOLEANS:
        if not isinstance(schema.get(keyword, False), bool):
            yield _found(path, f"{keyword} must be a boolean")
    if schema.get(PRESERVE, True) is not True:
        yield _found(path, f"{PRESERVE} is true or left out")


def _list(schema: Schema, path: str) -> Iterator[Finding]:
    kind = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys", [])
    if kind is not None and schema.get("type") != "array":
        yield _found(path, "a list type is for lists")
    if bool(keys) != (kind == "map"):
        yield _found(path, "map keys belong to a list of type map, and it needs one")
    items = schema.get("items", {})
    if kind in {"map", "set"} and items.get("nullable"):
        yield _found(path, "the items of a map or set list are not nullable")
    if kind == "set" and items.get("type") not in _SCALARS:
        yield _found(path, "the items of a set are scalars")
    for key in keys:
        field = items.get("properties", {}).get(key, {})
        if field.get("type") not in _SCALARS or field.get("nullable"):
            yield _found(path, f"map key {key} must be a scalar that is not null")
        if key not in items.get("required", ()) and "default" not in field:
            yield _found(path, f"map key {key} must be required or have a default")


def _default(schema: Schema, path: str) -> Iterator[Finding]:
    if "default" not in schema:
        return
    value = schema["default"]
    if value is None:
        yield _found(path, "a null default is no default")
        return
    wrapped = Evaluator({"type": "object", "properties": {"value": schema}})
    holder = {"value": value}
    if wrapped.prune(holder) != holder:
        yield _found(path, "the default has fields that the schema does not know")
    for violation in wrapped.validate(wrapped.default(holder)):
        yield _found(path, f"the default breaks the schema: {violation.message}")
