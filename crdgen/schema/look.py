"""Read CRDs that may be any JSON: values of a wrong type count as absent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from msgspec.json import encode

from crdgen.schema import EITHER, INT_OR_STRING

#: The steps of a path that need no brackets, and the steps of a path as text.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
_Value = TypeVar("_Value")


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping below the keys, or an empty mapping."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def members(value: Any) -> list[Any]:
    """Return the list, or an empty list."""
    return value if isinstance(value, list) else []


def words(value: Any) -> list[str]:
    """Return the strings of a list."""
    return [member for member in members(value) if isinstance(member, str)]


def named(value: Any, key: str = "name") -> dict[str, Mapping[str, Any]]:
    """Return the mappings of a list by their name."""
    mappings = (member for member in members(value) if isinstance(member, Mapping))
    return {member[key]: member for member in mappings if isinstance(member.get(key), str)}


def branches(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """Return the branches of a keyword, without those that only repeat the types of int-or-string."""
    listed = members(schema.get(keyword))
    if not schema.get(INT_OR_STRING):
        return listed
    return [] if listed == EITHER else [branch for branch in listed if branch != {"anyOf": EITHER}]


def schema_of(version: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a CRD's version, or an empty schema."""
    return mapping(version, "schema", "openAPIV3Schema")


def without(schema: Mapping[str, Any], *keywords: str) -> dict[str, Any]:
    """Return a copy of a schema without some keywords."""
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the direct children of a schema with their steps in a path: `.name`, `[]` or `.*`."""
    for name, child in mapping(schema, "properties").items():
        if isinstance(child, Mapping):
            yield f".{name}", child
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(keyword), Mapping):
            yield step, schema[keyword]


def uses(schema: Mapping[str, Any], keyword: str) -> bool:
    """Return whether a schema, or a schema of its fields, items and values, has a keyword; branches do not count."""
    with suppress(TypeError, ValueError, RecursionError):  # a lone surrogate, or nothing that is JSON
        if keyword.encode() not in encode(schema):  # an eighth of the time of the walk
            return False
    pending = [schema]
    while pending:
        node = pending.pop()
        if node.get(keyword):
            return True
        inner = (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties"))
        pending += [child for child in inner if isinstance(child, dict)]
    return False


def with_children(schema: Mapping[str, Any], function: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return a copy with the function applied to the schemas of fields, items and values, and to the step of each."""
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: function(child, f".{name}") for name, child in schema["properties"].items()}
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = function(schema[keyword], step)
    return result


def number(value: Any) -> float | None:
    """Return the number, or None for other values, such as true and false."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def plain(value: Any) -> Any:
    """Return JSON with whole floats as integers: 1.0 becomes 1."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def canonical(value: Any) -> str:
    """Return a text that is equal for equal JSON only: 1 and 1.0 are equal; 1, "1" and true are not."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False)


def distinct(values: Iterable[_Value], key: Callable[[Any], object] = canonical) -> list[_Value]:
    """Return the values without duplicates, which have the same `key`."""
    values_by_key: dict[object, _Value] = {}
    for value in values:
        values_by_key.setdefault(key(value), value)
    return list(values_by_key.values())


def shown(value: Any, most: int = 80) -> str:
    """Return the value as JSON, truncated if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[: most - 3]}…"


def listed(items: Sequence[str], most: int) -> str:
    """Return the first items for a message, with the number of those that it leaves out."""
    return ", ".join(items[:most]) + (f", and {len(items) - most} more" if len(items) > most else "")


def path_of(steps: Iterable[str | int]) -> str:
    """Return a path as in Kubernetes: `.spec.tasks[1].name`, `.metadata.annotations[example.com/x]`."""
    return "".join(f"[{step}]" if isinstance(step, int) or not _NAME.fullmatch(step) else f".{step}" for step in steps)


def steps_of(path: str) -> tuple[str | int, ...]:
    """Return the steps of such a path."""
    return tuple(name or (int(key) if key.isdecimal() and len(key) < 10 else key) for name, key in _STEP.findall(path))


def size(value: Any) -> int:
    """Return the size of compact JSON in bytes."""
    return len(utf8(json.dumps(value, separators=(",", ":"), ensure_ascii=False)))


def fits(pattern: str, text: str) -> bool:
    """Return whether a text fits a pattern, in which `*` stands for any text and nothing else is special."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text, re.DOTALL) is not None


def missing(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths and values of fields that `before` has, and `after` does not have, or has or lacks as null."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in before.items():
            child_path = (path + path_of((key,))).lstrip(".")
            if key not in after or (after[key] is None) != (value is None):
                yield child_path, value
            else:
                yield from missing(value, after[key], child_path)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (before_item, after_item) in enumerate(zip(before, after, strict=False)):
            yield from missing(before_item, after_item, f"{path}[{index}]")


def utf8(text: str) -> bytes:
    """Encode a text as UTF-8; a lone surrogate, which JSON may contain, becomes three bytes."""
    return text.encode("utf-8", "surrogatepass")


def as_read(text: str) -> str:
    """Return the text as API servers read it: lone surrogates become U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def utf8_as_read(text: str) -> bytes:
    """Encode the text as UTF-8, as API servers read it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return as_read(text).encode()
