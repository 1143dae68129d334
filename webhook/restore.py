"""Putting back what a writer's full update erased.

A client that reads an object into structs and writes it back whole erases every field that its structs do not have. It
means no change by that. Where an installation names such a writer, its write is brought back to what was stored, save
for what it filled in where nothing stood. The zero values of its structs (`resources: {}`, `creationTimestamp: null`)
fill nothing in: stored, they would show in every `kubectl diff` of the user's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.draft import Operation
from webhook.values import escape


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
    patch = list(_operations(document.get("spec"), old.get("spec"), "/spec"))
    metadata = document.get("metadata")
    managed = old["metadata"].get("managedFields") if isinstance(old.get("metadata"), dict) else None
    if isinstance(metadata, dict) and managed is not None and metadata.get("managedFields") != managed:
        patch.append({"op": "add", "path": "/metadata/managedFields", "value": managed})
    return patch


def _operations(written: Any, stored: Any, pointer: str, put: str = "add") -> Iterator[Operation]:
    """Yield the operations that bring `written` back to `stored`, each as deep as it can stand.

    Objects are compared field by field, and lists item by item where they are of one length; else what was stored wins.

    Args:
        written: a value of the update.
        stored: the value at the same place of the stored object.
        pointer: that place.
        put: the operation that sets a value where there is null: to add to a list would be to insert.
    """
    if written is None and stored is not None:
        yield {"op": put, "path": pointer, "value": stored}
    elif isinstance(written, dict) and isinstance(stored, dict):
        for key, value in written.items():
            if key not in stored and _zero(value):
                yield {"op": "remove", "path": f"{pointer}/{escape(key)}"}
        for key, value in stored.items():
            if value is not None or _zero(written.get(key)):
                yield from _operations(written.get(key), value, f"{pointer}/{escape(key)}")
    elif isinstance(written, list) and isinstance(stored, list) and len(written) == len(stored):
        for index, (one, other) in enumerate(zip(written, stored, strict=True)):
            yield from _operations(one, other, f"{pointer}/{index}", "replace")
    elif written != stored or type(written) is not type(stored):
        yield {"op": "replace", "path": pointer, "value": stored}
