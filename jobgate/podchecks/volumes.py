"""Volumes of pods, with the sources that training jobs use, and their mounts.

The rules are those of `core/v1` validation of Kubernetes (`ValidateVolumes`, `ValidateVolumeMounts`). The fields of
rare and removed sources are not checked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.podchecks.env import field_reference, resource_reference
from jobgate.podchecks.placement import LABELS, SELECTOR
from jobgate.podchecks.reading import Json, containers
from jobgate.podchecks.shapes import AbsolutePath, DnsLabel, RelativePath, Text, whole_text
from jobgate.podchecks.values import (
    Check,
    Rules,
    ValueRule,
    agreed,
    amount,
    anything,
    distinct,
    family,
    fields,
    formatted,
    listed,
    need,
    nothing,
    number,
    one_of,
    one_source,
    rare,
)
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, NotFound, Notice, NotSupported, Required, TooLong
from webhook.path import Path
from webhook.values import items, mapping, objects, spec_of, text

#: `core/v1` HostPathType, without the empty type.
HOST_PATH_TYPES: Final = (
    *("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
#: `core/v1` PersistentVolumeAccessMode and PersistentVolumeMode.
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

#: Sources that can be a block device.
_CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")

#: `core/v1` MountPropagationMode and RecursiveReadOnlyMode.
PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_MODES: Final = ("Disabled", "Enabled", "IfPossible")

#: The mode of a file: nine permission bits, no set-user-ID, set-group-ID or sticky bit.
MODE: Final = number(0, 0o777, "must be between 0 and 511 (octal 0777)")

#: `core/v1`: expiration of a service account's token, in seconds: from ten minutes to 2^32; by default an hour.
SHORTEST_TOKEN, LONGEST_TOKEN = 600, 2**32

#: CSI: maximum length of the name of a driver, in characters.
DRIVER_LIMIT: Final = 63

#: Sources that the kubelet no longer mounts.
GONE: Final = (
    *("cephfs", "flocker", "gitRepo", "glusterfs", "photonPersistentDisk", "quobyte", "rbd", "scaleIO", "storageos"),
)
#: Sources that are rare, or provided by CSI drivers today.
RARE: Final = (
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "fc", "flexVolume", "gcePersistentDisk", "iscsi"),
    *("portworxVolume", "vsphereVolume"),
)
#: The usual sources.
_PLAIN: Final = ("configMap", "emptyDir", "hostPath", "nfs", "persistentVolumeClaim", "secret")

#: An amount of memory in its usual form.
_Size: TypeAlias = Annotated[str, Meta(pattern=whole_text("[0-9]{1,12}(?:[kMGT]|[KMGT]i)?"))]


def without_backsteps(value: Any, path: Path) -> Iterator[Cause]:
    """A path has no element `..`, by which it could leave its folder."""
    if isinstance(value, str) and ".." in value.split("/"):
        yield Invalid(path, value, "must not contain '..'")


def relative(value: Any, path: Path) -> Iterator[Cause]:
    """A path within a volume is relative to the volume's root, and stays below it."""
    if isinstance(value, str) and value.startswith("/"):
        yield Invalid(path, value, "must be a relative path")
    yield from without_backsteps(value, path)


def _file_path(value: Any, path: Path) -> Iterator[Cause]:
    """A file's path is relative, and not one of the names `..*`, which the kubelet reserves (`core/v1`, KeyToPath)."""
    yield from relative(value, path)
    if isinstance(value, str) and value.startswith("..") and value != ".." and not value.startswith("../"):
        yield Invalid(path, value, "must not begin with '..'")


def _absolute(value: Any, path: Path) -> Iterator[Cause]:
    if not str(value).startswith("/"):
        yield Invalid(path, value, "must be an absolute path")


def _medium(value: Any, path: Path) -> Iterator[Notice]:
    """The API server does not check the medium of an emptyDir; the kubelet cannot mount an unknown medium."""
    if isinstance(value, str) and value not in {"", "Memory"} and not value.startswith("HugePages"):
        detail = 'unknown medium, the pod would not start: use "Memory" or "HugePages", or remove the field'
        yield Notice(path, detail)


def _driver(value: Any, path: Path) -> Iterator[Cause]:
    if len(str(value)) > DRIVER_LIMIT:
        yield TooLong(path, value, DRIVER_LIMIT)
    elif fault := names.dns_subdomain(str(value).lower()):
        yield Invalid(path, value, fault.replace("lower case letters", "letters"))


def _one_reference(item: Any, path: Path) -> Iterator[Notice]:
    """A file contains one field or one resource (`core/v1` validation, DownwardAPIVolumeFile)."""
    present = [name for name in _REFERENCES if item.get(name) is not None]
    if len(present) > 1:
        yield Invalid(path, "fieldRef and resourceFieldRef", "must have only one of them")
    if not present:
        yield Required(path, "must set fieldRef or resourceFieldRef")
    for name in present[:1]:
        yield from _REFERENCES[name].check(item[name], path / name)


def _files_differ(sources: Any, path: Path) -> Iterator[Cause]:
    """Paths of listed files are unique; those of tokens are not compared (`core/v1` validation, VolumeProjection)."""
    used: dict[str, Path] = {}
    for index, source in objects(sources):
        for name in ("secret", "configMap", "downwardAPI"):
            for number_, item in objects(mapping(source.get(name)).get("items")):
                file, here = text(item.get("path")), path / index / name / "items" / number_ / "path"
                if file and used.setdefault(file, here) is not here:
                    yield Duplicate(here, file, f"already used by {used[file]}")


def _claim(spec: Any, path: Path) -> Iterator[Notice]:
    """A claim requests storage and has access modes; ReadWriteOncePod must be the only mode."""
    modes = items(spec.get("accessModes"))
    if not modes:
        yield Required(path / "accessModes", "must be at least one of " + ", ".join(ACCESS_MODES))
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            yield NotSupported(path / "accessModes" / index, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in modes for mode in ACCESS_MODES[:3]):
        yield Forbidden(path / "accessModes", "ReadWriteOncePod must be the only access mode")
    resources, here = mapping(spec.get("resources")), path / "resources"
    for field in ("requests", "limits"):
        for name, value in mapping(resources.get(field)).items():
            rule = _STORAGE if (field, name) == ("requests", "storage") else _AMOUNT
            yield from rule.check(value, (here / field).key(name))
    if "storage" not in mapping(resources.get("requests")):
        yield Required((here / "requests").key("storage"), "must be the size of the volume, such as 10Gi")


def _claim_template(template: Any, path: Path) -> Iterator[Notice]:
    yield from CLAIM_SPEC.check(mapping(template.get("spec")), path / "spec")


def _must_be(meaning: str, check: Check = nothing, plain: Any = Text) -> ValueRule:
    return need(ValueRule(check, plain), f"must be {meaning}")


#: The fields that a file may contain, in addition to single labels and annotations.
_FILE_FIELDS: Final = tuple(f"metadata.{field}" for field in ("annotations", "labels", "name", "namespace", "uid"))
_REFERENCES: Final[Rules] = {
    "fieldRef": field_reference(_FILE_FIELDS),
    "resourceFieldRef": resource_reference(of_container=False),
}
_FILE_PATH: Final = _must_be("the path of the file in the volume", _file_path, RelativePath)
_KEYS: Final = listed(fields(key=_must_be("the key to project"), path=_FILE_PATH, mode=MODE))
_DOWNWARD: Final = listed(fields(_one_reference, path=_FILE_PATH, mode=MODE))
_CONFIG_MAP: Final = {"name": _must_be("the name of the ConfigMap"), "items": _KEYS}
_SECRET: Final = _must_be("the name of the Secret")
_PROJECTION: Final = one_source(
    {
        "secret": fields(name=_SECRET, items=_KEYS),
        "configMap": fields(**_CONFIG_MAP),
        "downwardAPI": fields(items=_DOWNWARD),
        "serviceAccountToken": fields(path=_FILE_PATH, expirationSeconds=number(SHORTEST_TOKEN, LONGEST_TOKEN)),
    }
)
_STORAGE: Final = amount("must be greater than zero", above=True)
_AMOUNT: Final = amount()
_SUBDOMAIN: Final = formatted(names.dns_subdomain)

#: The spec of a claim (`core/v1` validation, PersistentVolumeClaimSpec).
CLAIM_SPEC: Final = fields(
    _claim,
    selector=SELECTOR,
    storageClassName=_SUBDOMAIN,
    volumeAttributesClassName=_SUBDOMAIN,
    volumeMode=one_of(VOLUME_MODES, empty=True),
)

#: The sources (`core/v1` VolumeSource and its validation, Kubernetes 1.36).
SOURCES: Final[Rules] = {
    "emptyDir": fields(
        sizeLimit=amount("must not be negative", plain=_Size),
        medium=ValueRule(_medium, Literal["", "Memory"]),
    ),
    "hostPath": fields(
        path=_must_be("the path of a file or directory on the node", without_backsteps, AbsolutePath),
        type=one_of(("", *HOST_PATH_TYPES)),
    ),
    "secret": fields(secretName=_SECRET, defaultMode=MODE, items=_KEYS, optional=anything(bool)),
    "nfs": fields(
        server=_must_be("the name or address of the NFS server"),
        path=_must_be("the path that the server exports", _absolute, AbsolutePath),
        readOnly=anything(bool),
    ),
    "persistentVolumeClaim": fields(
        claimName=_must_be("the name of a PersistentVolumeClaim"),
        readOnly=anything(bool),
    ),
    "downwardAPI": fields(defaultMode=MODE, items=_DOWNWARD),
    "configMap": fields(**_CONFIG_MAP, defaultMode=MODE, optional=anything(bool)),
    "projected": fields(defaultMode=MODE, sources=listed(fields(_PROJECTION), _files_differ)),
    "csi": fields(
        driver=_must_be("the name of the CSI driver", _driver),
        nodePublishSecretRef=fields(name=_must_be("the name of the secret", _SUBDOMAIN.check)),
    ),
    "ephemeral": fields(
        volumeClaimTemplate=need(
            fields(_claim_template, metadata=fields(labels=LABELS)),
            "must be the template of the claim that is created for the pod",
        )
    ),
    "image": fields(reference=_must_be("the image reference"), pullPolicy=one_of(("Always", "IfNotPresent", "Never"))),
    **dict.fromkeys((*GONE, *RARE), ValueRule()),
}

_one_source = one_source(SOURCES, "a volume has exactly one source")


def _source(volume: Any, path: Path) -> Iterator[Notice]:
    """A volume has one source; without a source it is an emptyDir (`core/v1` defaults and validation, VolumeSource)."""
    yield from _one_source(volume, path)
    present = [name for name in volume if name in SOURCES and volume[name] is not None]
    if not present:
        yield Notice(path, "has no source and will be an empty directory: set emptyDir: {} to make this explicit")
    elif len(present) == 1 and present[0] in GONE:
        instead = "clone the repository in an init container" if present[0] == "gitRepo" else "use a CSI driver"
        yield Notice(path / present[0], f"no longer supported by Kubernetes: {instead}")


_NAME: Final = need(formatted(names.dns_label, DnsLabel), "must be the name that volume mounts use")
_VOLUMES: Final = listed(fields(_source, name=_NAME), distinct("name", "already used by {first}"))


def _mount(mount: Any, path: Path) -> Iterator[Cause]:
    """A mount has only one kind of sub path, and is recursively read-only only if it is read-only."""
    if mount.get("subPath") and mount.get("subPathExpr"):
        detail = "may not be set together with subPath: remove one of them"
        yield Invalid(path / "subPathExpr", mount["subPathExpr"], detail)
    mode = mount.get("recursiveReadOnly")
    if mode in ("Enabled", "IfPossible") and mount.get("readOnly") is not True:
        yield Forbidden(path / "recursiveReadOnly", f"{mode} requires readOnly to be true")


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    """Mounts and devices refer to volumes of the pod; only a privileged container may propagate mounts to its node."""
    volumes = {text(volume.get("name")): volume for _, volume in reversed([*objects(spec_of(pod).get("volumes"))])}
    for container in containers(pod, path):
        privileged = mapping(container.json.get("securityContext")).get("privileged") is True
        for field in ("volumeMounts", "volumeDevices"):
            for index, mount in objects(container.json.get(field)):
                name, here = text(mount.get("name")), container.path / field / index
                if name and name not in volumes:
                    yield NotFound(here / "name", name, "must be the name of one of the pod's volumes")
                if mount.get("mountPropagation") == "Bidirectional" and not privileged:
                    detail = "Bidirectional is only allowed in privileged containers: use HostToContainer, or remove it"
                    yield Forbidden(here / "mountPropagation", detail)
        yield from _devices(container.json, volumes, container.path)


def _devices(container: Json, volumes: Mapping[str, Json], path: Path) -> Iterator[Cause]:
    """Only a claim can be a device; a container uses it as files or as a device, and at a unique path."""
    mounts = [*objects(container.get("volumeMounts"))]
    mounted = {text(mount.get("name")): path / "volumeMounts" / index for index, mount in reversed(mounts)}
    used = {text(mount.get("mountPath")): path / "volumeMounts" / index for index, mount in reversed(mounts)}
    for index, device in objects(container.get("volumeDevices")):
        name, place = text(device.get("name")), text(device.get("devicePath"))
        here = path / "volumeDevices" / index
        if name in volumes and all(volumes[name].get(source) is None for source in _CLAIMS):
            yield Invalid(here / "name", name, "must be a volume whose source is persistentVolumeClaim or ephemeral")
        if name and name in mounted:
            yield Invalid(here / "name", name, f"is already mounted by {mounted[name]}")
        if place and place in used:
            yield Invalid(here / "devicePath", place, f"must not be the mountPath of {used[place]}")


def _plain_volumes_agree(spec: Json, containers: Sequence[Json]) -> bool:
    """Names are unique, each volume has one source, mounts refer to volumes, and mount paths are unique."""
    volumes = spec.get("volumes", ())
    # A volume with one source has two keys.
    names_ = {volume["name"] for volume in volumes if len(volume) == 2}
    if len(names_) != len(volumes):
        return False
    for container in containers:
        if mounts := container.get("volumeMounts"):
            mounted = {mount["mountPath"]: mount["name"] for mount in mounts}
            if len(mounted) != len(mounts) or not names_.issuperset(mounted.values()):
                return False
    return True


_VOLUME_NAME: Final = need(anything(Text), "must be the name of one of the pod's volumes")
_MOUNT: Final = fields(
    _mount,
    agreed,
    name=_VOLUME_NAME,
    mountPath=need(anything(Text), "must be the path in the container where the volume is mounted"),
    readOnly=anything(bool),
    subPath=ValueRule(relative, RelativePath),
    subPathExpr=ValueRule(relative),
    mountPropagation=one_of(PROPAGATIONS, PROPAGATIONS[1:], empty=True),
    recursiveReadOnly=rare(one_of(RECURSIVE_MODES, empty=True)),
)
_DEVICE: Final = fields(
    name=_VOLUME_NAME,
    devicePath=need(ValueRule(without_backsteps), "must be the path of the device in the container"),
)
_USED: Final = "already used by {first}"

FAMILY = family(
    _agreement,
    spec={
        "volumes": ValueRule(
            _VOLUMES.check, listed(fields(name=_NAME, **{name: SOURCES[name] for name in _PLAIN})).plain
        )
    },
    container={
        "volumeMounts": listed(_MOUNT, distinct("mountPath", _USED), agreed=True),
        "volumeDevices": rare(listed(_DEVICE, distinct("name", _USED), distinct("devicePath", _USED))),
    },
    agree=_plain_volumes_agree,
)
