"""Correlate the parts of an object with the parts of the old object (k8s.io/apiserver, pkg/cel/common/equality.go).

The API server ratchets: it does not reject a write because of a part that did not change.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from crdgen.evaluate.check import identity
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, Schema


class CorrelatedValue(Struct, frozen=True):
    """A part of the new object, the same part of the old object, and whether the two are equal."""

    new: Any
    old: Any
    same: bool

    @staticmethod
    def of(new: Any, old: Any) -> "CorrelatedValue":
        """Return the pair."""
        return CorrelatedValue(new, old, identity(new) == identity(old))

    def step(self, step: str | int, schema: Schema) -> "CorrelatedValue | None":
        """Return the pair of a child, or None if the old child is unknown."""
        if isinstance(step, str):
            # Fields are matched by their names, also in atomic maps.
            is_known = all(isinstance(value, dict) and step in value for value in (self.new, self.old))
            return CorrelatedValue.of(self.new[step], self.old[step]) if is_known else None
        if not is_map_list(schema) or not all(isinstance(value, list) for value in (self.new, self.old)):
            return None
        item, keys = self.new[step], schema.get(LIST_MAP_KEYS, ())
        key = _key(item, keys)
        matches = [old for old in self.old if key and _key(old, keys) == key]
        return CorrelatedValue.of(item, matches[0]) if matches else None


def is_map_list(schema: Schema) -> bool:
    """Return whether the items of a list have keys, by which they are found in the old list."""
    return schema.get(LIST_TYPE) == "map"


def _key(item: Any, keys: Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), bool | float | int | str) for key in keys):
        return ()
    return tuple(identity(item[key]) for key in keys)


def child_schema(schema: Schema, step: str | int) -> Schema:
    """Return the schema of a child."""
    if isinstance(step, int):
        items = schema.get("items")
        return items if isinstance(items, dict) else {}
    child = schema.get("properties", {}).get(step)
    if child is None:
        child = schema.get("additionalProperties")
    return child if isinstance(child, dict) else {}


def is_unchanged(schema: Schema, path: Sequence[str | int], new: Any, old: Any) -> bool:
    """Return whether the value at a path, or a parent of it, did not change."""
    pair: CorrelatedValue | None = CorrelatedValue.of(new, old)
    for step in path:
        if pair is None or pair.same:
            break
        pair, schema = pair.step(step, schema), child_schema(schema, step)
    return pair is not None and pair.same
