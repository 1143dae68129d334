"""The annotation that says which items, and which generations of them, a job was checked with or a pod got."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jobgate.prerequisites.item import Item

#: On a job: what it was checked with. On a pod: what it got.
RECORD: Final = "jobgate.dev/prerequisites-recorded"


def written(items: Iterable[Item], known: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the annotation's text; an item that is `known` keeps what was recorded of it."""
    entries = [
        (known or {}).get(one.source) or {"name": one.source, "generation": one.generation, "hash": one.hash}
        for one in items
    ]
    return json.dumps(entries, separators=(",", ":"))


def read(text: Any) -> dict[str, Mapping[str, Any]]:
    """Return what an annotation says, by item; nothing of what says nothing."""
    try:
        entries = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return {}
    listed = entries if isinstance(entries, list) else []
    return {
        one["name"]: {key: one[key] for key in ("name", "generation", "hash")}
        for one in listed
        if isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("generation"), int)
        and isinstance(one.get("hash"), str)
    }
