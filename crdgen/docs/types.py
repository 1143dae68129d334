"""What a field may hold, in words."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.markdown import code
from crdgen.generate.mixed import SHUT
from crdgen.quantities import QUANTITY_PATTERN
from crdgen.schema import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, PRESERVE
from crdgen.schema.look import mapping, members, number

_SMALLEST: Final = -(2**31)
_LARGEST: Final = 2**31 - 1
#: A longer pattern would be all that is seen of a table.
LONGEST: Final = 40


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type with its bounds, as Markdown: `int32 ≥ 1`, `list of string, at least 1`."""
    text = _type(schema)
    return f"{text}, or null" if schema.get("nullable") is True else text


def value(found: Any) -> str:
    """Return a JSON value as code."""
    return code(json.dumps(found, ensure_ascii=False))


def kubernetes_type(schema: Mapping[str, Any]) -> str:
    """Return the name of a type whose fields are Kubernetes' own, or nothing."""
    properties = mapping(schema, "properties")
    if "containers" in mapping(properties, "spec", "properties"):
        return "PodTemplateSpec"
    return "Volume" if {"configMap", "emptyDir"} <= properties.keys() else ""


def _says(schema: Mapping[str, Any], shut: Mapping[str, Any]) -> bool:
    return all(schema.get(key) == bound for key, bound in shut.items()) or shut in members(schema.get("allOf"))


def _type(schema: Mapping[str, Any]) -> str:
    enum = members(schema.get("enum"))
    if enum:
        return ", ".join(code(one) if isinstance(one, str) and one else value(one) for one in enum)
    if schema.get("pattern") == QUANTITY_PATTERN:
        return "quantity"
    if schema.get("type") == "array":
        return ", ".join([f"list of {type_of(mapping(schema, 'items'))}", *_counts(schema, "Items")])
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        return ", ".join([f"map of {type_of(extra)}", *_counts(schema, "Properties")])
    if schema.get(PRESERVE) is True and "type" not in schema:
        several = [kind for kind, shut in SHUT.items() if not _says(schema, shut)]
        return " or ".join(several) if len(several) < len(SHUT) else "anything"
    kind = "integer or string" if schema.get(INT_OR_STRING) is True else schema.get("format") or schema.get("type")
    return kubernetes_type(schema) or " ".join([kind if isinstance(kind, str) else "anything", *_bounds(schema)])


def _counts(schema: Mapping[str, Any], what: str) -> Iterator[str]:
    least, most = number(schema.get(f"min{what}")), number(schema.get(f"max{what}"))
    if least:
        yield f"at least {least}"
    if most is not None:
        yield f"at most {most}"
    if schema.get(LIST_TYPE) == "set":
        yield "each once"
    keys = [key for key in members(schema.get(LIST_MAP_KEYS)) if isinstance(key, str)]
    if keys:
        yield f"by {' and '.join(code(key) for key in keys)}"


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    if least is not None and least > _SMALLEST:
        yield f"> {least}" if schema.get("exclusiveMinimum") is True else f"≥ {least}"
    if most is not None and most < _LARGEST:
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
