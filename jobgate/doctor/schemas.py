"""How the schema of a stored CRD differs from the shipped one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: What changes nothing of what is stored.
_WORDS = frozenset({"description", "example", "externalDocs", "title"})
_INNER = ("properties", "items", "additionalProperties")
_OPEN = "x-kubernetes-preserve-unknown-fields"


def lacking(shipped: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the fields that a stored schema lacks: the API server drops them from what users write."""
    if found.get(_OPEN) and not found.get("properties"):
        return
    there = found.get("properties") or {}
    for name, child in (shipped.get("properties") or {}).items():
        inner = f"{path}.{name}"
        if name in there:
            yield from lacking(child, there[name], inner)
        elif not found.get(_OPEN):
            yield inner.removeprefix(".")
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        mine, other = shipped.get(keyword), found.get(keyword)
        if isinstance(mine, Mapping) and isinstance(other, Mapping):
            yield from lacking(mine, other, path + mark)


def differing(shipped: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the places, without those of fields that are lacking, at which a stored schema says something else."""
    keywords = {**shipped, **found}.keys() - _WORDS - set(_INNER)
    yield from (f"{path.removeprefix('.')}: {key}" for key in sorted(keywords) if shipped.get(key) != found.get(key))
    mine, other = shipped.get("properties") or {}, found.get("properties") or {}
    for name in {**mine, **other}:
        inner = f"{path}.{name}"
        if name not in mine:
            yield f"{inner.removeprefix('.')}: not in this version"
        elif name in other:
            yield from differing(mine[name], other[name], inner)
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        one, two = shipped.get(keyword), found.get(keyword)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            yield from differing(one, two, path + mark)
        elif one != two:
            yield f"{path.removeprefix('.')}: {keyword}"
