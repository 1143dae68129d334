"""Rules for keywords: forbidden, without effect, and fields that are pruned because they are not declared."""

from collections.abc import Iterator
from typing import Final

from crdgen import re2
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.evaluate.validation import checker
from crdgen.formats import text_format
from crdgen.lint.node import Node
from crdgen.lint.rule import Issue, error, warning
from crdgen.schema import EMBEDDED, INT_OR_STRING, PRESERVE, TYPES
from crdgen.schema.limits import INTEGER_FORMATS, NUMBER_FORMATS

_NUMBERS: Final = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_TEXTS: Final = frozenset({"maxLength", "minLength", "pattern"})
_LISTS: Final = frozenset({"items", "maxItems", "minItems"})
_OBJECTS: Final = frozenset({"additionalProperties", "maxProperties", "minProperties", "properties", "required"})
_KEYWORDS_BY_TYPE: Final = {
    "array": _LISTS,
    "boolean": frozenset[str](),
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "object": _OBJECTS,
    "string": _TEXTS,
}
_TYPED: Final = _NUMBERS | _TEXTS | _LISTS | _OBJECTS

_PAIRS: Final = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_SIZES: Final = ("maxLength", "maxItems", "maxProperties")

_NUMBER_FORMATS: Final = {"integer": INTEGER_FORMATS, "number": NUMBER_FORMATS}


#: Known, but forbidden keywords, with their fixes.
UNSUPPORTED: Final = {
    "$ref": "write what it refers to in its place",
    "$schema": "remove it",
    "additionalItems": "remove it",
    "definitions": "write each definition in the place where it is used",
    "dependencies": "write a rule: !has(self.a) || has(self.b)",
    "id": "remove it",
    "patternProperties": "write additionalProperties, and a rule for the keys",
    "uniqueItems": "write x-kubernetes-list-type: set",
}
# The others are allowed with Go's zero value.
_EVEN_EMPTY: Final = frozenset({"$ref", "additionalItems", "dependencies"})


@error("apiextensions validation.go, specStandardValidatorV3; schema/convert.go", *UNSUPPORTED)
def keyword_is_supported(node: Node) -> Iterator[Issue]:
    """Structural schemas have no references, no definitions and no keywords that are expensive to validate."""
    for keyword, fix in UNSUPPORTED.items():
        if keyword in node.schema and (node.schema[keyword] or keyword in _EVEN_EMPTY):
            yield Issue(keyword, f"{keyword} is not supported", fix)


@error("schema/validation.go, validateValueValidation", "pattern")
def pattern_is_of_go(node: Node) -> Iterator[Issue]:
    """Patterns are compiled by Go, which has no look-around and no back-references."""
    pattern = node.schema.get("pattern")
    if pattern and (problem := re2.problem(pattern)):
        yield Issue("pattern", f"Go cannot compile the pattern: it has {problem.what}", problem.fix)


@warning("apiserver/validation/formats.go", "format")
def format_is_checked(node: Node) -> Iterator[Issue]:
    """The API server validates some formats, each for one type, and ignores all others."""
    name = node.schema.get("format")
    if not name or node.branch:
        return
    formats = _NUMBER_FORMATS.get(node.type)
    if formats:
        is_checked = name in formats
        fix = f"write {' or '.join(formats)}, or bounds"
    else:
        is_checked = node.type in {"", "string"} and text_format(name) is not None
        fix = "write a pattern or a rule, or remove it"
    if not is_checked:
        what = f"a value of type {node.type}" if node.type else "a value without a type"
        yield Issue("format", f"format {name} is ignored for {what}", fix)


@warning("kube-openapi validation/strfmt/duration.go", "format")
def duration_is_of_go(node: Node) -> Iterator[Issue]:
    """Format duration has Go's syntax; ISO 8601 durations are rejected or misread."""
    if node.schema.get("format") != "duration" or node.branch or node.type not in {"", "string"}:
        return
    values = [node.schema.get("default"), node.schema.get("example"), *node.schema.get("enum", ())]
    texts = [value for value in values if isinstance(value, str) and value]
    iso_text = next((text for text in texts if text.startswith(("P", "-P"))), "")
    if not texts or iso_text:
        problem = (
            "format duration has Go's syntax (30s, 1h30m): the API server rejects P1Y and reads PT0.5S as 5 seconds"
        )
        problem = f"{iso_text} is ISO 8601, but {problem}" if iso_text else problem
        fix = "give an example in Go's syntax, or replace the format with a pattern"
        yield Issue("format", problem, fix)


@warning("kube-openapi validation/validate", *_TYPED)
def keyword_fits_the_type(node: Node) -> Iterator[Issue]:
    """Bounds for another type have no effect."""
    if node.branch or node.type not in _KEYWORDS_BY_TYPE or node.flag(INT_OR_STRING):
        return
    for keyword in sorted((node.schema.keys() & _TYPED) - _KEYWORDS_BY_TYPE[node.type]):
        if node.schema[keyword] not in (False, [], {}):
            yield Issue(
                keyword, f"{keyword} has no effect on a value of type {node.type}", "remove it, or correct the type"
            )


@warning("kube-openapi validation/validate/values.go", *_TYPED)
def bounds_leave_something(node: Node) -> Iterator[Issue]:
    """No value satisfies a minimum above its maximum: the API server accepts the schema, but no object.

    Schemas without a type are not checked: they use such bounds to exclude a type. A bound that is not a value of the
    type, such as 9.5 for an integer, also rejects all values.
    """
    declared = node
    while declared.branch and declared.parent is not None:
        declared = declared.parent
    for low, high in _PAIRS if declared.type else ():
        minimum, maximum = node.schema.get(low), node.schema.get(high)
        exclusive = low == "minimum" and (node.flag("exclusiveMinimum") or node.flag("exclusiveMaximum"))
        if minimum is not None and maximum is not None and (minimum > maximum or (exclusive and minimum == maximum)):
            yield Issue(low, f"no value satisfies {low} {minimum} and {high} {maximum}", "correct one of them")
    for keyword in _SIZES:
        if node.schema.get(keyword, 0) < 0:
            yield Issue(keyword, f"no value has {keyword} {node.schema[keyword]}", "write a number from 0 on")
    if node.schema.get("multipleOf") == 0:
        yield Issue("multipleOf", "no value is a multiple of 0", "write a number above 0")
    for keyword, text in unfit_bounds(node.schema).items():
        yield Issue(keyword, f"a value {text}", "write a bound that is a value of the type")


@warning("kube-openapi validation/validate/values.go", "enum")
def enum_can_be_met(node: Node) -> Iterator[Issue]:
    """An enum has values of the field's type; a nullable field with an enum must list null."""
    enum = node.schema.get("enum")
    if not enum or node.branch:
        return
    violations_of = checker({"type": node.type} if node.type in TYPES else {})
    invalid = [value for value in enum if value is not None and violations_of(value)]
    if invalid:
        yield Issue("enum", f"{invalid[0]!r} is no value of type {node.type}", "remove it, or correct the type")
    if node.flag("nullable"):
        yield Issue(
            "enum", "an enum rejects null, so nullable says nothing", "remove nullable, or write a rule for the enum"
        )


@warning("schema/pruning/algorithm.go", "required")
def required_field_is_declared(node: Node) -> Iterator[Issue]:
    """A required field that is not declared is pruned before validation, so no object is valid."""
    if node.branch or node.type != "object" or node.flag(PRESERVE) or "additionalProperties" in node.schema:
        return
    known = node.properties.keys() | ({"apiVersion", "kind", "metadata"} if node.is_resource else set())
    for name in node.schema.get("required", ()):
        if name not in known:
            fix = "declare it in properties, or do not require it"
            yield Issue(
                "required", f"{name} is required but not declared, so it is always pruned and no object is valid", fix
            )


@warning("schema/pruning/algorithm.go", "type")
def object_has_fields(node: Node) -> Iterator[Issue]:
    """An object that declares no fields loses all of them; `properties: {}` declares that it has none."""
    if not _is_bare(node):
        return
    # The metadata of a template is pruned like any other object: only that of whole objects is known.
    if node.name == "metadata" and node.parent is not None and "spec" in node.parent.properties:
        fix = f"declare labels, annotations, finalizers, name and namespace, or write {PRESERVE}: true"
        yield Issue("", f"labels and annotations of {node.field} are pruned", fix)
    else:
        fix = "declare the fields, or write properties: {} for none, or x-kubernetes-preserve-unknown-fields: true"
        yield Issue("", f"{node.field or 'the object'} declares no fields, so all its fields are pruned", fix)


@warning("schema/pruning/algorithm.go", "additionalProperties")
def map_of_anything_keeps_it(node: Node) -> Iterator[Issue]:
    """Objects in a map with values of any type lose all their fields."""
    if node.schema.get("additionalProperties") is True and not node.branch and not node.flag(PRESERVE):
        fix = "write x-kubernetes-preserve-unknown-fields: true in its place"
        yield Issue("additionalProperties", "objects within additionalProperties: true lose their fields", fix)


def _is_bare(node: Node) -> bool:
    return (
        not node.branch
        and not node.inside_meta
        and node.type == "object"
        and "properties" not in node.schema
        and not node.flag(PRESERVE)
        and not node.flag(EMBEDDED)
        and "additionalProperties" not in node.schema
    )


@warning("k8s.io/apimachinery, pkg/util/validation: DNS1123LabelMaxLength", "type")
def derived_names_are_valid(node: Node) -> Iterator[Issue]:
    """Objects may have names of 253 characters; labels and hosts of pods, and Services, named after them, 63."""
    if not node.is_root:
        return
    name = node.properties.get("metadata", {}).get("properties", {}).get("name", {})
    longest = name.get("maxLength", 253)
    if longest > 63 and _has_pod_template(node):
        fix = "write metadata: {type: object, properties: {name: {type: string, maxLength: 50}}}, or use a webhook"
        problem = f"names of {longest} characters are taken, and pods' labels, hosts and Services take at most 63"
        yield Issue("properties[metadata]", problem, fix)


def _has_pod_template(root: Node) -> bool:
    """Return whether the spec contains a pod template."""
    pending = [child for child in root.children if child.name == "spec"]
    for node in pending:
        containers = node.properties.get("containers", {})
        if node.name == "spec" and containers.get("type") == "array" and not node.branch:
            return True
        pending.extend(node.children)
    return False
