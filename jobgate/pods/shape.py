"""Whether a pod can be read: every part that is wired has the type that Pods have.

The API server sends nothing else. So this is for direct calls, and lets all that follows read without checks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from webhook import Cause, Path, TypeInvalid

Json = dict[str, Any]


class _NamedItem(msgspec.Struct, rename="camel"):
    name: str | None = None
    mount_path: str | None = None
    sub_path: str | None = None


class _Volume(_NamedItem, rename="camel"):
    persistent_volume_claim: Json | None = None


class _Container(_NamedItem, rename="camel"):
    env: list[_NamedItem] | None = None
    env_from: list[_NamedItem] | None = None
    volume_mounts: list[_NamedItem] | None = None
    ports: list[_NamedItem] | None = None
    command: list[str] | None = None
    args: list[str] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    security_context: Json | None = None
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    volumes: list[_Volume] | None = None
    scheduling_gates: list[_NamedItem] | None = None


class _Metadata(msgspec.Struct):
    labels: Json | None = None
    annotations: Json | None = None


class _Pod(msgspec.Struct):
    spec: _Spec
    metadata: _Metadata | None = None


#: A message of msgspec: the expected type, and the place as `$.spec.containers[0]`.
_MESSAGE: Final = re.compile(r"Expected `(\w+).* - at `\$\.(.*)`")
_TYPES: Final = {"object": "an object", "array": "a list", "str": "a string"}


def fault(pod: Mapping[str, Any]) -> Cause | None:
    """Return the fault of the first part of a pod that has another type, or None."""
    try:
        msgspec.convert({"spec": None, **pod}, _Pod)
    except ValueError as error:  # also of half a character, which has no UTF-8
        found = _MESSAGE.match(str(error))
        if found is None:
            return TypeInvalid("spec", type(pod.get("spec")).__name__, f"must be a pod's: {str(error)[:100]!a}")
        path = Path(found[2])
        value: Any = pod
        for step in path.steps:
            value = value.get(step) if isinstance(value, Mapping) else value[step]
        return TypeInvalid(path, value, f"must be {_TYPES[found[1]]}")
    return None
