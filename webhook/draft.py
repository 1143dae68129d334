"""The object being defaulted, and the patch that the defaulting amounts to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from webhook.values import escape

Operation: TypeAlias = dict[str, Any]

#: An operation, the way to the object that it changes (spelled out when the patch is asked for), the field, what comes
#: after it, and the value. A plain tuple: one is made for each field that is added.
_Change: TypeAlias = tuple[str, tuple[str | int, ...], str, str, Any]

#: Values that are JSON by their type alone, as most are that are set.
_SCALARS: Final = (str, int)
#: Longest way to a field, in characters, that a patch spells out. A longer one goes over a key that no object has.
_WAY_LIMIT: Final = 1024


class Draft(Struct, eq=False, gc=False):
    """A view on one JSON object of a request. Setting a value changes the view and records the RFC 6902 operation.

    So the patch is minimal and exact by construction, costs what was changed, and cannot drop a field that no model
    knows. A mutation only ever adds what is absent: setting a field that the user wrote is a programming error
    (`ValueError`), never a silent override. `null` counts as absent, as it does for the API server.

    The request's own object is never changed: what is written to is copied first, along the path to it only.
    """

    value: dict[str, Any]
    _parent: Draft | None = None
    _way: tuple[str | int, ...] = ()
    # All drafts of an object share these two. The way and not the draft is in the list of changes: no cycle is left for
    # the garbage collector.
    _changes: list[_Change] = field(default_factory=list)
    # The containers that are copies already, by identity: the tree holds them, so an identity stays theirs.
    _private: set[int] = field(default_factory=set)

    @property
    def patch(self) -> list[Operation]:
        """The operations recorded so far, for the whole object.

        Each spells out the way to its field: below a key of a million characters, operations would take as much each.
        Then the fields of the object that have changed are written whole.
        """
        patch: list[Operation] = []
        pointers: dict[tuple[str | int, ...], str] = {}
        for op, way, key, end, value in self._changes:
            pointer = pointers.get(way)
            if pointer is None:
                pointer = pointers[way] = _pointer(way)
            path = f"{pointer}/{key if key.isalnum() else escape(key)}{end}"
            if len(path) > _WAY_LIMIT:
                whole = self._root().value
                fields = dict.fromkeys(str((*way, key)[0]) for _, way, key, _, _ in self._changes)
                return [{"op": "add", "path": f"/{escape(field)}", "value": whole[field]} for field in fields]
            patch.append({"op": op, "path": path, "value": value})
        return patch

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a field, or `default` where it is absent or null."""
        value = self.value.get(key)
        return default if value is None else value

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def __getitem__(self, key: str) -> Any:
        return self.value[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Add a field that is absent.

        Raises:
            ValueError: the user has written this field; or the value is none that JSON has.
        """
        if self.value.get(key) is not None:
            raise ValueError(f"{key} is set already: a mutation only adds what is absent")
        self._record("add", key, value)
        self.value[key] = value

    def setdefault(self, key: str, value: Any) -> None:
        """Add a field unless it is there."""
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
        """Return the draft of the object below these fields, or None where there is none (or no object)."""
        value = self._value_at(keys)
        return self.below(keys, value) if isinstance(value, dict) else None

    def below(self, way: tuple[str | int, ...], value: dict[str, Any]) -> Draft:
        """Return the draft of an object of this one, which the caller has found this way."""
        return Draft(value, self, self._way + way, self._changes, self._private)

    def each(self, *keys: str, lacking: str = "") -> Iterator[Draft]:
        """Yield the drafts of the objects in the list below these fields; items that are no objects are passed over.

        Args:
            keys: the way to the list.
            lacking: a field that an item must lack to be yielded; empty: all items are.
        """
        value = self._value_at(keys)
        way, changes, private = self._way + keys, self._changes, self._private
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict) and not (lacking and item.get(lacking) is not None):
                yield Draft(item, self, (*way, index), changes, private)

    def entries(self, *keys: str) -> Iterator[tuple[str, Draft]]:
        """Yield the drafts of the objects in the map below these fields, each with its key."""
        value = self._value_at(keys)
        for key, item in tuple(value.items()) if isinstance(value, dict) else ():
            if isinstance(item, dict):
                yield key, self.below((*keys, key), item)

    def append(self, key: str, item: Any) -> None:
        """Add an item to the end of a list, which is made where it is absent.

        Raises:
            TypeError: the field holds something else than a list.
        """
        if key not in self:
            self[key] = [item]
            return
        if not isinstance(self.value[key], list):
            raise TypeError(f"{key} is no list: a mutation only adds what is absent")
        self._record("add", key, item, "/-")
        self.value[key] = [*self.value[key], item]

    def insert(self, key: str, items: Sequence[Any]) -> None:
        """Add items to the beginning of a list, in their order; the list is made where it is absent.

        Raises:
            TypeError: the field holds something else than a list.
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
        """Replace a value that a program wrote, and wrote wrong. What a user wrote is never touched.

        Raises:
            KeyError: there is nothing to replace.
        """
        if key not in self:
            raise KeyError(key)
        self._record("replace", key, value)
        self.value[key] = value

    def _value_at(self, keys: Sequence[str]) -> Any:
        """Return what is below these fields, or None where there is nothing."""
        value: Any = self.value
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def _record(self, op: str, key: str, value: Any, end: str = "") -> None:
        """Note an operation, and make the object that it changes a private copy."""
        if not isinstance(value, _SCALARS) and not _is_json(value):
            raise ValueError(f"{key} is set to what JSON has not, in a value of type {type(value).__name__}")
        if id(self.value) not in self._private:
            self._own()
        self._changes.append((op, self._way, key, end, value))

    def _own(self) -> None:
        """Make this object, and each container on the way to it, a private copy, unless it is one."""
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
    # Hardly any key has a character that is escaped.
    if "~" in joined or joined.count("/") >= len(way):
        joined = "/".join(map(escape, way))
    return f"/{joined}" if way else ""


def _is_json(value: Any) -> bool:
    """Tell whether a value can be written as JSON. NaN cannot, and the API server takes no patch that has it."""
    if value is None or isinstance(value, str | int):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(part) for key, part in value.items())
    return isinstance(value, list) and all(map(_is_json, value))
