"""Volumes that show what the cluster knows: configMap, secret, downwardAPI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import field

from jobgate.kinds.common.pod.shapes import Plain, Text
from jobgate.kinds.common.pod.volumes.downward import downward_file
from jobgate.kinds.common.pod.volumes.fields import Fields, each, required
from jobgate.kinds.common.pod.volumes.files import PlainKeyToPath, PlainMode, key_to_paths, mode
from webhook.cause import Cause, Notice
from webhook.path import Path


class _Files(Plain, kw_only=True):
    default_mode: PlainMode = 0
    items: list[PlainKeyToPath] = field(default_factory=list)
    optional: Any = None


class PlainConfigMap(_Files, kw_only=True):
    """The plain shape of a configMap volume."""

    name: Text


class PlainSecret(_Files, kw_only=True):
    """The plain shape of a secret volume."""

    secret_name: Text


def config_map(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A configMap volume names its ConfigMap (`core/v1` validation, ConfigMapVolumeSource)."""
    yield from required(source, path, {"name": "the name of the ConfigMap"})
    yield from mode(source, "defaultMode", path)
    yield from key_to_paths(source, path)


def secret(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A secret volume names its Secret (`core/v1` validation, SecretVolumeSource)."""
    yield from required(source, path, {"secretName": "the name of the Secret"})
    yield from mode(source, "defaultMode", path)
    yield from key_to_paths(source, path)


def downward_api(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A downwardAPI volume shows fields of the pod as files (`core/v1` validation, DownwardAPIVolumeSource)."""
    yield from mode(source, "defaultMode", path)
    for index, item in enumerate(each(source, "items")):
        yield from downward_file(item, path / "items" / index)
