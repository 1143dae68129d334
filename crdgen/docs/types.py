"""The type of a field in words."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.markdown import code
from crdgen.generate.mixed import TYPE_EXCLUSIONS
from crdgen.quantities import QUANTITY_PATTERNS
from crdgen.schema import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, PRESERVE
from crdgen.schema.look import mapping, members, number

_INT32_MIN: Final = -(2**31)
_INT32_MAX: Final = 2**31 - 1
#: Longest pattern in a table; longer patterns would fill it.
LONGEST: Final = 40


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type with its bounds, as Markdown: `int32 ≥ 1`, `list of string, at least 1`."""
    text = _type(schema)
    return f"{text}, or null" if schema.get("nullable") is True else text


def value(content: Any) -> str:
    """Return a JSON value as code."""
    return code(json.dumps(content, ensure_ascii=False))


def kubernetes_type(schema: Mapping[str, Any]) -> str:
    """Return the name of the Kubernetes type that a schema describes, or nothing."""
    properties = mapping(schema, "properties")
    if "containers" in mapping(properties, "spec", "properties"):
        return "PodTemplateSpec"
    return "Volume" if {"configMap", "emptyDir"} <= properties.keys() else ""


def _excludes(schema: Mapping[str, Any], exclusion: Mapping[str, Any]) -> bool:
    return all(schema.get(key) == bound for key, bound in exclusion.items()) or exclusion in members(
        schema.get("allOf")
    )


def _type(schema: Mapping[str, Any]) -> str:
    enum = members(schema.get("enum"))
    if enum:
        return ", ".join(code(member) if isinstance(member, str) and member else value(member) for member in enum)
    if schema.get("pattern") in QUANTITY_PATTERNS:
        return "quantity"
    if schema.get("type") == "array":
        return ", ".join([f"list of {type_of(mapping(schema, 'items'))}", *_counts(schema, "Items")])
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        return ", ".join([f"map of {type_of(extra)}", *_counts(schema, "Properties")])
    if schema.get(PRESERVE) is True and "type" not in schema:
        kinds = [kind for kind, exclusion in TYPE_EXCLUSIONS.items() if not _excludes(schema, exclusion)]
        return " or ".join(kinds) if len(kinds) < len(TYPE_EXCLUSIONS) else "anything"
    kind = "integer or string" if schema.get(INT_OR_STRING) is True else schema.get("format") or schema.get("type")
    return kubernetes_type(schema) or " ".join([kind if isinstance(kind, str) else "anything", *_bounds(schema)])


def _counts(schema: Mapping[str, Any], what: str) -> Iterator[str]:
    minimum, maximum = number(schema.get(f"min{what}")), number(schema.get(f"max{what}"))
    if minimum:
        yield f"at least {minimum}"
    if maximum is not None:
        yield f"at most {maximum}"
    if schema.get(LIST_TYPE) == "set":
        yield "each once"
    keys = [key for key in members(schema.get(LIST_MAP_KEYS)) if isinstance(key, str)]
    if keys:
        yield f"by {' and '.join(code(key) for key in keys)}"


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    if least is not None and least > _INT32_MIN:
        yield f"> {least}" if schema.get("exclusiveMinimum") is True else f"≥ {least}"
    if most is not None and most < _INT32_MAX:
        yield f"< {most}" if schema.get("exclusiveMaximum") is True else f"≤ {most}"
    factor = number(schema.get("multipleOf"))
    if factor is not None:
        yield f"in steps of {factor}"
    yield from _length(number(schema.get("minLength")), number(schema.get("maxLength")))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and pattern:
        yield "matching a pattern" if len(pattern) > LONGEST else f"matching {code(pattern)}"


def _length(least: float | None, most: float | None) -> Iterator[str]:
    if least and most is not None:
        yield f"of {least} to {most} characters"
    elif least:
        yield f"of at least {least} character{'' if least == 1 else 's'}"
    elif most is not None:
        yield f"of at most {most} characters"
