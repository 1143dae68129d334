"""Pod templates, volumes and their parts as field types, as each minor of Kubernetes has them.

In the model they are plain JSON; the schema is Kubernetes' own, inlined: `PodTemplate` is that of one minor, and
`Annotated[dict[str, Any], pod_template("1.30")]` pins another. What is newer than the minor is pruned. The definitions
of all minors are kept in one generated file, each where it changed; `python -m tools.pod_definitions` generates it.
"""

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Annotated, Any, Final, TypeAlias

from crdgen.generate.errors import SchemaError
from crdgen.generate.tidy import order
from crdgen.generate.walk import map_children
from crdgen.markers.types import Replace
from crdgen.quantities import QUANTITY_SCHEMA
from crdgen.schema import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, PRESERVE, Schema

#: The minor of what is not pinned.
KUBERNETES: Final = "1.36"
#: The minors whose definitions are known.
MINORS: Final = tuple(f"1.{minor}" for minor in range(25, 38))
FILE: Final = "kubernetes.json"

_ANY: Final = {"type": "object", PRESERVE: True}
_CONTAINER: Final = _ANY | {"required": ["name"], "properties": {"name": {"type": "string"}}}
_CONTAINERS: Final = {"type": "array", "items": _CONTAINER, LIST_TYPE: "map", LIST_MAP_KEYS: ["name"]}
_SPEC: Final = _ANY | {"required": ["containers"], "properties": {"containers": _CONTAINERS}}
OPEN: Final[Mapping[str, Any]] = _ANY | {"properties": {"metadata": _ANY, "spec": _SPEC}}


_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
#: Types whose schema is not the definition's.
GIVEN: Final[Mapping[str, Schema]] = {
    "Quantity": dict(QUANTITY_SCHEMA),
    "IntOrString": {INT_OR_STRING: True},
    # What a template's author may write. The timestamp is what Go programs print for a template, as null; the API
    # server drops it, and a strict client would reject it if it were unknown.
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


def _inlined(definitions: Mapping[str, Mapping[str, Any]], schema: Mapping[str, Any]) -> Schema:
    """Return a definition with everything that it refers to."""
    if "$ref" in schema:
        name = schema["$ref"]
        return GIVEN[name] if name in GIVEN else _inlined(definitions, definitions[name])
    return map_children(dict(schema), "", lambda child, _: _inlined(definitions, child))


def pod_template(kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker of a pod template of a Kubernetes minor, for a `dict[str, Any]`.

    Raises:
        SchemaError: When the minor is not known.
    """
    return core_type("PodTemplateSpec", kubernetes)


def volumes(kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker of a list of volumes, merged by name, for a `list[dict[str, Any]]`.

    Raises:
        SchemaError: When the minor is not known.
    """
    _check_minor(kubernetes, f'volumes("{kubernetes}")')
    return Replace(partial(_volumes, kubernetes))


def core_type(name: str, kubernetes: str = KUBERNETES) -> Replace:
    """Return the marker of a type that pod templates are made of, for a `dict[str, Any]`.

    Args:
        name: As Kubernetes calls it: `Container`, `ResourceRequirements`, `Toleration`, `LabelSelector`.
        kubernetes: The minor.

    Raises:
        SchemaError: When the minor is not known, or has no such type.
    """
    at = f'core_type("{name}", "{kubernetes}")'
    _check_minor(kubernetes, at)
    if name not in known(kubernetes):
        fix = "use a type that a pod template is made of, as `Container`"
        raise SchemaError(at, f"no pod template of Kubernetes {kubernetes} holds a {name}", fix)
    return Replace(partial(_core, name, kubernetes))


@cache
def known(kubernetes: str = KUBERNETES) -> Mapping[str, Mapping[str, Any]]:
    """Return the definitions of a minor by name, each of which refers to others by `$ref`."""
    number = MINORS.index(kubernetes)
    found: dict[str, Mapping[str, Any]] = {}
    for name, versions in _read().items():
        states = [schema for minor, schema in versions.items() if MINORS.index(minor) <= number]
        if states and states[-1] is not None:
            found[name] = states[-1]
    return found


@cache
def load(kubernetes: str = KUBERNETES) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemas of a minor by type: `PodTemplateSpec` and `Volume`."""
    return {name: _core(name, kubernetes) for name in ("PodTemplateSpec", "Volume")}


@cache
def _read() -> Mapping[str, Mapping[str, Mapping[str, Any] | None]]:
    """Return the generated file: by name and by the minor since when it is so, rising, what a definition is, if any."""
    table: Mapping[str, Any] = json.loads(files(__name__).joinpath(FILE).read_text(encoding="utf-8"))
    return table


@cache
def _core(name: str, kubernetes: str) -> Mapping[str, Any]:
    return order(_inlined(known(kubernetes), {"$ref": name}))


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
