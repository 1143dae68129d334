"""Putting back what a writer's full update erased.

A client that reads an object into structs and writes it back whole erases every field that its structs do not have. It
means no change by that. Where an installation names such a writer, its write is brought back to what was stored, save
for what it filled in where nothing stood. The zero values of its structs (`resources: {}`, `creationTimestamp: null`)
fill nothing in: stored, they would show in every `kubectl diff` of the user's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.draft import Operation, escape


def restored(written: Any, stored: Any) -> Any:
    """Return what was stored, and beside it what the writer filled in where nothing stood.

    Objects are merged field by field, and lists item by item where they are of one length; else what was stored wins.
    """
    if isinstance(written, dict) and isinstance(stored, dict):
        added = {key: value for key, value in written.items() if stored.get(key) is None and not _zero(value)}
        kept = {key: restored(written.get(key), value) for key, value in stored.items() if key not in added}
        return kept | added
    if isinstance(written, list) and isinstance(stored, list) and len(written) == len(stored):
        return [restored(one, other) for one, other in zip(written, stored, strict=True)]
    return stored


def _zero(value: Any) -> bool:
    """Tell whether a value is what a struct is written as in which nothing is set."""
    values = [value]
    while values:
        one = values.pop()
        if isinstance(one, dict):
            values.extend(one.values())
        elif one is not None:
            return False
    return True


def restoration(document: Mapping[str, Any], old: Mapping[str, Any]) -> list[Operation]:
    """Return the patch by which a forgetful write changes nothing but what it filled in.

    The managed fields are put back too: after the write they say that the erased fields belong to nobody, and
    server-side apply by their owner could never remove them again.

    Args:
        document: the object as the writer sent it.
        old: the object as it is stored.
    """
    patch = list(_operations(document.get("spec"), restored(document.get("spec"), old.get("spec")), "/spec"))
    metadata = document.get("metadata")
    managed = old["metadata"].get("managedFields") if isinstance(old.get("metadata"), dict) else None
    if isinstance(metadata, dict) and managed is not None and metadata.get("managedFields") != managed:
        patch.append({"op": "add", "path": "/metadata/managedFields", "value": managed})
    return patch


def _operations(value: Any, wanted: Any, pointer: str) -> Iterator[Operation]:
    """Yield the operations that make `value` the one that is wanted, each as deep as it can stand."""
    if value is None and wanted is not None:
        yield {"op": "add", "path": pointer, "value": wanted}
    elif isinstance(value, dict) and isinstance(wanted, dict):
        for key in [key for key in value if key not in wanted]:
            yield {"op": "remove", "path": f"{pointer}/{escape(key)}"}
        for key in wanted:
            yield from _operations(value.get(key), wanted[key], f"{pointer}/{escape(key)}")
    elif isinstance(value, list) and isinstance(wanted, list) and len(value) == len(wanted):
        for index, (one, other) in enumerate(zip(value, wanted, strict=True)):
            if one is None and other is not None:
                yield {"op": "replace", "path": f"{pointer}/{index}", "value": other}  # to add would be to insert
            else:
                yield from _operations(one, other, f"{pointer}/{index}")
    elif value != wanted or type(value) is not type(wanted):
        yield {"op": "replace", "path": pointer, "value": wanted}
