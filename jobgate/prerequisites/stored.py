"""The part of stored items that is kept in memory, with limits for each, for a namespace, and for all.

A user who may write a Prerequisite may write hundreds of a mebibyte each, and the server keeps all in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import Any, Final
from weakref import WeakValueDictionary, finalize

import msgspec

MIB: Final = 1024 * 1024
#: Most memory for one item: more than its commands and texts may have together (`content`).
ITEM_LIMIT: Final = 256 * 1024
#: Most memory for the items of one namespace, and for all: a quarter of what the manifests give the server.
NAMESPACE_LIMIT, ALL_LIMIT = 16 * MIB, 128 * MIB
#: Most memory for the items of all namespaces: what ClusterPrerequisites may have is left to them.
NAMESPACES_LIMIT: Final = ALL_LIMIT - NAMESPACE_LIMIT
#: Memory of a JSON value beside its text, in bytes: of a small object in a dict or list.
_VALUE: Final = 48
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


def weight_of(spec: Any) -> int:
    """Return about how much memory a spec takes, in bytes; that of a JSON text of it many times for small values."""
    try:
        text = msgspec.json.encode(spec)
    except UnicodeEncodeError:  # halves of surrogate pairs
        text = json.dumps(spec).encode()
    return len(text) + _VALUE * sum(map(text.count, (b",", b":", b"[", b"{")))


class ItemStore:
    """Keeps items while there is room for them."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], StoredItem] = WeakValueDictionary()
        self._used: Counter[str] = Counter()
        self._namespaced = 0
        # Large items are read in a thread. What is given back by a garbage collection takes no turn.
        self._lock = RLock()

    def keep(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is remembered of an item."""
        metadata = {key: found["metadata"][key] for key in _METADATA if key in found["metadata"]}
        namespace, name = (str(metadata.get(word) or "") for word in ("namespace", "name"))
        known = self._known.get((namespace, name))
        if known is not None:
            if DROPPED not in known and known["metadata"].get("resourceVersion") == metadata.get("resourceVersion", ""):
                return known  # all are listed again now and then
            known.release()
        kept = self._known[namespace, name] = StoredItem(
            metadata=metadata, **{key: found[key] for key in ("status",) if key in found}
        )
        kept.release, kept.item, kept.lacked = bool, None, 0
        size = weight_of(found.get("spec"))
        if size > ITEM_LIMIT:
            kept[DROPPED] = f"it takes more than {ITEM_LIMIT // 1024} KiB of memory"
        elif not self._take(namespace, size):
            kept.lacked = size
            most = f"take more than {NAMESPACE_LIMIT // MIB} MiB of memory"
            kept[DROPPED] = (
                f"the items of its namespace {most}, or those of all namespaces {NAMESPACES_LIMIT // MIB} MiB"
                if namespace
                else f"all ClusterPrerequisites {most}"
            )
        else:
            kept["spec"] = found.get("spec")
            kept.release = finalizer = finalize(kept, self._give, namespace, size)
            finalizer.atexit = False
        return kept

    def has_room(self, kept: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether there is room now for one of these items that was dropped."""
        return any(
            self._fits(str(one["metadata"].get("namespace") or ""), one.lacked)
            for one in kept
            if isinstance(one, StoredItem) and one.lacked
        )

    def _fits(self, namespace: str, size: int) -> bool:
        of_all = self._namespaced + size <= NAMESPACES_LIMIT or not namespace
        return of_all and self._used[namespace] + size <= NAMESPACE_LIMIT

    def _take(self, namespace: str, size: int) -> bool:
        with self._lock:
            if not self._fits(namespace, size):
                return False
            self._count(namespace, size)
            return True

    def _count(self, namespace: str, size: int) -> None:
        self._used[namespace] += size
        self._namespaced += size if namespace else 0

    def _give(self, namespace: str, size: int) -> None:
        with self._lock:
            self._count(namespace, -size)
            if not self._used[namespace]:
                del self._used[namespace]
