"""Field types for pod templates, volumes and their parts, of every minor version of Kubernetes.

In the model they are plain JSON; the schema is Kubernetes' own, inlined. `PodTemplate` has the fields of one minor, and
`Annotated[dict[str, Any], pod_template("1.30")]` selects another. Newer fields are pruned. A generated file contains
the definitions of all minors, without repeating what did not change; `python -m tools.pod_definitions` generates it.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import map_children
from crdgen.markers.types import Replace
from crdgen.quantities import QUANTITY_SCHEMA
from crdgen.schema import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, PRESERVE, Schema

#: The default minor.
KUBERNETES: Final = "1.36"
#: The minors in the generated file.
MINORS: Final = tuple(f"1.{minor}" for minor in range(25, 38))
FILE: Final = Path(__file__).with_name("kubernetes.json")

_ANY: Final = {"type": "object", PRESERVE: True}
_CONTAINER: Final = _ANY | {"required": ["name"], "properties": {"name": {"type": "string"}}}
_CONTAINERS: Final = {"type": "array", "items": _CONTAINER, LIST_TYPE: "map", LIST_MAP_KEYS: ["name"]}
_SPEC: Final = _ANY | {"required": ["containers"], "properties": {"containers": _CONTAINERS}}
OPEN: Final[Mapping[str, Any]] = _ANY | {"properties": {"metadata": _ANY, "spec": _SPEC}}


_TEXTS: Final = {"additionalProperties": {"type": "string"}, "type": "object"}
#: Types whose schema differs from their definition. Here and in the generated file, keys are sorted.
GIVEN: Final[Mapping[str, Schema]] = {
    "Quantity": dict(QUANTITY_SCHEMA),
    "IntOrString": {INT_OR_STRING: True},
    # Fields that authors of templates may set. Go programs print creationTimestamp as null: the API server drops it,
    # but strict clients would reject it if it were unknown.
    "ObjectMeta": {
        "properties": {
            "annotations": _TEXTS,
            "creationTimestamp": {"format": "date-time", "type": "string"},
            "finalizers": {"items": {"type": "string"}, "type": "array", "x-kubernetes-list-type": "atomic"},
            "generateName": {"type": "string"},
            "labels": _TEXTS,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
        "type": "object",
    },
}


@cache
def _core(name: str, kubernetes: str) -> Schema:
    """Return a definition with its references replaced. A type that is in several places is the same object."""
    return GIVEN[name] if name in GIVEN else _inline(definitions_of(kubernetes)[name], kubernetes)


def _inline(schema: Mapping[str, Any], kubernetes: str) -> Schema:
    if "$ref" in schema:
        return _core(schema["$ref"], kubernetes)
    return map_children(dict(schema), "", lambda child, _: _inline(child, kubernetes))


def pod_template(kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker for a pod template of a Kubernetes minor, on a `dict[str, Any]`.

    Raises:
        SchemaError: The minor is unknown.
    """
    return core_type("PodTemplateSpec", kubernetes)


def volumes(kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker for a list of volumes, merged by name, on a `list[dict[str, Any]]`.

    Raises:
        SchemaError: The minor is unknown.
    """
    _check_minor(kubernetes, f'volumes("{kubernetes}")')
    return Replace(partial(_volumes, kubernetes))


def core_type(name: str, kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker for a type within pod templates, on a `dict[str, Any]`.

    Args:
        name: The name in Kubernetes: `Container`, `ResourceRequirements`, `Toleration`, `LabelSelector`.
        kubernetes: The minor.

    Raises:
        SchemaError: The minor is unknown, or has no such type.
    """
    call = f'core_type("{name}", "{kubernetes}")'
    _check_minor(kubernetes, call)
    if name not in definitions_of(kubernetes):
        fix = "use a type that a pod template is made of, as `Container`"
        raise SchemaError(call, f"no pod template of Kubernetes {kubernetes} holds a {name}", fix)
    return Replace(partial(_core, name, kubernetes))


@cache
def definitions_of(kubernetes: str = KUBERNETES) -> Mapping[str, Mapping[str, Any]]:
    """Return the definitions of a minor by name; they refer to each other by `$ref`."""
    number = MINORS.index(kubernetes)
    definitions: dict[str, Mapping[str, Any]] = {}
    for name, versions in _read().items():
        schemas = [schema for minor, schema in versions.items() if MINORS.index(minor) <= number]
        if schemas and schemas[-1] is not None:
            definitions[name] = schemas[-1]
    return definitions


@cache
def load(kubernetes: str = KUBERNETES) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemas of a minor by type: `PodTemplateSpec` and `Volume`."""
    return {name: _core(name, kubernetes) for name in ("PodTemplateSpec", "Volume")}


@cache
def _read() -> Mapping[str, Mapping[str, Mapping[str, Any] | None]]:
    """Return the generated file: definitions by name and by the minor in which they changed; None if removed."""
    table: Mapping[str, Any] = msgspec.json.decode(FILE.read_bytes())
    return table


def _volumes(kubernetes: str) -> Mapping[str, Any]:
    return {"type": "array", "items": _core("Volume", kubernetes), LIST_TYPE: "map", LIST_MAP_KEYS: ["name"]}


def _check_minor(kubernetes: str, at: str) -> None:
    if kubernetes not in MINORS:
        raise SchemaError(at, f"Kubernetes {kubernetes} is not known", f"use one of {MINORS[0]} to {MINORS[-1]}")


PodTemplate: TypeAlias = Annotated[dict[str, Any], Replace(partial(_core, "PodTemplateSpec", KUBERNETES))]
"""A pod template with every field of this Kubernetes minor; newer fields are pruned."""

OpenPodTemplate: TypeAlias = Annotated[dict[str, Any], Replace(lambda: OPEN)]
"""A pod template of any Kubernetes: nothing is pruned, and little is checked."""

Volumes: TypeAlias = Annotated[list[dict[str, Any]], Replace(partial(_volumes, KUBERNETES))]
"""A list of core/v1 Volumes, merged by name."""
