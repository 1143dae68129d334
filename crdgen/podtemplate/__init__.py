"""Pod templates and volumes as field types. In the model they are plain JSON; the schema is Kubernetes' own, inlined.

The schemas are kept in a generated file; `python -m crdgen.podtemplate` makes it anew.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, TypeAlias

from crdgen.markers.types import Replace

__all__ = ["FILE", "KUBERNETES", "OpenPodTemplate", "PodTemplate", "Volumes", "load"]

KUBERNETES: Final = "1.36"
FILE: Final = f"kubernetes-{KUBERNETES}.json"

_OPEN: Final[Mapping[str, Any]] = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "spec": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "required": ["containers"],
            "properties": {
                "containers": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}},
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                }
            },
        },
    },
}


@cache
def load() -> Mapping[str, Mapping[str, Any]]:
    """Return the generated schemas by type: `PodTemplateSpec` and `Volume`."""
    schemas: Mapping[str, Mapping[str, Any]] = json.loads(files(__name__).joinpath(FILE).read_text(encoding="utf-8"))
    return schemas


def _pod_template() -> Mapping[str, Any]:
    return load()["PodTemplateSpec"]


def _volumes() -> Mapping[str, Any]:
    return {
        "type": "array",
        "items": load()["Volume"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }


PodTemplate: TypeAlias = Annotated[dict[str, Any], Replace(_pod_template)]
"""A pod template with every field of this Kubernetes minor; newer fields are pruned."""

OpenPodTemplate: TypeAlias = Annotated[dict[str, Any], Replace(lambda: _OPEN)]
"""A pod template of any Kubernetes: nothing is pruned, and little is checked."""

Volumes: TypeAlias = Annotated[list[dict[str, Any]], Replace(_volumes)]
"""A list of core/v1 Volumes, merged by name."""
