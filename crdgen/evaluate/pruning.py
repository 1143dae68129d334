"""Prune and default objects.

Sources: k8s.io/apiextensions-apiserver, pkg/apiserver/schema, pruning (algorithm.go) and defaulting (algorithm.go,
prunenulls.go).
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import for_children
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

    fields: dict[str, Prune] = {name: child_pruner(child) for name, child in schema.get("properties", {}).items()}
    if root or schema.get(EMBEDDED):
        fields |= dict.fromkeys(_TYPE_META, _keep) | {"metadata": _keep if root else metadata}
    extra = schema.get("additionalProperties")
    others = child_pruner(extra) if isinstance(extra, dict) else _without_schema if extra else None
    items = schema.get("items") if isinstance(schema.get("items"), dict) else None
    if schema.get(PRESERVE):
        # Named fields are pruned inside. Items are pruned if they have a schema, but keep unknown fields, too.
        return _pruning(fields, others or _keep, _keep if items is None else child_pruner(items | {PRESERVE: True}))
    return _pruning(fields, others, _without_schema if items is None else child_pruner(items))


def _pruning(fields: dict[str, Prune], others: Prune | None, items: Prune) -> Prune:
    def prune(value: Any) -> Any:
        if isinstance(value, list):
            return [items(child) for child in value]
        if not isinstance(value, dict):
            return value
        functions = ((key, child, fields.get(key, others)) for key, child in value.items())
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
    fields, others, items = for_children(schema, _Field)
    absent = {name: field for name, field in fields.items() if field.has_default}
    if not fields and others is None and items is None:
        return lambda value: value

    def default(value: Any) -> Any:
        if isinstance(value, list) and items is not None:
            return [items.apply(child) for child in value]
        if not isinstance(value, dict):
            return value
        children = ((key, child, fields.get(key, others)) for key, child in value.items())
        filled = {
            key: field.apply(child) if field else child
            for key, child, field in children
            if not (field and child is None and field.drops_null)
        }
        return filled | {key: field.copy_default() for key, field in absent.items() if key not in value}

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
