"""Checks that the parts of a pod that plugins and prerequisites use have the types of a Pod.

The API server only sends such pods, but others may call the server. Later code can read the pod without checks.
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
    """Return the fault of a pod if a part has a wrong type, or None."""
    try:
        msgspec.convert({"spec": None, **pod}, _Pod)
    except ValueError as error:  # also for a lone surrogate, which UTF-8 cannot encode
        return Cause("", f"not a pod: {str(error)[:200]!a}")
    return None
