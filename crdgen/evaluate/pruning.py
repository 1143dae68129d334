"""Pruning: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/pruning/algorithm.go."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import CONTAINERS
from crdgen.schema.walk import Schema
from crdgen.words import EMBEDDED, PRESERVE

Prune: TypeAlias = Callable[[Any], Any]

_META: Final = ("apiVersion", "kind", "metadata")


def pruner(schema: Schema, *, root: bool = False) -> Prune:
    """Return the function that prunes a value of this schema."""
    return _compile(schema, embedded=root or bool(schema.get(EMBEDDED)))


def _compile(schema: Schema, *, embedded: bool) -> Prune:
    fields: dict[str, Prune] = {name: pruner(child) for name, child in schema.get("properties", {}).items()}
    if embedded:
        fields |= dict.fromkeys(_META, _keep)
    extra = schema.get("additionalProperties")
    others = pruner(extra) if isinstance(extra, dict) else _without_schema if extra else None
    if schema.get(PRESERVE):
        # Named fields are pruned inside; of lists only those that the schema describes.
        return _preserving(fields, others or _keep, _compile_items(schema, preserving=True))
    return _pruning(fields, others, _compile_items(schema, preserving=False))


def _compile_items(schema: Schema, *, preserving: bool) -> Prune:
    items = schema.get("items")
    if items is None:
        return _keep if preserving else _without_schema
    # Where unknown fields are preserved, so are those of the items.
    return pruner(items | {PRESERVE: True} if preserving else items)


def _pruning(fields: dict[str, Prune], others: Prune | None, items: Prune) -> Prune:
    def prune(value: Any) -> Any:
        if isinstance(value, dict):
            pruned = value
            for key, child in value.items():
                function = fields.get(key, others)
                if function is None:
                    if pruned is value:
                        pruned = dict(value)
                    del pruned[key]
                elif isinstance(child, CONTAINERS):
                    kept = function(child)
                    if kept is not child:
                        if pruned is value:
                            pruned = dict(value)
                        pruned[key] = kept
            return pruned
        return _each(value, items) if isinstance(value, list) else value

    return prune


def _preserving(fields: dict[str, Prune], others: Prune, items: Prune) -> Prune:
    return _pruning(fields, others, items)


def _each(values: list[Any], function: Prune) -> list[Any]:
    pruned = values
    for index, child in enumerate(values):
        if isinstance(child, CONTAINERS):
            kept = function(child)
            if kept is not child:
                if pruned is values:
                    pruned = list(values)
                pruned[index] = kept
    return pruned


def _keep(value: Any) -> Any:
    return value


def _without_schema(value: Any) -> Any:
    """Prune what no schema describes: objects lose everything, and lists keep their lengths.

    Without recursion, because no schema bounds the depth here.
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
