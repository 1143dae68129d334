"""Whether a pod can be read: every part that is wired has the type that Pods have.

The API server sends nothing else. So this is for direct calls, and lets all that follows read without checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from webhook import Cause

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


def fault(pod: Mapping[str, Any]) -> Cause | None:
    """Return the fault of a pod of which a part has another type, or None."""
    try:
        msgspec.convert({"spec": None, **pod}, _Pod)
    except ValueError as error:  # also of half a character, which has no UTF-8
        return Cause("", f"not a pod: {str(error)[:200]!a}")
    return None
