"""The parts of stored items that are kept in memory, with limits for each item, each namespace, and all together.

The server keeps all items in memory, and a user who may write Prerequisites may write hundreds of large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary, finalize

from jobgate.room import SMALL, Room, weight_of

MIB: Final = 1024 * 1024
#: Maximum memory of an item: more than its commands and texts may have together (`content`).
ITEM_LIMIT: Final = 256 * 1024
#: Maximum memory of the items of a namespace, and of all: a quarter of the server's memory limit in the manifests.
NAMESPACE_LIMIT, ALL_LIMIT = 16 * MIB, 128 * MIB
#: Maximum memory of the items of all namespaces; the rest is reserved for ClusterPrerequisites.
NAMESPACES_LIMIT: Final = ALL_LIMIT - NAMESPACE_LIMIT
#: The key of the reason why an item is not remembered; it replaces the spec.
DROPPED: Final = "dropped"
_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "generation")


class StoredItem(dict[str, Any]):
    """An item that can be referenced weakly.

    Attributes:
        release: releases its memory, once.
        item: its parsed form, while that is kept (`item.item_of`).
        lacked: bytes that did not fit; 0 if there was room, or if the item is too large.
    """

    __slots__ = ("__weakref__", "item", "lacked", "release")

    release: Callable[[], object]
    item: object
    lacked: int


class ItemStore:
    """Keeps items while there is room for them."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], StoredItem] = WeakValueDictionary()
        #: The rooms of all namespaces, and of the cluster.
        self._rooms = Room(NAMESPACES_LIMIT, NAMESPACE_LIMIT), Room(2 * NAMESPACE_LIMIT)

    def keep(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of an item to remember."""
        metadata = {key: document["metadata"][key] for key in _METADATA if key in document["metadata"]}
        namespace, name = (str(metadata.get(field) or "") for field in ("namespace", "name"))
        known = self._known.get((namespace, name))
        if known is not None:
            if DROPPED not in known and known["metadata"].get("resourceVersion") == metadata.get("resourceVersion", ""):
                return known  # a new list contains it again
            known.release()
        kept = self._known[namespace, name] = StoredItem(metadata=metadata)
        # Statuses written by the controller are always small.
        if "status" in document and weight_of(document["status"]) <= SMALL:
            kept["status"] = document["status"]
        kept.release, kept.item, kept.lacked = bool, None, 0
        size = weight_of([document.get("spec"), kept.get("status")])
        if size > ITEM_LIMIT:
            kept[DROPPED] = f"it takes more than {ITEM_LIMIT // 1024} KiB of memory"
        elif not self._room(namespace).swap(namespace, size):
            kept.lacked = size
            excess = f"take more than {NAMESPACE_LIMIT // MIB} MiB of memory"
            kept[DROPPED] = (
                f"the items of its namespace {excess}, or those of all namespaces {NAMESPACES_LIMIT // MIB} MiB"
                if namespace
                else f"all ClusterPrerequisites {excess}"
            )
        else:
            kept["spec"] = document.get("spec")
            kept.release = finalizer = finalize(kept, self._room(namespace).give, namespace, size)
            finalizer.atexit = False
        return kept

    def has_room(self, kept: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether there is room now for any of these items that was dropped."""
        return any(
            self._room(namespace).fits(namespace, item.lacked)
            for item in kept
            if isinstance(item, StoredItem) and item.lacked
            for namespace in (str(item["metadata"].get("namespace") or ""),)
        )

    def _room(self, namespace: str) -> Room:
        return self._rooms[not namespace]
