"""The annotation that records the items of a job or a pod."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from webhook import Draft
from webhook.values import objects

if TYPE_CHECKING:
    from jobgate.prerequisites.item import Item

#: The annotation with the items that a job was checked with, or that a pod got.
RECORD: Final = "jobgate.dev/prerequisites-recorded"


def recorded(items: Iterable[Item], known: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the annotation's text; items in the `known` record keep their entries."""
    entries = [
        (known or {}).get(item.source) or {"name": item.source, "generation": item.generation, "hash": item.hash}
        for item in items
    ]
    return json.dumps(entries, separators=(",", ":"))


def read_record(text: Any) -> dict[str, Mapping[str, Any]]:
    """Return the entries of an annotation's text by item; invalid entries are left out."""
    try:
        entries = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return {}
    return {
        entry["name"]: {key: entry[key] for key in ("name", "generation", "hash")}
        for _, entry in objects(entries)
        if isinstance(entry.get("name"), str)
        and isinstance(entry.get("generation"), int)
        and isinstance(entry.get("hash"), str)
    }


def annotate(pod: Draft, key: str, value: str) -> None:
    """Set one of our own annotations; do nothing if metadata or annotations are not objects."""
    if "metadata" not in pod:
        pod["metadata"] = {"annotations": {key: value}}
    elif (metadata := pod.at("metadata")) is None:
        return
    elif "annotations" not in metadata:
        metadata["annotations"] = {key: value}
    elif (annotations := metadata.at("annotations")) is None or annotations.get(key) == value:
        return
    elif key in annotations:
        annotations.correct(key, value)
    else:
        annotations[key] = value
