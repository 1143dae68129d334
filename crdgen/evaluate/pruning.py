"""Pruning: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/pruning/algorithm.go."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crdgen.schema import EMBEDDED, PRESERVE, Schema

Prune: TypeAlias = Callable[[Any], Any]

_TYPE_META: Final = ("apiVersion", "kind")


def _keep(value: Any) -> Any:
    return value


def pruner(schema: Schema, *, root: bool = False, metadata: Prune = _keep) -> Prune:
    """Return the function that prunes a value of this schema.

    `root` says that it is a whole object, whose type and metadata are kept; `metadata` prunes that of resources in it.
    """

    def below(child: Schema) -> Prune:
        return pruner(child, metadata=metadata)

    fields: dict[str, Prune] = {name: below(child) for name, child in schema.get("properties", {}).items()}
    if root or schema.get(EMBEDDED):
        fields |= dict.fromkeys(_TYPE_META, _keep) | {"metadata": _keep if root else metadata}
    extra = schema.get("additionalProperties")
    others = below(extra) if isinstance(extra, dict) else _without_schema if extra else None
    items = schema.get("items") if isinstance(schema.get("items"), dict) else None
    if schema.get(PRESERVE):
        # Named fields are pruned inside; of lists only those that are described, whose unknown fields are kept, too.
        return _pruning(fields, others or _keep, _keep if items is None else below(items | {PRESERVE: True}))
    return _pruning(fields, others, _without_schema if items is None else below(items))


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
