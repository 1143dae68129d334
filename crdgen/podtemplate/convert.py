"""From Kubernetes' own definitions to structural schemas, no stricter than the API server is on Pods."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from crdgen.quantities import QUANTITY_SCHEMA
from crdgen.schema.order import order
from crdgen.schema.unions import INT_OR_STRING
from crdgen.schema.walk import Schema, map_children

_REFERENCE: Final = "#/$defs/"
_CORE: Final = "io.k8s.api.core.v1"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
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
_GIVEN: Final[Mapping[str, Schema]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": dict(QUANTITY_SCHEMA),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {INT_OR_STRING: True},
    # What a template's author may write. The timestamp is what Go programs print for a template, as null; the API
    # server drops it, and a strict client would refuse it if it were unknown.
    f"{_META}.ObjectMeta": {
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
    f"{_CORE}.HTTPHeader": frozenset({"value"}),
    f"{_CORE}.ISCSIVolumeSource": frozenset({"lun"}),
    f"{_CORE}.PreferredSchedulingTerm": frozenset({"preference"}),
    f"{_CORE}.ScaleIOVolumeSource": frozenset({"secretRef"}),
    f"{_CORE}.SleepAction": frozenset({"seconds"}),
    f"{_CORE}.Sysctl": frozenset({"value"}),
}

# Lists that are merged by key in a Pod, and may hold the same key twice there, or none (a key that is neither required
# nor has a constant default): as a map list of a CRD they would be refused.
_ATOMIC: Final = frozenset(
    {
        (f"{_CORE}.Container", "env"),
        (f"{_CORE}.Container", "ports"),
        (f"{_CORE}.ContainerRestartRuleOnExitCodes", "values"),
        (f"{_CORE}.EphemeralContainer", "env"),
        (f"{_CORE}.EphemeralContainer", "ports"),
        (f"{_CORE}.PodSpec", "hostAliases"),
        (f"{_CORE}.PodSpec", "imagePullSecrets"),
        (f"{_CORE}.ResourceRequirements", "claims"),
    }
)


def structural(definitions: Mapping[str, Schema], name: str) -> Schema:
    """Return the structural schema of one definition, everything it refers to inlined, and no descriptions."""
    return order(_definition(definitions, name, ()))


def _definition(definitions: Mapping[str, Schema], name: str, within: tuple[str, ...]) -> Schema:
    if name in _GIVEN:
        return _GIVEN[name]
    if name in within:
        raise ValueError(f"{name} contains itself: {' → '.join((*within, name))}")
    schema = _node(definitions, definitions[name], (*within, name))
    optional = _OPTIONAL.get(name, frozenset())
    required = [key for key in schema.get("required", ()) if key not in optional]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return _with_atomic_lists(rest | {"required": required} if required else rest, name)


def _node(definitions: Mapping[str, Schema], schema: Schema, within: tuple[str, ...]) -> Schema:
    if "$ref" in schema:
        return _definition(definitions, schema["$ref"].removeprefix(_REFERENCE), within)
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(kept.get("type"), list):
        kept["type"] = _without_null(kept["type"])
    return map_children(kept, "", lambda child, _: _node(definitions, child, within))


def _without_null(types: Iterable[str]) -> str:
    (one,) = (name for name in types if name != "null")
    return one


def _with_atomic_lists(schema: Schema, name: str) -> Schema:
    if "properties" not in schema:
        return schema
    properties: dict[str, Any] = {
        key: _atomic(child) if (name, key) in _ATOMIC or _lacks_a_key(child) else child
        for key, child in schema["properties"].items()
    }
    return schema | {"properties": properties}


def _atomic(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key != "x-kubernetes-list-map-keys"}
    return rest | {"x-kubernetes-list-type": "atomic"}


def _lacks_a_key(schema: Schema) -> bool:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    items = schema.get("items", {})
    properties = items.get("properties", {})
    return any(key not in items.get("required", ()) and "default" not in properties.get(key, {}) for key in keys)
