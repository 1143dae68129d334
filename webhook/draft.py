"""The object during defaulting, which records its own patch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from webhook.values import escape, value_at

Operation: TypeAlias = dict[str, Any]

#: An operation, the way to the object that it changes (a pointer is written only for the patch), the field, the end of
#: the pointer after the field, and the value. A plain tuple, because each added field creates one.
_Change: TypeAlias = tuple[str, tuple[str | int, ...], str, str, Any]

#: Types whose values are all JSON. Most values have one of these.
_SCALARS: Final = (str, int)
#: Longest pointer of a patch, in characters. A longer one has a key that no real object has.
_WAY_LIMIT: Final = 1024


class Draft(Struct, eq=False, gc=False):
    """A JSON object of a request. Setting a field changes the draft and records an RFC 6902 operation.

    So the patch is minimal and exact, its cost is that of the changes, and it cannot drop a field that no model has. A
    mutation only adds absent fields: setting a field that the user wrote is a programming error (`ValueError`). `null`
    counts as absent, as for the API server.

    The object of the request is never changed: before a change, the containers on the way to it are copied.
    """

    value: dict[str, Any]
    _parent: Draft | None = None
    _way: tuple[str | int, ...] = ()
    # All drafts of an object share these two. A change has the way, not the draft: so there is no reference cycle.
    _changes: list[_Change] = field(default_factory=list)
    # The ids of containers that are copies already. The tree holds them, so no id is reused.
    _private: set[int] = field(default_factory=set)

    @property
    def patch(self) -> list[Operation]:
        """The operations recorded so far, for the whole object.

        Each has a pointer: below a key of a million characters, each operation would be that long. Then the patch sets
        whole top-level fields instead.
        """
        patch: list[Operation] = []
        pointers: dict[tuple[str | int, ...], str] = {}
        for op, way, key, end, value in self._changes:
            pointer = pointers.get(way)
            if pointer is None:
                pointer = pointers[way] = _pointer(way)
            path = f"{pointer}/{key if key.isalnum() else escape(key)}{end}"
            if len(path) > _WAY_LIMIT:
                document = self._root().value
                fields = dict.fromkeys(str((*way, key)[0]) for _, way, key, _, _ in self._changes)
                return [{"op": "add", "path": f"/{escape(field)}", "value": document[field]} for field in fields]
            patch.append({"op": op, "path": path, "value": value})
        return patch

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a field, or `default` if it is absent or null."""
        value = self.value.get(key)
        return default if value is None else value

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def __getitem__(self, key: str) -> Any:
        return self.value[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Add a field that is absent.

        Raises:
            ValueError: the user wrote this field, or the value is not JSON.
        """
        if self.value.get(key) is not None:
            raise ValueError(f"{key} is set already: a mutation only adds what is absent")
        self._record("add", key, value)
        self.value[key] = value

    def setdefault(self, key: str, value: Any) -> None:
        """Add a field if it is absent."""
        if self.value.get(key) is None:
            self._record("add", key, value)
            self.value[key] = value

    def fill(self, values: Mapping[str, Any]) -> None:
        """Add each of these fields that is absent."""
        for key, value in values.items():
            if self.value.get(key) is None:
                self._record("add", key, value)
                self.value[key] = value

    def at(self, *keys: str) -> Draft | None:
        """Return the draft of the object below these fields, or None if there is no object."""
        value = value_at(self.value, keys)
        return self.below(keys, value) if isinstance(value, dict) else None

    def below(self, way: tuple[str | int, ...], value: dict[str, Any]) -> Draft:
        """Return the draft of an object inside this one.

        Args:
            way: the keys and indices that lead to it.
            value: the object.
        """
        return Draft(value, self, self._way + way, self._changes, self._private)

    def each(self, *keys: str, lacking: str = "") -> Iterator[Draft]:
        """Yield the drafts of the objects in the list below these fields; other items are skipped.

        Args:
            keys: the way to the list.
            lacking: if set, only items without this field are yielded.
        """
        value = value_at(self.value, keys)
        way, changes, private = self._way + keys, self._changes, self._private
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict) and not (lacking and item.get(lacking) is not None):
                yield Draft(item, self, (*way, index), changes, private)

    def entries(self, *keys: str) -> Iterator[tuple[str, Draft]]:
        """Yield the key and the draft of each object in the map below these fields."""
        value = value_at(self.value, keys)
        for key, item in tuple(value.items()) if isinstance(value, dict) else ():
            if isinstance(item, dict):
                yield key, self.below((*keys, key), item)

    def append(self, key: str, item: Any) -> None:
        """Add an item to the end of a list; an absent list is created.

        Raises:
            TypeError: the value of the field is not a list.
        """
        if key not in self:
            self[key] = [item]
            return
        if not isinstance(self.value[key], list):
            raise TypeError(f"{key} is no list: a mutation only adds what is absent")
        self._record("add", key, item, "/-")
        self.value[key] = [*self.value[key], item]

    def insert(self, key: str, items: Sequence[Any]) -> None:
        """Add items to the beginning of a list, in their order; an absent list is created.

        Raises:
            TypeError: the value of the field is not a list.
        """
        if not items:
            return
        if key not in self:
            self[key] = list(items)
            return
        if not isinstance(self.value[key], list):
            raise TypeError(f"{key} is no list: a mutation only adds what is absent")
        for place, item in enumerate(items):
            self._record("add", key, item, f"/{place}")
        self.value[key] = [*items, *self.value[key]]

    def correct(self, key: str, value: Any) -> None:
        """Replace a wrong value that a program wrote, never one that a user wrote.

        Raises:
            KeyError: there is nothing to replace.
        """
        if key not in self:
            raise KeyError(key)
        self._record("replace", key, value)
        self.value[key] = value

    def _record(self, op: str, key: str, value: Any, end: str = "") -> None:
        """Record an operation, and make the object that it changes a private copy."""
        if not isinstance(value, _SCALARS) and not _is_json(value):
            raise ValueError(f"{key} is set to a value that is not JSON, of type {type(value).__name__}")
        if id(self.value) not in self._private:
            self._own()
        self._changes.append((op, self._way, key, end, value))

    def _own(self) -> None:
        """Replace this object and each container on the way to it by a private copy, unless it is one already."""
        private, parent = self._private, self._parent
        if parent is None:
            self.value = self.value.copy()
            private.add(id(self.value))
            return
        if id(parent.value) not in private:
            parent._own()
        value: Any = parent.value
        for step in self._way[len(parent._way) :]:
            container, value = value, value[step]
            if id(value) not in private:
                value = container[step] = value.copy()
                private.add(id(value))
        self.value = value

    def _root(self) -> Draft:
        return self if self._parent is None else self._parent._root()


def _pointer(way: Sequence[str | int]) -> str:
    """Return the JSON pointer of a way (RFC 6901)."""
    joined = "/".join(map(str, way))
    # Hardly any key has a character that must be escaped.
    if "~" in joined or joined.count("/") >= len(way):
        joined = "/".join(map(escape, way))
    return f"/{joined}" if way else ""


def _is_json(value: Any) -> bool:
    """Tell whether a value can be written as JSON. NaN cannot: the API server rejects a patch with it."""
    if value is None or isinstance(value, str | int):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(part) for key, part in value.items())
    return isinstance(value, list) and all(map(_is_json, value))
