"""What is demanded of a field as a whole: CEL rules, and branches."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.markdown import code, escape
from crdgen.docs.types import LONGEST, kubernetes_type, patterns_of, value
from crdgen.generate.mixed import SHUT
from crdgen.quantities import QUANTITY_PATTERN
from crdgen.schema import INT_OR_STRING, VALIDATIONS
from crdgen.schema.look import mapping, members, named

_WORDS: Final = {"oneOf": "exactly one of", "anyOf": "at least one of", "allOf": "all of"}


def rules(path: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each rule at a field and below it, as Markdown."""
    if kubernetes_type(schema):
        return
    at = code(path) or "the object"
    for text, rule in named(schema.get(VALIDATIONS), "rule").items():
        message = rule.get("message")
        if isinstance(message, str) and message:
            yield f"{at}: {escape(message)} ({code(text, in_table=False)})"
        else:
            yield f"{at}: {code(text, in_table=False)}"
    for line in (*_patterns(schema), *_branches(schema)):
        yield f"{at}: {line}"
    properties = mapping(schema, "properties")
    for name in properties:
        yield from rules(f"{path}.{name}".lstrip("."), mapping(properties, name))
    for key, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from rules(f"{path}{step}", schema[key])


def _patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the patterns that the table of fields does not show."""
    patterns = patterns_of(schema)
    for pattern in patterns:
        if pattern != QUANTITY_PATTERN and (len(pattern) > LONGEST or pattern != patterns[0]):
            yield f"matches {code(pattern, in_table=False)}"


def _branches(schema: Mapping[str, Any]) -> Iterator[str]:
    for keyword, words in _WORDS.items():
        branches = [branch for branch in members(schema.get(keyword)) if not _is_shown(keyword, branch)]
        if branches and schema.get(INT_OR_STRING) is not True:
            yield f"{words} {', '.join(map(_branch, branches))}"
    if mapping(schema, "not") and schema["not"] != SHUT["boolean"]["not"]:
        yield f"not {_branch(schema['not'])}"


def _is_shown(keyword: str, branch: Any) -> bool:
    """Return whether a branch only says a pattern, or which types there are not."""
    return keyword == "allOf" and (mapping(branch).keys() == {"pattern"} or branch in SHUT.values())


def _branch(branch: Any) -> str:
    names = members(mapping(branch).get("required"))
    if names and mapping(branch).keys() == {"required"}:
        return " with ".join(code(str(name)) for name in names)
    return value(branch)
