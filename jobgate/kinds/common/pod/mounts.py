"""Where containers see the pod's volumes: `volumeMounts` as files, `volumeDevices` as block devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import items
from jobgate.kinds.common.pod.shapes import Plain, RelativePath, Text
from jobgate.kinds.common.pod.volumes.fields import Fields, each, mapping, required, text
from jobgate.kinds.common.pod.volumes.files import relative, without_backsteps
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, NotFound, Notice, NotSupported
from webhook.path import Path

#: `core/v1` MountPropagationMode.
PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")

#: `core/v1` RecursiveReadOnlyMode.
RECURSIVE_MODES = ("Disabled", "Enabled", "IfPossible")

#: Where containers stand. Ephemeral ones are none of a new pod's, which is refused whole for having any.
_CONTAINERS = ("initContainers", "containers")

#: Sources that may give a block device.
_CLAIMS = ("persistentVolumeClaim", "ephemeral")

_Volumes = Mapping[str, Fields]


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Judge the mounts and devices of each container of a pod whose template stands at `path`."""
    spec = mapping(pod, "spec")
    volumes: _Volumes | None = None
    for field in _CONTAINERS:
        for index, container in enumerate(each(spec, field)):
            mounts, devices = each(container, "volumeMounts"), each(container, "volumeDevices")
            if not mounts and not devices:
                continue
            if volumes is None:
                volumes = {text(volume, "name"): volume for volume in reversed(each(spec, "volumes"))}
            here = path / "spec" / field / index
            if mounts:
                yield from _mounts(mounts, volumes, container, here / "volumeMounts")
            if devices:
                yield from _devices(devices, volumes, here / "volumeDevices")
                yield from _apart_from_mounts(devices, mounts, here)


def _mounts(mounts: list[Fields], volumes: _Volumes, container: Fields, path: Path) -> Iterator[Cause]:
    first: dict[str, int] = {}
    for index, mount in enumerate(mounts):
        here = path / index
        yield from _names_a_volume(mount, volumes, here)
        yield from _mount_path(mount, index, first, path)
        if mount.get("subPath") or mount.get("subPathExpr"):
            yield from _sub_path(mount, here)
        if mount.get("mountPropagation") is not None:
            yield from _propagation(mount, container, here)
        if mount.get("recursiveReadOnly") is not None:
            yield from _recursive_read_only(mount, here)


def _names_a_volume(mount: Fields, volumes: _Volumes, path: Path) -> Iterator[Cause]:
    """What is mounted is one of the pod's volumes (`core/v1` validation, `name` of VolumeMount and VolumeDevice)."""
    name = text(mount, "name")
    if not name:
        yield from required(mount, path, {"name": "the name of one of the pod's volumes"})
    elif name not in volumes:
        yield NotFound(path / "name", name, "must be the name of one of the pod's volumes")


def _mount_path(mount: Fields, index: int, first: dict[str, int], path: Path) -> Iterator[Cause]:
    """A mount has a place in the container, and has it alone (`core/v1` validation, `mountPath` of VolumeMount)."""
    place = text(mount, "mountPath")
    if not place:
        yield from required(mount, path / index, {"mountPath": "the path in the container where the volume is mounted"})
    elif first.setdefault(place, index) != index:
        yield Duplicate(path / index / "mountPath", place, f"already used by {path / first[place]}")


def _sub_path(mount: Fields, path: Path) -> Iterator[Cause]:
    """A part of a volume is said in one way, and stays within it (`core/v1`, `subPath` and `subPathExpr`)."""
    plain, expression = text(mount, "subPath"), text(mount, "subPathExpr")
    if plain and expression:
        yield Invalid(path / "subPathExpr", expression, "may not be set together with subPath")
    yield from relative(plain, path / "subPath")
    yield from relative(expression, path / "subPathExpr")


def _propagation(mount: Fields, container: Fields, path: Path) -> Iterator[Cause]:
    """Only a privileged container may mount into its node (`core/v1` validation, `mountPropagation`)."""
    mode = mount["mountPropagation"]
    if mode not in PROPAGATIONS:
        yield NotSupported(path / "mountPropagation", mode, PROPAGATIONS)
    elif mode == "Bidirectional" and mapping(container, "securityContext").get("privileged") is not True:
        detail = "Bidirectional is only allowed in privileged containers: use HostToContainer, or remove it"
        yield Forbidden(path / "mountPropagation", detail)


def _recursive_read_only(mount: Fields, path: Path) -> Iterator[Cause]:
    """A mount is recursively read-only only if it is read-only and not propagated (`core/v1`, `recursiveReadOnly`)."""
    mode, here = mount["recursiveReadOnly"], path / "recursiveReadOnly"
    if mode not in RECURSIVE_MODES:
        yield NotSupported(here, mode, RECURSIVE_MODES)
    elif mode != "Disabled":
        if mount.get("readOnly") is not True:
            yield Forbidden(here, f"{mode} requires readOnly to be true")
        if mount.get("mountPropagation") not in (None, "None"):
            yield Forbidden(here, f"{mode} requires mountPropagation to be None or not set")


def _devices(devices: list[Fields], volumes: _Volumes, path: Path) -> Iterator[Cause]:
    places: dict[str, int] = {}
    users: dict[str, int] = {}
    for index, device in enumerate(devices):
        yield from _names_a_volume(device, volumes, path / index)
        yield from _is_of_a_claim(device, volumes, path / index)
        yield from _used_once(device, index, users, path)
        yield from _device_path(device, index, places, path)


def _is_of_a_claim(device: Fields, volumes: _Volumes, path: Path) -> Iterator[Cause]:
    """Only a volume by claim can be a block device (`core/v1` validation, `name` of VolumeDevice)."""
    name = text(device, "name")
    volume = volumes.get(name)
    if name and volume is not None and not any(volume.get(source) is not None for source in _CLAIMS):
        yield Invalid(path / "name", name, "must be a volume whose source is persistentVolumeClaim or ephemeral")


def _used_once(device: Fields, index: int, users: dict[str, int], path: Path) -> Iterator[Cause]:
    """A container has a volume as one device (`core/v1` validation, `name` of VolumeDevice)."""
    name = text(device, "name")
    if name and users.setdefault(name, index) != index:
        yield Duplicate(path / index / "name", name, f"already used by {path / users[name]}")


def _device_path(device: Fields, index: int, places: dict[str, int], path: Path) -> Iterator[Cause]:
    """A device has a path, without `..`, and has it alone (`core/v1` validation, `devicePath` of VolumeDevice)."""
    place = text(device, "devicePath")
    if not place:
        yield from required(device, path / index, {"devicePath": "the path of the device in the container"})
        return
    if places.setdefault(place, index) != index:
        yield Duplicate(path / index / "devicePath", place, f"already used by {path / places[place]}")
    yield from without_backsteps(place, path / index / "devicePath")


def _apart_from_mounts(devices: list[Fields], mounts: list[Fields], path: Path) -> Iterator[Cause]:
    """A container sees a volume as files or as a device, and not two things at one path (`core/v1`, Container)."""
    mounted = {text(mount, "name"): index for index, mount in reversed(list(enumerate(mounts)))}
    taken = {text(mount, "mountPath"): index for index, mount in reversed(list(enumerate(mounts)))}
    for index, device in enumerate(devices):
        here = path / "volumeDevices" / index
        name, place = text(device, "name"), text(device, "devicePath")
        if name and name in mounted:
            detail = f"is already mounted by {path / 'volumeMounts' / mounted[name]}"
            yield Invalid(here / "name", name, detail)
        if place and place in taken:
            detail = f"must not be the mountPath of {path / 'volumeMounts' / taken[place]}"
            yield Invalid(here / "devicePath", place, detail)


class _Mount(Plain):
    name: Text
    mount_path: Text
    read_only: bool = False
    sub_path: RelativePath | UnsetType = UNSET
    mount_propagation: Literal["HostToContainer", "None"] = "None"


def _volumes_are_there_and_places_differ(spec: Fields, containers: Sequence[Fields]) -> bool:
    volumes: set[str] | None = None
    for container in containers:
        if mounts := container.get("volumeMounts"):
            if volumes is None:
                volumes = {
                    name
                    for volume in items(spec.get("volumes"))
                    if isinstance(volume, dict) and isinstance(name := volume.get("name"), str)
                }
            places = set()
            for mount in mounts:
                if mount["name"] not in volumes:
                    return False
                places.add(mount["mountPath"])
            if len(places) != len(mounts):
                return False
    return True


FAMILY = Family(
    check=check,
    container={"volumeMounts": list[_Mount], "volumeDevices": LOOK},
    agree=_volumes_are_there_and_places_differ,
)
