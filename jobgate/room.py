"""Room for what is kept of observed objects: bounded in all, and shared fairly by namespaces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from threading import RLock
from typing import Any, Final, TypeAlias

import msgspec

#: Memory of a JSON value beside its text, in bytes: of a small object in a dict or list.
_VALUE: Final = 48
#: Up to this size an object is small: a namespace that is full of large ones has room for small ones still.
SMALL: Final = 8 * 1024
#: Most of a text, in characters, and of a list, in entries, that are kept of what is projected.
TEXT_LIMIT, LIST_LIMIT = 512, 32

#: The fields of an object that are kept: `...` for a text, number or boolean, a list for a list of such.
Shape: TypeAlias = Any


def weight_of(value: Any) -> int:
    """Return about how much memory a JSON value takes, in bytes; that of its text many times for small values."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # halves of surrogate pairs
        text = json.dumps(value).encode()
    return len(text) + _VALUE * sum(map(text.count, (b",", b":", b"[", b"{")))


def project(value: Any, shape: Shape) -> Any:
    """Return the declared fields of an object, with texts and lists cut; None for what is of another form."""
    if isinstance(shape, Mapping):
        fields = value if isinstance(value, Mapping) else {}
        return {key: project(fields[key], inner) for key, inner in shape.items() if fields.get(key) is not None}
    if isinstance(shape, list):
        return [project(one, shape[0]) for one in islice(value, LIST_LIMIT)] if isinstance(value, list) else []
    if isinstance(value, str):
        return value[:TEXT_LIMIT]
    return value if isinstance(value, bool | int | float) else None


class Room:
    """Memory for what is kept, in bytes.

    A namespace may have as much as it leaves to all others, of small objects three times as much. So no namespace, and
    no number of them, takes all of it.
    """

    def __init__(self, size: int, most: int | None = None) -> None:
        """Create an empty room. `most` is the largest share of a namespace, in bytes."""
        self._size = size
        self._most = size if most is None else most
        self._used: Counter[str] = Counter()
        self._total = 0
        # Large objects are read in a thread. What is given back within `swap`, by a garbage collection, takes no turn.
        self._lock = RLock()

    def fits(self, namespace: str, size: int, before: int = 0) -> bool:
        """Return whether something of a size has room instead of what was there before."""
        more = size - before
        left = (self._size - self._total - more) * (3 if size <= SMALL else 1)
        return more <= 0 or self._used[namespace] + more <= min(self._most, left)

    def swap(self, namespace: str, size: int, before: int = 0) -> bool:
        """Take room instead of what was taken before; return whether there is room, and change nothing if not."""
        with self._lock:
            if not self.fits(namespace, size, before):
                return False
            self._used[namespace] += size - before
            self._total += size - before
            if not self._used[namespace]:
                del self._used[namespace]
            return True

    def give(self, namespace: str, size: int) -> None:
        """Give room back."""
        self.swap(namespace, 0, size)
