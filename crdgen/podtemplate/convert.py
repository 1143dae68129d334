"""From Kubernetes' own definitions to structural schemas, no stricter than the API server is on Pods."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from crdgen.generate.tidy import order
from crdgen.generate.walk import map_children
from crdgen.quantities import QUANTITY_SCHEMA
from crdgen.schema import INT_OR_STRING, Schema

_REFERENCE: Final = "#/$defs/"
_KEPT: Final = frozenset(
    {
        "additionalProperties",
        "format",
        "items",
        "properties",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    }
)

_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
# Types whose schema is not the definition's.
_GIVEN: Final[Mapping[str, Schema]] = {
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

# Required by the definitions, and yet left out of Pods that the API server takes: there the absent value is the zero
# value, and that one is legal (k8s.io/kubernetes, pkg/apis/core/validation/validation.go).
_OPTIONAL: Final[Mapping[str, frozenset[str]]] = {
    "HTTPHeader": frozenset({"value"}),
    "ISCSIVolumeSource": frozenset({"lun"}),
    "PreferredSchedulingTerm": frozenset({"preference"}),
    "ScaleIOVolumeSource": frozenset({"secretRef"}),
    "SleepAction": frozenset({"seconds"}),
    "Sysctl": frozenset({"value"}),
}

# Lists that are merged by key in a Pod, and may hold the same key twice there, or none (a key that is neither required
# nor has a constant default): as a map list of a CRD they would be refused.
_ATOMIC: Final = frozenset(
    {
        ("Container", "env"),
        ("Container", "ports"),
        ("ContainerRestartRuleOnExitCodes", "values"),
        ("EphemeralContainer", "env"),
        ("EphemeralContainer", "ports"),
        ("PodSpec", "hostAliases"),
        ("PodSpec", "imagePullSecrets"),
        ("ResourceRequirements", "claims"),
    }
)


def definitions(published: Mapping[str, Schema], wanted: Iterable[str]) -> dict[str, Schema]:
    """Return the definitions that types need, by their short names, each with only what a structural schema has.

    Args:
        published: Kubernetes' own, by their full names.
        wanted: Full names of types.

    Raises:
        ValueError: When two that are needed have the same short name.
    """
    found: dict[str, Schema] = {}
    full: dict[str, str] = {}
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        short = _short(name)
        if full.setdefault(short, name) != name:
            raise ValueError(f"{name} and {full[short]} are both called {short}")
        if short not in found and short not in _GIVEN:
            found[short] = order(_optional(_node(published[name]), short))
            waiting.extend(_references(published[name]))
    return {name: _with_atomic_lists(schema, name, found) for name, schema in found.items()}


def structural(known: Mapping[str, Mapping[str, Any]], name: str) -> Schema:
    """Return the structural schema of one definition, everything that it refers to inlined, and no descriptions."""
    return order(_inlined(known, name, ()))


def _inlined(known: Mapping[str, Mapping[str, Any]], name: str, within: tuple[str, ...]) -> Schema:
    if name in _GIVEN:
        return _GIVEN[name]
    if name in within:
        raise ValueError(f"{name} contains itself: {' → '.join((*within, name))}")
    return _resolved(known, known[name], (*within, name))


def _resolved(known: Mapping[str, Mapping[str, Any]], schema: Mapping[str, Any], within: tuple[str, ...]) -> Schema:
    if "$ref" in schema:
        return _inlined(known, schema["$ref"], within)
    return map_children(dict(schema), "", lambda child, _: _resolved(known, child, within))


def _node(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"$ref": _short(schema["$ref"])}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(kept.get("type"), list):
        kept["type"] = _without_null(kept["type"])
    return map_children(kept, "", lambda child, _: _node(child))


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(_REFERENCE)
        for child in schema.values():
            yield from _references(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _references(child)


def _short(name: str) -> str:
    return name.removeprefix(_REFERENCE).rpartition(".")[2]


def _without_null(types: Iterable[str]) -> str:
    (one,) = (name for name in types if name != "null")
    return one


def _optional(schema: Schema, name: str) -> Schema:
    required = [key for key in schema.get("required", ()) if key not in _OPTIONAL.get(name, ())]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return rest | {"required": required} if required else rest


def _with_atomic_lists(schema: Schema, name: str, known: Mapping[str, Schema]) -> Schema:
    if "properties" not in schema:
        return schema
    properties: dict[str, Any] = {
        key: _atomic(child) if (name, key) in _ATOMIC or _lacks_a_key(child, known) else child
        for key, child in schema["properties"].items()
    }
    return schema | {"properties": properties}


def _atomic(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key != "x-kubernetes-list-map-keys"}
    return rest | {"x-kubernetes-list-type": "atomic"}


def _lacks_a_key(schema: Schema, known: Mapping[str, Schema]) -> bool:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    items = schema.get("items", {})
    items = known.get(items["$ref"], {}) if "$ref" in items else items
    return any(key not in items.get("required", ()) for key in keys)
