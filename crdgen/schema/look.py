"""Looking into a CRD that may be any JSON: what has the wrong type is taken as absent."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

_Value = TypeVar("_Value")


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping below the keys, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def members(value: Any) -> list[Any]:
    """Return the list, or an empty one."""
    return value if isinstance(value, list) else []


def words(value: Any) -> list[str]:
    """Return the strings of a list."""
    return [member for member in members(value) if isinstance(member, str)]


def named(value: Any, key: str = "name") -> dict[str, Mapping[str, Any]]:
    """Return the mappings of a list by their name."""
    found = (member for member in members(value) if isinstance(member, Mapping))
    return {member[key]: member for member in found if isinstance(member.get(key), str)}


def schema_of(version: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a CRD's version, or an empty one."""
    return mapping(version, "schema", "openAPIV3Schema")


def without(schema: Mapping[str, Any], *keywords: str) -> dict[str, Any]:
    """Return a copy of a schema without some keywords."""
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the schemas right below a schema, each with its step in a path: `.name`, `[]` or `.*`."""
    for name, child in mapping(schema, "properties").items():
        if isinstance(child, Mapping):
            yield f".{name}", child
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(keyword), Mapping):
            yield step, schema[keyword]


def with_children(schema: Mapping[str, Any], function: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return a copy whose fields, items and values went through the function, which is given the step to each."""
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: function(child, f".{name}") for name, child in schema["properties"].items()}
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = function(schema[keyword], step)
    return result


def number(value: Any) -> float | None:
    """Return the number, or None for all else; true and false are none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def plain(value: Any) -> Any:
    """Return JSON as it is read again: 1.0 is written as 1."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def canonical(value: Any) -> str:
    """Return text that is the same for equal JSON only: 1 and 1.0 are equal, 1, "1" and true are not."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False)


def distinct(values: Iterable[_Value], key: Callable[[Any], object] = canonical) -> list[_Value]:
    """Return the values, of equal ones the first; `key` says what of a value counts."""
    found: dict[object, _Value] = {}
    for value in values:
        found.setdefault(key(value), value)
    return list(found.values())


def shown(value: Any, most: int = 80) -> str:
    """Return the value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[: most - 3]}…"


def path_of(steps: Iterable[str | int]) -> str:
    """Return a path as `.spec.tasks[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def size(value: Any) -> int:
    """Return the bytes of compact JSON."""
    return len(utf8(json.dumps(value, separators=(",", ":"), ensure_ascii=False)))


def missing(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what `before` has and `after` has not, or has otherwise, with the paths."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in before.items():
            below = f"{path}.{key}".lstrip(".")
            if key not in after or (after[key] is None) != (value is None):
                yield below, value
            else:
                yield from missing(value, after[key], below)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from missing(one, other, f"{path}[{index}]")


def utf8(text: str) -> bytes:
    """Return a text in UTF-8; half a character, which JSON may hold, as the three bytes that it would be."""
    return text.encode("utf-8", "surrogatepass")


def as_read(text: str) -> str:
    """Return the text that an API server reads: half a character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def utf8_as_read(text: str) -> bytes:
    """Return in UTF-8 the text that an API server reads."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return as_read(text).encode()
