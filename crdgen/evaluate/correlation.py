"""What an object was before a write, followed along the new one (k8s.io/apiserver, pkg/cel/common/equality.go).

A part that did not change is not held against who writes another part: the API server ratchets.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from crdgen.evaluate.check import identity
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, Schema


class CorrelatedValue(NamedTuple):
    """A part of the new object, the same part of the old one where there is one, and whether the two are the same."""

    new: Any
    old: Any
    same: bool

    @staticmethod
    def of(new: Any, old: Any) -> "CorrelatedValue":
        """Return the pair."""
        return CorrelatedValue(new, old, identity(new) == identity(old))

    def step(self, step: str | int, schema: Schema) -> "CorrelatedValue | None":
        """Return the pair of a child, or None where the old one is not known."""
        if isinstance(step, str):
            # Fields are matched by their names, those of an atomic map, too.
            is_known = all(isinstance(value, dict) and step in value for value in (self.new, self.old))
            return CorrelatedValue.of(self.new[step], self.old[step]) if is_known else None
        if not keeps_items_apart(schema) or not all(isinstance(value, list) for value in (self.new, self.old)):
            return None
        item, keys = self.new[step], schema.get(LIST_MAP_KEYS, ())
        wanted = _key(item, keys)
        found = [old for old in self.old if wanted and _key(old, keys) == wanted]
        return CorrelatedValue.of(item, found[0]) if found else None


def keeps_items_apart(schema: Schema) -> bool:
    """Return whether an item of a list can be found in the list as it was: one of a map list, by its keys."""
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
    found = schema.get("properties", {}).get(step)
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, dict) else {}


def unchanged(schema: Schema, path: Sequence[str | int], new: Any, old: Any) -> bool:
    """Return whether what stands at a path, or something around it, is as it was."""
    before: CorrelatedValue | None = CorrelatedValue.of(new, old)
    for step in path:
        if before is None or before.same:
            break
        before, schema = before.step(step, schema), child_schema(schema, step)
    return before is not None and before.same
