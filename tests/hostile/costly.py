"""Costly objects for every kind and of a given size: from the named shapes, and from the kind's schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from jobgate.installation.definitions import definition
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from webhook.kind import GroupVersionKind

Schema = Mapping[str, Any]
#: Maximum length of a list or text.
_MOST = 2**23


def size_of(document: Any) -> int:
    """Return the size of an object in bytes, as JSON."""
    return len(json.dumps(document, separators=(",", ":")))


def sized(make: Callable[[int], dict[str, Any]], size: int) -> dict[str, Any]:
    """Return approximately the largest object of a shape with at most `size` bytes, or the smallest object."""
    low, high, result = 1, _MOST, make(1)
    length = size_of(result)
    # Most shapes grow linearly. Try a little less than that, because numbers get more digits.
    while (number := min(2 * low, low * size * 31 // (length * 32), (low + high) // 2)) > low:
        candidate = make(number)
        if (candidate_length := size_of(candidate)) <= size:
            low, result, length = number, candidate, candidate_length
        else:
            high = number
    return result


def schema_of(kind: JobKind) -> Schema:
    """Return the structural schema of a kind's objects."""
    return _schemas()[kind.gvk]


@cache
def _schemas() -> dict[GroupVersionKind, Schema]:
    return {kind.gvk: definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for kind in built_in()}


def filled(kind: JobKind, count: int, length: int) -> dict[str, Any]:
    """Return an object with every field of its schema: lists and maps with `count` entries, texts of `length` characters.

    Only the first entry of each list or map has all fields; the others have the required fields.
    """
    document: dict[str, Any] = _filled(schema_of(kind), count, length)
    return document | {"apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": {"name": "costly"}}


def _filled(schema: Schema, count: int, length: int) -> Any:
    if "enum" in schema:
        return schema["enum"][0] if length < 64 else "x" * length
    match schema.get("type"):
        case "array":
            child = schema.get("items") or {}
            return [_filled(child, count, length), *(least(child) for _ in range(count - 1))]
        case "object":
            values = {name: _filled(child, count, length) for name, child in schema.get("properties", {}).items()}
            extra = schema.get("additionalProperties")
            if isinstance(extra, Mapping) or schema.get("x-kubernetes-preserve-unknown-fields"):
                child = extra if isinstance(extra, Mapping) else {"type": "string"}
                keys = [f"{number}{'k' * length}" for number in range(count)]
                values |= {key: least(child) for key in keys} | {keys[0]: _filled(child, count, length)}
            return values
        case "string" | None:
            return "x" * length
        case _:
            return least(schema)


def least(schema: Schema) -> Any:
    """Return a value with only the required fields of its schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "array":
            return []
        case "object":
            properties = schema.get("properties", {})
            return {name: least(properties.get(name, {})) for name in schema.get("required", ())}
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "x"


def places(kind: JobKind) -> list[tuple[str, ...]]:
    """Return the path of every list, map and text in a kind's spec; `*` is an entry of a list or a map."""
    return list(_places(schema_of(kind)["properties"]["spec"], ("spec",)))


def _places(schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    extra = schema.get("additionalProperties")
    match schema.get("type"):
        case "array":
            yield path
            yield from _places(schema.get("items") or {}, (*path, "*"))
        case "object":
            if isinstance(extra, Mapping):
                yield path
                yield from _places(extra, (*path, "*"))
            for name, child in schema.get("properties", {}).items():
                yield from _places(child, (*path, name))
        case "string":
            yield path


def blown_up(kind: JobKind, place: tuple[str, ...], n: int) -> dict[str, Any]:
    """Return an object with `n` entries or characters at one place, and otherwise only required fields."""
    document: dict[str, Any] = _along(schema_of(kind), place, n)
    return document | {"apiVersion": kind.gvk.api_version, "kind": kind.kind, "metadata": {"name": "costly"}}


def _along(schema: Schema, place: tuple[str, ...], n: int) -> Any:
    if not place:
        match schema.get("type"):
            case "array":
                return [least(schema.get("items") or {}) for _ in range(n)]
            case "object":
                return {f"k{number}": least(schema["additionalProperties"]) for number in range(n)}
            case _:
                return "x" * n
    step, *rest = place
    if schema.get("type") == "array":
        return [_along(schema.get("items") or {}, tuple(rest), n)]
    if step == "*":
        return {"main": _along(schema["additionalProperties"], tuple(rest), n)}
    return {**least(schema), step: _along(schema["properties"][step], tuple(rest), n)}
