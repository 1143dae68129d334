"""Lists and maps: how many items, and what server-side apply may merge."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel
from pydantic_core import PydanticCustomError, PydanticKnownError

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker, require_type
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE, SCALARS, Schema


@dataclass(frozen=True)
class _MapType(Marker):
    """An object each of whose fields has its own owner (`GranularMap`, as without a marker), or one for all."""

    kind: Literal["granular", "atomic"]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its map type."""
        name = f"{self.kind.capitalize()}Map"
        require_type(schema, "object", name, path, "annotate a model or a `dict`; for a list use `Atomic` or `MapList`")
        return schema | {MAP_TYPE: self.kind}


GranularMap: Final[Marker] = _MapType("granular")
"""Server-side apply merges the object's fields, each with its owner. It is so without a marker too."""

AtomicMap: Final[Marker] = _MapType("atomic")
"""Server-side apply replaces the object as a whole; rules inside of it cannot use `oldSelf`."""


@dataclass(frozen=True)
class _Items(Marker):
    """How many items there may be."""

    count: int
    keyword: ClassVar[str]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the bound."""
        require_type(schema, "array", type(self).__name__, path, "annotate a list")
        return schema | {self.keyword: self.count}


class MinItems(_Items):
    """At least so many items."""

    keyword = "minItems"

    def check(self, value: Any) -> Any:
        """Reject a shorter list."""
        if value is not None and len(value) < self.count:
            bounds = {"field_type": "List", "min_length": self.count, "actual_length": len(value)}
            raise PydanticKnownError("too_short", bounds)
        return value


class MaxItems(_Items):
    """At most so many items."""

    keyword = "maxItems"

    def check(self, value: Any) -> Any:
        """Reject a longer list."""
        if value is not None and len(value) > self.count:
            bounds = {"field_type": "List", "max_length": self.count, "actual_length": len(value)}
            raise PydanticKnownError("too_long", bounds)
        return value


@dataclass(frozen=True)
class _ListType(Marker):
    """A list that is replaced as a whole (`Atomic`), or merged as a set of scalars (`SetList`)."""

    kind: Literal["atomic", "set"]

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its list type."""
        name = "Atomic" if self.kind == "atomic" else "SetList"
        require_type(schema, "array", name, path, "annotate a list; for an object there is `AtomicMap`")
        if self.kind == "set" and schema["items"].get("type") not in SCALARS:
            raise SchemaError(path, "SetList is for lists of scalars", "use `MapList(…)` for objects")
        return schema | {LIST_TYPE: self.kind}

    def check(self, value: Any) -> Any:
        """Reject an item that is there twice, if the list is a set."""
        if self.kind == "set" and value is not None:
            _reject_duplicates(value)
        return value


Atomic = _ListType("atomic")
SetList = _ListType("set")


@dataclass(frozen=True, init=False)
class MapList(Marker):
    """A list of objects that is merged by the fields that identify an item; each key is required or has a default."""

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        object.__setattr__(self, "keys", keys)

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with its list type and keys."""
        require_type(schema, "array", "MapList", path, "annotate a list of models")
        items = schema["items"]
        if not self.keys:
            raise SchemaError(path, "MapList has no key", 'name the fields that identify an item: `MapList("name")`')
        if items.get("type") != "object" or (items.get(PRESERVE) and "properties" not in items):
            raise SchemaError(path, "MapList is for lists of models", "use `SetList` for scalars")
        return schema | {LIST_TYPE: "map", LIST_MAP_KEYS: list(self.keys)}

    def check(self, value: Any) -> Any:
        """Reject two items with the same keys."""
        if value is not None:
            _reject_duplicates([tuple(_field(item, key) for key in self.keys) for item in value])
        return value


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
