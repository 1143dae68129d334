"""Markers of lists and maps: the number of items, and how server-side apply merges."""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel
from pydantic_core import PydanticCustomError, PydanticKnownError

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Keyword, Marker, require_type
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, Schema

_MODELS: Final = "annotate a model or a `dict`; for a list use `Atomic` or `MapList`"
_LISTS: Final = "annotate a list; for an object there is `AtomicMap`"

GranularMap: Final[Marker] = Keyword("GranularMap", "object", MAP_TYPE, "granular", _MODELS)
"""Server-side apply merges the object's fields, each with its owner. This is the default."""

AtomicMap: Final[Marker] = Keyword("AtomicMap", "object", MAP_TYPE, "atomic", _MODELS)
"""Server-side apply replaces the whole object; rules inside of it cannot use `oldSelf`."""


class _Items(Marker, frozen=True):
    """A bound for the number of items; `sign` is 1 for a minimum, and -1 for a maximum."""

    count: int
    keyword: ClassVar[str]
    sign: ClassVar[int]
    error: ClassVar[tuple[Literal["too_short", "too_long"], str]]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the bound."""
        require_type(schema, "array", type(self).__name__, path, "annotate a list")
        return schema | {self.keyword: self.count}

    def check(self, value: Any) -> Any:
        """Reject a list that is too short or too long."""
        if value is not None and self.sign * len(value) < self.sign * self.count:
            kind, bound = self.error
            raise PydanticKnownError(kind, {"field_type": "List", bound: self.count, "actual_length": len(value)})
        return value


class MinItems(_Items, frozen=True):
    """Minimum number of items."""

    keyword, sign, error = "minItems", 1, ("too_short", "min_length")


class MaxItems(_Items, frozen=True):
    """Maximum number of items."""

    keyword, sign, error = "maxItems", -1, ("too_long", "max_length")


Atomic: Final[Marker] = Keyword("Atomic", "array", LIST_TYPE, "atomic", _LISTS)
"""Server-side apply replaces the whole list."""


class _Set(Keyword, frozen=True):
    """A list of scalars that server-side apply merges as a set."""

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its list type."""
        if schema.get("type") == "array" and schema["items"].get("type") in {"array", "object"}:
            raise SchemaError(path, "SetList is for lists of scalars", "use `MapList(…)` for objects")
        return super().apply(schema, path)

    def check(self, value: Any) -> Any:
        """Reject duplicate items."""
        _reject_duplicates(value or ())
        return value


SetList: Final[Marker] = _Set("SetList", "array", LIST_TYPE, "set", _LISTS)


class _MapList(Marker, frozen=True):
    """A list of objects, which server-side apply merges by their keys. Each key is required or has a default."""

    keys: tuple[str, ...]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its list type and keys."""
        require_type(schema, "array", "MapList", path, "annotate a list of models")
        return schema | {LIST_TYPE: "map", LIST_MAP_KEYS: list(self.keys)}

    def check(self, value: Any) -> Any:
        """Reject two items with the same keys."""
        if value is not None:
            _reject_duplicates([tuple(_field(item, key) for key in self.keys) for item in value])
        return value


def MapList(*keys: str) -> Marker:  # noqa: N802 - is written like the other markers
    """Return the marker of a list of objects, which server-side apply merges by their keys."""
    return _MapList(keys)


def _reject_duplicates(values: Any) -> None:
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            raise PydanticCustomError("duplicate", "must be unique: {value}", {"value": str(value)})
        seen.add(value)


def _field(item: Any, key: str) -> Any:
    if isinstance(item, Mapping):
        return item.get(key)
    if not isinstance(item, BaseModel):
        return None
    names = (name for name, field in type(item).model_fields.items() if (field.alias or name) == key)
    return getattr(item, next(names, key), None)
