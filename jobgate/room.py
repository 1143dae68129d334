"""The memory of caches: bounded in total, and shared fairly between namespaces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from threading import RLock
from typing import Any, Final, TypeAlias

import msgspec

#: Memory of a JSON value in addition to its text, in bytes.
_VALUE: Final = 48
#: Maximum size of small objects, in bytes: a namespace that is full of large objects still has room for small ones.
SMALL: Final = 8 * 1024
#: Limits of projected texts, in characters, and lists, in items.
TEXT_LIMIT, LIST_LIMIT = 512, 32

#: The fields of an object to keep: `...` for a text, number or boolean; a list with the shape of its items.
Shape: TypeAlias = Any


def weight_of(value: Any) -> int:
    """Return roughly the memory of a JSON value, in bytes. Many small values take a multiple of their text."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # halves of surrogate pairs
        text = json.dumps(value).encode()
    return len(text) + _VALUE * sum(map(text.count, (b",", b":", b"[", b"{")))


def project(value: Any, shape: Shape) -> Any:
    """Return the fields of a shape, with texts and lists truncated; None for a value of another type."""
    if isinstance(shape, Mapping):
        fields = value if isinstance(value, Mapping) else {}
        return {key: project(fields[key], inner) for key, inner in shape.items() if fields.get(key) is not None}
    if isinstance(shape, list):
        return [project(item, shape[0]) for item in islice(value, LIST_LIMIT)] if isinstance(value, list) else []
    if isinstance(value, str):
        return value[:TEXT_LIMIT]
    return value if isinstance(value, bool | int | float) else None


class Room:
    """The memory of a cache, in bytes.

    A namespace may use as much as remains free, and three times as much for small objects. So no number of namespaces
    uses all of it.
    """

    def __init__(self, size: int, most: int | None = None) -> None:
        """Create an empty room. `most` is the largest share of a namespace, in bytes."""
        self._size = size
        self._most = size if most is None else most
        self._used: Counter[str] = Counter()
        self._total = 0
        # Large objects are read in a thread. Reentrant: a garbage collection within `swap` may give memory back.
        self._lock = RLock()

    def fits(self, namespace: str, size: int, before: int = 0) -> bool:
        """Return whether there is room for a new size instead of the one before."""
        more = size - before
        left = (self._size - self._total - more) * (3 if size <= SMALL else 1)
        return more <= 0 or self._used[namespace] + more <= min(self._most, left)

    def swap(self, namespace: str, size: int, before: int = 0) -> bool:
        """Replace the size before by a new one; return whether there is room, and change nothing if not."""
        with self._lock:
            if not self.fits(namespace, size, before):
                return False
            self._used[namespace] += size - before
            self._total += size - before
            if not self._used[namespace]:
                del self._used[namespace]
            return True

    def give(self, namespace: str, size: int) -> None:
        """Free memory."""
        self.swap(namespace, 0, size)
