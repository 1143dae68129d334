"""Volumes of pods, with the sources that training jobs use.

The rules are those of `core/v1` validation of Kubernetes (`ValidateVolumes`, `validateVolumeSource`). Of sources that
are rare or that Kubernetes has removed only their presence matters here; what is in them is for the API server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.downward import field_reference, resource_reference
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.placement import LABELS, SELECTOR
from jobgate.kinds.common.pod.reading import items, mapping, spec_of
from jobgate.kinds.common.pod.shapes import AbsolutePath, DnsLabel, RelativePath, Text, whole_text
from jobgate.kinds.common.pod.values import (
    Check,
    Rules,
    ValueRule,
    amount,
    anything,
    distinct,
    fields,
    formatted,
    listed,
    need,
    nothing,
    number,
    one_of,
    one_source,
)
from webhook.cause import Cause, Forbidden, Invalid, Notice, NotSupported, Required, TooLong
from webhook.path import Path

#: `core/v1` HostPathType, without the empty one.
HOST_PATH_TYPES: Final = (
    *("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
#: `core/v1` PersistentVolumeAccessMode and PersistentVolumeMode.
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

#: The highest mode of a file: nine permission bits, no set-user-ID, set-group-ID or sticky bit.
MODE: Final = number(0, 0o777, "must be between 0 and 511 (octal 0777)")

#: `core/v1`: how long a token of a service account may last, in seconds: ten minutes to 2^32; absent is an hour.
SHORTEST_TOKEN, LONGEST_TOKEN = 600, 2**32

#: CSI: longest name of a driver, in characters.
DRIVER_LIMIT: Final = 63

#: Sources that kubelet no longer mounts, and the Kubernetes minor that removed the code (its changelogs).
GONE: Final = {
    "cephfs": "1.31",
    "flocker": "1.25",
    "gitRepo": "1.33",
    "glusterfs": "1.26",
    "photonPersistentDisk": "1.16",
    "quobyte": "1.25",
    "rbd": "1.31",
    "scaleIO": "1.22",
    "storageos": "1.25",
}
#: Sources that are rare, or served by CSI drivers today.
RARE: Final = (
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "fc", "flexVolume", "gcePersistentDisk", "iscsi"),
    *("portworxVolume", "vsphereVolume"),
)
#: The sources that valid jobs usually have.
_PLAIN: Final = ("configMap", "emptyDir", "hostPath", "nfs", "persistentVolumeClaim", "secret")

#: An amount of memory as people write it.
_Size: TypeAlias = Annotated[str, Meta(pattern=whole_text("[0-9]{1,12}(?:[kMGT]|[KMGT]i)?"))]

_MEDIUM = re.compile(r"(Memory|HugePages(-.+)?)?\Z")


def without_backsteps(value: Any, path: Path) -> Iterator[Cause]:
    """A path has no `..` among its steps: it must not lead out of where it begins."""
    if isinstance(value, str) and ".." in value.split("/"):
        yield Invalid(path, value, "must not contain '..'")


def relative(value: Any, path: Path) -> Iterator[Cause]:
    """A path within a volume is relative to the volume's root, and stays below it."""
    if isinstance(value, str) and value.startswith("/"):
        yield Invalid(path, value, "must be a relative path")
    yield from without_backsteps(value, path)


def _file_path(value: Any, path: Path) -> Iterator[Cause]:
    """A file's path is relative, and not one of the names `..*`, which kubelet reserves (`core/v1`, KeyToPath)."""
    yield from relative(value, path)
    if isinstance(value, str) and value.startswith("..") and value != ".." and not value.startswith("../"):
        yield Invalid(path, value, "must not begin with '..'")


def _absolute(value: Any, path: Path) -> Iterator[Cause]:
    if not str(value).startswith("/"):
        yield Invalid(path, value, "must be an absolute path")


def _medium(value: Any, path: Path) -> Iterator[Notice]:
    """The medium of an emptyDir is not checked before a node mounts it."""
    if isinstance(value, str) and not _MEDIUM.match(value):
        detail = 'unknown medium, the pod would not start: use "Memory" or "HugePages", or remove the field'
        yield Notice(path, detail)


def _driver(value: Any, path: Path) -> Iterator[Cause]:
    if len(str(value)) > DRIVER_LIMIT:
        yield TooLong(path, value, DRIVER_LIMIT)
    elif fault := names.dns_subdomain(str(value).lower()):
        yield Invalid(path, value, fault.replace("lower case letters", "letters"))


def _one_reference(item: Any, path: Path) -> Iterator[Notice]:
    """A file shows one thing, a field or a resource (`core/v1` validation, DownwardAPIVolumeFile)."""
    present = [name for name in _REFERENCES if item.get(name) is not None]
    if len(present) > 1:
        yield Invalid(path, "fieldRef and resourceFieldRef", "must have only one of them")
    if not present:
        yield Required(path, "must set fieldRef or resourceFieldRef")
    for name in present[:1]:
        yield from _REFERENCES[name].check(item[name], path / name)


def _claim(spec: Any, path: Path) -> Iterator[Notice]:
    """A claim has access modes, of which ReadWriteOncePod stands alone, and requests storage."""
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
        for name, given in mapping(resources.get(field)).items():
            rule = _STORAGE if (field, name) == ("requests", "storage") else _AMOUNT
            yield from rule.check(given, (here / field).key(name))
    if "storage" not in mapping(resources.get("requests")):
        yield Required((here / "requests").key("storage"), "must be the size of the volume, such as 10Gi")


def _claim_template(template: Any, path: Path) -> Iterator[Notice]:
    yield from CLAIM_SPEC.check(mapping(template.get("spec")), path / "spec")


def _must_be(meaning: str, check: Check = nothing, plain: Any = Text) -> ValueRule:
    return need(ValueRule(check, plain), f"must be {meaning}")


#: The fields that a file may hold; labels and annotations one by one, beside these.
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

#: What a claim requests (`core/v1` validation, PersistentVolumeClaimSpec).
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
    "projected": fields(defaultMode=MODE, sources=listed(fields(_PROJECTION))),
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
    """A volume has one source; without any it is an emptyDir (`core/v1` defaults and validation, VolumeSource)."""
    yield from _one_source(volume, path)
    present = [name for name in volume if name in SOURCES and volume[name] is not None]
    if not present:
        yield Notice(path, "has no source and will be an empty directory: set emptyDir: {} to make this explicit")
    elif len(present) == 1 and present[0] in GONE:
        instead = "clone the repository in an init container" if present[0] == "gitRepo" else "use a CSI driver"
        yield Notice(path / present[0], f"not supported since Kubernetes {GONE[present[0]]}: {instead}")


_NAME: Final = need(formatted(names.dns_label, DnsLabel), "must be the name that volume mounts use")
_VOLUMES: Final = listed(fields(_source, name=_NAME), distinct("name", "already used by {first}"))


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Notice]:
    """Check the volumes of a pod whose template is at `path`."""
    yield from _VOLUMES.check(spec_of(pod).get("volumes"), path / "spec" / "volumes")


def _names_differ_and_each_has_one_source(spec: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    volumes = spec.get("volumes")
    # A volume of one source has two keys.
    return not volumes or len({volume["name"] for volume in volumes if len(volume) == 2}) == len(volumes)


FAMILY = Family(
    check=check,
    spec={"volumes": listed(fields(name=_NAME, **{name: SOURCES[name] for name in _PLAIN})).plain},
    agree=_names_differ_and_each_has_one_source,
)
