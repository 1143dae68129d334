"""What is demanded of a field as a whole: CEL rules, and branches."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.markdown import code, escape
from crdgen.docs.types import kubernetes_type, value
from crdgen.look import mapping, members, named
from crdgen.words import INT_OR_STRING, VALIDATIONS

_WORDS: Final = {"oneOf": "exactly one of", "anyOf": "at least one of", "allOf": "all of"}


def rules(path: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each rule at a field and below it, as Markdown."""
    if kubernetes_type(schema):
        return
    at = code(path) or "the object"
    for text, rule in named(schema.get(VALIDATIONS), "rule").items():
        message = rule.get("message")
        if isinstance(message, str) and message:
            yield f"{at}: {escape(message)} ({code(text)})"
        else:
            yield f"{at}: {code(text)}"
    for keyword, words in _WORDS.items():
        branches = members(schema.get(keyword))
        if branches and schema.get(INT_OR_STRING) is not True:
            yield f"{at}: {words} {', '.join(map(_branch, branches))}"
    if mapping(schema, "not"):
        yield f"{at}: not {_branch(schema['not'])}"
    properties = mapping(schema, "properties")
    for name in properties:
        yield from rules(f"{path}.{name}".lstrip("."), mapping(properties, name))
    for key, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from rules(f"{path}{step}", schema[key])


def _branch(branch: Any) -> str:
    names = members(mapping(branch).get("required"))
    if names and mapping(branch).keys() == {"required"}:
        return " with ".join(code(str(name)) for name in names)
    return value(branch)
