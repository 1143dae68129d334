"""The rules and constraints of a schema, and those that an object violates."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.types import kubernetes_type
from crdgen.evaluate import ErrorType, Violation
from crdgen.evaluate.validation import checker
from crdgen.formats import text_format
from crdgen.schema import INT_OR_STRING, LIST_TYPE, VALIDATIONS, VALUES
from crdgen.schema.look import children, mapping, named, shown, words

_CONSTRAINTS: Final = tuple(sorted(VALUES - {"exclusiveMinimum", "exclusiveMaximum"}))


def constraints(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield a label for each rule and constraint, except those of Kubernetes' own types."""
    if kubernetes_type(schema):
        return
    yield from (_label(path, "rule", text) for text in named(schema.get(VALIDATIONS), "rule"))
    yield from (_label(path, "required", name) for name in words(schema.get("required")))
    yield from (_label(path, keyword, schema[keyword]) for keyword in _own(schema))
    for step, child in children(schema):
        yield from constraints(child, f"{path}{step}")


def violated_labels(schema: Mapping[str, Any], violation: Violation) -> Iterator[str]:
    """Yield the labels of the rules and constraints that a violation breaks."""
    at_parent = violation.reason in {ErrorType.REQUIRED, ErrorType.DUPLICATE} and not violation.rule
    *parents, (path, node) = _along(schema, violation.path[:-1] if at_parent else violation.path)
    if violation.rule:
        for above, parent in (*parents, (path, node)):
            if violation.rule in named(parent.get(VALIDATIONS), "rule"):
                yield _label(above, "rule", violation.rule)
    elif violation.reason is ErrorType.DUPLICATE:
        yield _label(path, LIST_TYPE, node.get(LIST_TYPE))
    elif violation.reason is ErrorType.REQUIRED:
        yield _label(path, "required", violation.path[-1])
    else:
        typed = {key: node[key] for key in ("type", INT_OR_STRING) if key in node}
        for keyword in _own(node):
            names = (keyword, f"exclusive{keyword.capitalize()}")
            alone = typed | {key: node[key] for key in names if key in node}
            if keyword != LIST_TYPE and checker(alone)(violation.value):
                yield _label(path, keyword, node[keyword])


def _own(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keywords of a schema that may reject a value of its type."""
    for keyword in _CONSTRAINTS:
        if keyword in schema and (keyword != "format" or text_format(schema[keyword]) is not None):
            yield keyword
    if schema.get(LIST_TYPE) in {"set", "map"}:
        yield LIST_TYPE


def _along(schema: Mapping[str, Any], steps: tuple[str | int, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the schemas from the root to a value, with their paths."""
    path = ""
    yield path, schema
    for step in steps:
        keyword, name = ("items", "[]") if isinstance(step, int) else ("additionalProperties", ".*")
        if step in mapping(schema, "properties"):
            schema, name = mapping(schema, "properties", str(step)), f".{step}"
        else:
            schema = mapping(schema, keyword)
        path += name
        yield path, schema


def _label(path: str, keyword: str, value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else shown(value)
    return f"{path.lstrip('.') or 'the object'}: {keyword} {text}"
