"""The part of stored items that is kept in memory, with limits for each, for a namespace, and for all.

A user who may write a Prerequisite may write hundreds of a mebibyte each, and the server keeps all in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary, finalize

from jobgate.room import SMALL, Room, weight_of

MIB: Final = 1024 * 1024
#: Most memory for one item: more than its commands and texts may have together (`content`).
ITEM_LIMIT: Final = 256 * 1024
#: Most memory for the items of one namespace, and for all: a quarter of what the manifests give the server.
NAMESPACE_LIMIT, ALL_LIMIT = 16 * MIB, 128 * MIB
#: Most memory for the items of all namespaces: what ClusterPrerequisites may have is left to them.
NAMESPACES_LIMIT: Final = ALL_LIMIT - NAMESPACE_LIMIT
#: Set instead of the spec of an item that is not remembered: why.
DROPPED: Final = "dropped"
_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "generation")


class StoredItem(dict[str, Any]):
    """An item that can be referenced weakly.

    Attributes:
        release: gives its memory back, once.
        item: the item that it is, while it stays read (`item.item_of`).
        lacked: bytes for which there was no room; 0 if there was, or if the item is too large.
    """

    __slots__ = ("__weakref__", "item", "lacked", "release")

    release: Callable[[], object]
    item: object
    lacked: int


class ItemStore:
    """Keeps items while there is room for them."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], StoredItem] = WeakValueDictionary()
        #: Of all namespaces, and of the cluster.
        self._rooms = Room(NAMESPACES_LIMIT, NAMESPACE_LIMIT), Room(2 * NAMESPACE_LIMIT)

    def keep(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is remembered of an item."""
        metadata = {key: found["metadata"][key] for key in _METADATA if key in found["metadata"]}
        namespace, name = (str(metadata.get(word) or "") for word in ("namespace", "name"))
        known = self._known.get((namespace, name))
        if known is not None:
            if DROPPED not in known and known["metadata"].get("resourceVersion") == metadata.get("resourceVersion", ""):
                return known  # all are listed again now and then
            known.release()
        kept = self._known[namespace, name] = StoredItem(metadata=metadata)
        # A status that we wrote is small, whatever the item.
        if "status" in found and weight_of(found["status"]) <= SMALL:
            kept["status"] = found["status"]
        kept.release, kept.item, kept.lacked = bool, None, 0
        size = weight_of([found.get("spec"), kept.get("status")])
        if size > ITEM_LIMIT:
            kept[DROPPED] = f"it takes more than {ITEM_LIMIT // 1024} KiB of memory"
        elif not self._room(namespace).swap(namespace, size):
            kept.lacked = size
            most = f"take more than {NAMESPACE_LIMIT // MIB} MiB of memory"
            kept[DROPPED] = (
                f"the items of its namespace {most}, or those of all namespaces {NAMESPACES_LIMIT // MIB} MiB"
                if namespace
                else f"all ClusterPrerequisites {most}"
            )
        else:
            kept["spec"] = found.get("spec")
            kept.release = finalizer = finalize(kept, self._room(namespace).give, namespace, size)
            finalizer.atexit = False
        return kept

    def has_room(self, kept: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether there is room now for one of these items that was dropped."""
        return any(
            self._room(namespace).fits(namespace, one.lacked)
            for one in kept
            if isinstance(one, StoredItem) and one.lacked
            for namespace in (str(one["metadata"].get("namespace") or ""),)
        )

    def _room(self, namespace: str) -> Room:
        return self._rooms[not namespace]
