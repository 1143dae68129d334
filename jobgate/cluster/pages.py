"""How much of a list is read at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pages:
    """Bounds of a page of a list.

    Attributes:
        objects: of a page, at most.
        bytes: of a page, at most. A larger one is asked for again with fewer objects, so that a list of objects of a
            MiB each, as etcd stores them, takes no more memory than a list of small ones. One object alone is read
            whatever its size.
    """

    objects: int = 100
    bytes: int = 8 * 1024 * 1024
