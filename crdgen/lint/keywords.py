"""Keywords that the API server knows and forbids, and keywords that say nothing where they are."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen import re2
from crdgen.evaluate.scalars import unfit_bounds
from crdgen.lint.node import Node
from crdgen.lint.rule import Found, refused, surprising
from crdgen.schema import INT_OR_STRING, PRESERVE
from crdgen.schema.limits import INTEGER_FORMATS, NUMBER_FORMATS, TEXT_FORMATS

_NUMBERS: Final = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_TEXTS: Final = frozenset({"maxLength", "minLength", "pattern"})
_LISTS: Final = frozenset({"items", "maxItems", "minItems"})
_OBJECTS: Final = frozenset({"additionalProperties", "maxProperties", "minProperties", "properties", "required"})
_OF_TYPE: Final = {
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

# Without dashes, as the API server compares them.
_TEXT_FORMATS: Final = frozenset(name.replace("-", "") for name in TEXT_FORMATS)
_NUMBER_FORMATS: Final = {"integer": INTEGER_FORMATS, "number": NUMBER_FORMATS}


#: Keywords that are known and forbidden, and what says the same.
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
# The others may be there with Go's zero value.
_EVEN_EMPTY: Final = frozenset({"$ref", "additionalItems", "dependencies"})


@refused("apiextensions validation.go, specStandardValidatorV3; schema/convert.go", *UNSUPPORTED)
def keyword_is_supported(node: Node) -> Iterator[Found]:
    """References, definitions and what would make checking quadratic are no part of a structural schema."""
    for keyword, fix in UNSUPPORTED.items():
        if keyword in node.schema and (node.schema[keyword] or keyword in _EVEN_EMPTY):
            yield Found(keyword, f"{keyword} is not supported", fix)


@refused("schema/validation.go, validateValueValidation", "pattern")
def pattern_is_of_go(node: Node) -> Iterator[Found]:
    """A pattern is compiled by Go: no look-around, no back-references."""
    pattern = node.schema.get("pattern")
    if pattern and (problem := re2.problem(pattern)):
        yield Found("pattern", f"Go cannot compile the pattern: it has {problem.what}", problem.fix)


@surprising("apiserver/validation/formats.go", "format")
def format_is_checked(node: Node) -> Iterator[Found]:
    """The API server knows some formats, each for one type, and ignores all others."""
    name = node.schema.get("format")
    if not name or node.branch:
        return
    known = _NUMBER_FORMATS.get(node.type)
    if known:
        checked = name in known
        fix = f"write {' or '.join(known)}, or bounds"
    else:
        checked = node.type in {"", "string"} and name.replace("-", "") in _TEXT_FORMATS
        fix = "write a pattern or a rule, or remove it"
    if not checked:
        what = f"a value of type {node.type}" if node.type else "a value without a type"
        yield Found("format", f"format {name} is ignored for {what}", fix)


@surprising("kube-openapi validation/strfmt/duration.go", "format")
def duration_is_of_go(node: Node) -> Iterator[Found]:
    """Format duration is Go's syntax: of ISO 8601, which most libraries mean, some is refused and some misread."""
    if node.schema.get("format") != "duration" or node.branch or node.type not in {"", "string"}:
        return
    shown = [node.schema.get("default"), node.schema.get("example"), *node.schema.get("enum", ())]
    texts = [value for value in shown if isinstance(value, str) and value]
    other = next((text for text in texts if text.startswith(("P", "-P"))), "")
    if not texts or other:
        problem = "format duration is Go's (30s, 1h30m): of ISO 8601, P1Y is refused and PT0.5S is read as 5 seconds"
        problem = f"{other} is of ISO 8601, and {problem}" if other else problem
        fix = "give an example in Go's syntax, so that it is clear; or write a pattern in the place of the format"
        yield Found("format", problem, fix)


@surprising("kube-openapi validation/validate", *_TYPED)
def keyword_fits_the_type(node: Node) -> Iterator[Found]:
    """A bound for another type than the value's is never looked at."""
    if node.branch or node.type not in _OF_TYPE or node.flag(INT_OR_STRING):
        return
    for keyword in sorted((node.schema.keys() & _TYPED) - _OF_TYPE[node.type]):
        if node.schema[keyword] not in (False, [], {}):
            yield Found(
                keyword, f"{keyword} says nothing of a value of type {node.type}", "remove it, or correct the type"
            )


@surprising("kube-openapi validation/validate/values.go", *_TYPED)
def bounds_leave_something(node: Node) -> Iterator[Found]:
    """No value satisfies a minimum above its maximum. The API server takes such a schema, and then no object.

    Where any type may stand, it is how a schema says which types may not: not surprising. A bound that is no value of
    the type itself, such as 9.5 for an integer, refuses all values, too.
    """
    declared = node
    while declared.branch and declared.parent is not None:
        declared = declared.parent
    for low, high in _PAIRS if declared.type else ():
        least, most = node.schema.get(low), node.schema.get(high)
        if least is not None and most is not None and least > most:
            yield Found(low, f"no value satisfies {low} {least} and {high} {most}", "correct one of them")
    for keyword in _SIZES:
        if node.schema.get(keyword, 0) < 0:
            yield Found(keyword, f"no value has {keyword} {node.schema[keyword]}", "write a number from 0 on")
    if node.schema.get("multipleOf") == 0:
        yield Found("multipleOf", "no value is a multiple of 0", "write a number above 0")
    for keyword, text in unfit_bounds(node.schema).items():
        yield Found(keyword, f"a value {text}", "write a bound that is a value of the type")


@surprising("kube-openapi validation/validate/values.go", "enum")
def enum_can_be_met(node: Node) -> Iterator[Found]:
    """A value of another type in an enum is never met, and null is refused beside an enum even if it is nullable."""
    enum = node.schema.get("enum")
    if not enum or node.branch:
        return
    strange = [value for value in enum if value is not None and not _has_type(value, node)]
    if strange:
        yield Found("enum", f"{strange[0]!r} is no value of type {node.type}", "remove it, or correct the type")
    if node.flag("nullable"):
        yield Found(
            "enum", "an enum refuses null, so nullable says nothing", "remove nullable, or write a rule for the enum"
        )


@surprising("schema/pruning/algorithm.go", "required")
def required_field_is_declared(node: Node) -> Iterator[Found]:
    """A field that is required and not declared is pruned before it is looked for, so no object is ever taken."""
    if node.branch or node.type != "object" or node.flag(PRESERVE) or "additionalProperties" in node.schema:
        return
    known = node.properties.keys() | ({"apiVersion", "kind", "metadata"} if node.is_resource else set())
    for name in node.schema.get("required", ()):
        if name not in known:
            fix = "declare it in properties, or do not require it"
            yield Found("required", f"{name} is required and always pruned: no object is taken", fix)


def _has_type(value: Any, node: Node) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    held = {
        "array": isinstance(value, list),
        "boolean": isinstance(value, bool),
        "integer": number and float(value).is_integer(),
        "number": number,
        "object": isinstance(value, Mapping),
        "string": isinstance(value, str),
    }
    return held.get(node.type, True)
