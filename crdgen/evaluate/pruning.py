"""Prune and default objects.

Sources: k8s.io/apiextensions-apiserver, pkg/apiserver/schema, pruning (algorithm.go) and defaulting (algorithm.go,
prunenulls.go).
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import Compiled
from crdgen.schema import EMBEDDED, PRESERVE, Schema

Prune: TypeAlias = Callable[[Any], Any]

_TYPE_META: Final = ("apiVersion", "kind")


def _keep(value: Any) -> Any:
    return value


def pruner(schema: Schema, *, root: bool = False, metadata: Prune = _keep) -> Prune:
    """Return a function that prunes values of this schema.

    With `root`, the value is a whole object, and keeps its type and metadata. `metadata` prunes embedded metadata.
    """

    def child_pruner(child: Schema) -> Prune:
        return pruner(child, metadata=metadata)

    keeps, extra, item = schema.get(PRESERVE), schema.get("additionalProperties"), schema.get("items")
    others = child_pruner(extra) if isinstance(extra, dict) else _without_schema if extra else _keep if keeps else None
    fields = Compiled[Prune | None](schema, child_pruner, others)
    if root or schema.get(EMBEDDED):
        fields |= dict.fromkeys(_TYPE_META, _keep) | {"metadata": _keep if root else metadata}
    items: Prune = _keep if keeps else _without_schema
    if isinstance(item, dict):
        # Items of a schema that preserves unknown fields keep them, too, and are pruned inside named fields.
        items = child_pruner(item | {PRESERVE: True} if keeps else item)

    def prune(value: Any) -> Any:
        if isinstance(value, list):
            return [items(child) for child in value]
        if not isinstance(value, dict):
            return value
        functions = ((key, child, fields[key]) for key, child in value.items())
        return {key: function(child) for key, child, function in functions if function is not None}

    return prune


def _without_schema(value: Any) -> Any:
    """Prune a value without a schema: objects lose all fields, and lists keep their length.

    There is no recursion, because no schema limits the depth.
    """
    if isinstance(value, dict):
        return {}
    if not isinstance(value, list):
        return value
    result: list[Any] = []
    pending: list[tuple[list[Any], list[Any]]] = [(value, result)]
    while pending:
        source, target = pending.pop()
        for child in source:
            if isinstance(child, list):
                inner: list[Any] = []
                target.append(inner)
                pending.append((child, inner))
            else:
                target.append({} if isinstance(child, dict) else child)
    return result


Default: TypeAlias = Callable[[Any], Any]


def defaulter(schema: Schema) -> Default:
    """Return a function that removes nulls from values of this schema and sets defaults."""
    properties, extra, item = schema.get("properties", {}), schema.get("additionalProperties"), schema.get("items")
    items = _Field(item) if isinstance(item, dict) else None
    fields = Compiled[_Field | None](schema, _Field, _Field(extra) if isinstance(extra, dict) else None)
    defaulted = [name for name, child in properties.items() if child.get("default") is not None]

    def default(value: Any) -> Any:
        if isinstance(value, list) and items is not None:
            return [items.apply(child) for child in value]
        if not isinstance(value, dict):
            return value
        children = ((key, child, fields[key]) for key, child in value.items())
        filled = {
            key: field.apply(child) if field else child
            for key, child, field in children
            if not (field and child is None and field.drops_null)
        }
        absent = ((name, fields[name]) for name in defaulted if name not in value)
        return filled | {name: field.copy_default() for name, field in absent if field}

    return default


class _Field:
    """The default of a field, and the function that sets the defaults below it."""

    __slots__ = ("default", "drops_null", "has_default", "nullable", "walk")

    def __init__(self, schema: Schema) -> None:
        self.walk = defaulter(schema)
        self.nullable = bool(schema.get("nullable"))
        self.has_default = schema.get("default") is not None
        self.default = self.walk(schema.get("default"))
        self.drops_null = not self.nullable and not self.has_default

    def copy_default(self) -> Any:
        """Return a copy of the default, with defaults for its own fields."""
        return deepcopy(self.default)

    def apply(self, value: Any) -> Any:
        """Return the value with defaults."""
        if value is None:
            return None if self.nullable else self.copy_default()
        return self.walk(value)
