"""From Kubernetes' own definitions to structural schemas, no stricter than the API server is on Pods."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.generate.tidy import order
from crdgen.generate.walk import map_children
from crdgen.quantities import QUANTITY_SCHEMA
from crdgen.schema import INT_OR_STRING, Schema

_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
#: Types whose schema is not the definition's.
GIVEN: Final[Mapping[str, Schema]] = {
    "Quantity": dict(QUANTITY_SCHEMA),
    "IntOrString": {INT_OR_STRING: True},
    # What a template's author may write. The timestamp is what Go programs print for a template, as null; the API
    # server drops it, and a strict client would refuse it if it were unknown.
    "ObjectMeta": {
        "type": "object",
        "properties": {
            "annotations": _TEXTS,
            "creationTimestamp": {"type": "string", "format": "date-time"},
            "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
            "generateName": {"type": "string"},
            "labels": _TEXTS,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    },
}


def structural(known: Mapping[str, Mapping[str, Any]], name: str) -> Schema:
    """Return the structural schema of one definition, everything that it refers to inlined, and no descriptions."""
    return order(_inlined(known, name, ()))


def _inlined(known: Mapping[str, Mapping[str, Any]], name: str, within: tuple[str, ...]) -> Schema:
    if name in GIVEN:
        return GIVEN[name]
    if name in within:
        raise ValueError(f"{name} contains itself: {' → '.join((*within, name))}")
    return _resolved(known, known[name], (*within, name))


def _resolved(known: Mapping[str, Mapping[str, Any]], schema: Mapping[str, Any], within: tuple[str, ...]) -> Schema:
    if "$ref" in schema:
        return _inlined(known, schema["$ref"], within)
    return map_children(dict(schema), "", lambda child, _: _resolved(known, child, within))
