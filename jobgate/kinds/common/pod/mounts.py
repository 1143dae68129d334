"""Where containers see the pod's volumes: `volumeMounts` as files, `volumeDevices` as block devices.

The rules are those of `core/v1` validation of Kubernetes (`ValidateVolumeMounts`, `ValidateVolumeDevices`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jobgate.kinds.common.pod.reading import Json, containers, mapping, objects, spec_of, text
from jobgate.kinds.common.pod.shapes import RelativePath, Text
from jobgate.kinds.common.pod.values import (
    ValueRule,
    agreed,
    anything,
    distinct,
    family,
    fields,
    listed,
    need,
    one_of,
    rare,
)
from jobgate.kinds.common.pod.volumes import relative, without_backsteps
from webhook.cause import Cause, Forbidden, Invalid, NotFound
from webhook.path import Path

#: `core/v1` MountPropagationMode and RecursiveReadOnlyMode.
PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_MODES: Final = ("Disabled", "Enabled", "IfPossible")

#: Sources that may give a block device.
_CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    """Mounts and devices are volumes of the pod; only a privileged container may mount into its node."""
    volumes = {text(volume.get("name")): volume for _, volume in reversed([*objects(spec_of(pod).get("volumes"))])}
    for container in containers(pod, path):
        mounts, devices = ([*objects(container.json.get(field))] for field in ("volumeMounts", "volumeDevices"))
        privileged = mapping(container.json.get("securityContext")).get("privileged") is True
        for field, listed_ in (("volumeMounts", mounts), ("volumeDevices", devices)):
            for index, one in listed_:
                name = text(one.get("name"))
                if name and name not in volumes:
                    detail = "must be the name of one of the pod's volumes"
                    yield NotFound(container.path / field / index / "name", name, detail)
        for index, mount in mounts:
            if mount.get("mountPropagation") == "Bidirectional" and not privileged:
                detail = "Bidirectional is only allowed in privileged containers: use HostToContainer, or remove it"
                yield Forbidden(container.path / "volumeMounts" / index / "mountPropagation", detail)
        yield from _devices(devices, volumes, container.path)


def _devices(devices: Sequence[tuple[int, Json]], volumes: Mapping[str, Json], path: Path) -> Iterator[Cause]:
    """Only a volume by claim can be a block device."""
    for index, device in devices:
        name = text(device.get("name"))
        if name in volumes and all(volumes[name].get(source) is None for source in _CLAIMS):
            detail = "must be a volume whose source is persistentVolumeClaim or ephemeral"
            yield Invalid(path / "volumeDevices" / index / "name", name, detail)


def _mount(mount: Any, path: Path) -> Iterator[Cause]:
    """A sub path is given in one way; a mount is recursively read-only only if it is read-only."""
    if mount.get("subPath") and mount.get("subPathExpr"):
        yield Invalid(path / "subPathExpr", mount["subPathExpr"], "may not be set together with subPath")
    mode = mount.get("recursiveReadOnly")
    if mode in ("Enabled", "IfPossible") and mount.get("readOnly") is not True:
        yield Forbidden(path / "recursiveReadOnly", f"{mode} requires readOnly to be true")


def _volumes_are_there_and_places_differ(spec: Json, containers: Sequence[Json]) -> bool:
    volumes: set[str] | None = None
    for container in containers:
        if mounts := container.get("volumeMounts"):
            if volumes is None:
                try:
                    volumes = {volume["name"] for volume in spec.get("volumes", ())}
                except (KeyError, TypeError):  # not plain, as another family finds
                    return False
            if not volumes.issuperset([mount["name"] for mount in mounts]):
                return False
            if len({mount["mountPath"] for mount in mounts}) != len(mounts):
                return False
    return True


_NAME: Final = need(anything(Text), "must be the name of one of the pod's volumes")
_MOUNT: Final = fields(
    _mount,
    agreed,
    name=_NAME,
    mountPath=need(anything(Text), "must be the path in the container where the volume is mounted"),
    readOnly=anything(bool),
    subPath=ValueRule(relative, RelativePath),
    subPathExpr=ValueRule(relative),
    mountPropagation=one_of(PROPAGATIONS, PROPAGATIONS[1:], empty=True),
    recursiveReadOnly=rare(one_of(RECURSIVE_MODES, empty=True)),
)
_DEVICE: Final = fields(
    name=_NAME,
    devicePath=need(ValueRule(without_backsteps), "must be the path of the device in the container"),
)
_USED: Final = "already used by {first}"

FAMILY = family(
    _agreement,
    container={
        "volumeMounts": listed(_MOUNT, distinct("mountPath", _USED), agreed=True),
        "volumeDevices": listed(_DEVICE, distinct("name", _USED), distinct("devicePath", _USED)),
    },
    agree=_volumes_are_there_and_places_differ,
)
