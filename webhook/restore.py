"""Restores fields that a writer's full update erased.

A client that reads an object into structs and writes it back whole erases every field that its structs do not have. It
does not intend to. If an installation names such a writer, its write is restored to the stored object, except for
fields that it added. Zero values of its structs (`resources: {}`, `creationTimestamp: null`) do not count as added: if
they were stored, every `kubectl diff` of the user's file would show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.draft import Operation
from webhook.values import escape, metadata_of


def _zero(value: Any) -> bool:
    """Tell whether a value is that of a struct with nothing set."""
    values = [value]
    while values:
        part = values.pop()
        if isinstance(part, dict):
            values.extend(part.values())
        elif part is not None:
            return False
    return True


def restoration(document: Mapping[str, Any], stored: Mapping[str, Any]) -> list[Operation]:
    """Return the patch after which a forgetful write changes nothing but the fields that it added.

    The managed fields are restored, too: after the write, nobody owns the erased fields, and server-side apply by their
    owner could never remove them again.

    Args:
        document: the object as the writer sent it.
        stored: the stored object.
    """
    patch = list(_operations(document.get("spec"), stored.get("spec"), "/spec"))
    metadata = document.get("metadata")
    managed = metadata_of(stored).get("managedFields")
    if isinstance(metadata, dict) and managed is not None and metadata.get("managedFields") != managed:
        patch.append({"op": "add", "path": "/metadata/managedFields", "value": managed})
    return patch


def _operations(written: Any, stored: Any, pointer: str, put: str = "add") -> Iterator[Operation]:
    """Yield the operations that turn `written` into `stored`, each as deep in the object as possible.

    Objects are compared field by field, and lists of the same length item by item. Other values are replaced.

    Args:
        written: a value of the update.
        stored: the value at the same place of the stored object.
        pointer: the place.
        put: the operation that replaces null by a value. In a list, `add` would insert an item.
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
        for index, items in enumerate(zip(written, stored, strict=True)):
            yield from _operations(*items, f"{pointer}/{index}", "replace")
    elif written != stored or type(written) is not type(stored):
        yield {"op": "replace", "path": pointer, "value": stored}
