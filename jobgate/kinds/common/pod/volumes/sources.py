"""What a volume can be: a rule for each source of `core/v1` VolumeSource."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.reading import mapping, text, whole
from jobgate.kinds.common.pod.shapes import AbsolutePath, Text, whole_text
from jobgate.kinds.common.pod.values import (
    Check,
    Finding,
    Rules,
    ValueRule,
    amount,
    anything,
    fields,
    formatted,
    need,
    nothing,
    number,
    one_of,
)
from jobgate.kinds.common.pod.volumes.claims import CLAIM, EPHEMERAL
from jobgate.kinds.common.pod.volumes.files import (
    CONFIG_MAP,
    DOWNWARD_API,
    PROJECTED,
    SECRET,
    relative,
    without_backsteps,
)
from webhook.cause import Cause, Invalid, Notice, NotSupported, Required, TooLong
from webhook.path import Path

#: `core/v1` HostPathType.
HOST_PATH_TYPES: Final = (
    "",
    *("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
#: `core/v1` AzureDataDiskCachingMode.
CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
#: `core/v1` AzureDataDiskKind, and how the URI of a disk of that kind begins; absent is Shared.
DISK_URIS: Final = {"Dedicated": "https://", "Managed": "/subscriptions/", "Shared": "https://"}
#: `core/v1` PullPolicy.
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
#: SCSI: logical unit numbers that Kubernetes takes; and its numbers of partitions, of which 0 is the whole disk.
LUN: Final = number(0, 255)
PARTITION: Final = number(0, 255)
#: CSI: longest name of a driver, in characters. Quobyte: longest tenant, in bytes.
DRIVER_LIMIT: Final = 63
TENANT_LIMIT: Final = 64
#: `core/v1`: longest `<volume>:<portal>` where the initiator is named, in bytes: an iSCSI interface is called so.
INTERFACE_LIMIT: Final = 64

#: An amount of memory as people write it.
_Size: TypeAlias = Annotated[str, Meta(pattern=whole_text("[0-9]{1,12}(?:[kMGT]|[KMGT]i)?"))]

_MEDIUM = re.compile(r"(Memory|HugePages(-.+)?)?\Z")
_ISCSI_NAMES: Final = {
    "iqn": (
        r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+",
        "have the form iqn.2001-04.com.example:storage.disk1",
    ),
    "eui": (r"eui.[A-Za-z0-9]{16}", "be eui. followed by 16 letters or digits"),
    "naa": (r"naa.[A-Za-z0-9]{32}", "be naa. followed by 32 letters or digits"),
}
_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*):[^\[\]:]*\Z")


def _must_be(meaning: str, check: Check = nothing, plain: Any = Text) -> ValueRule:
    return need(ValueRule(check, plain), f"must be {meaning}")


def _medium(value: Any, path: Path) -> Iterator[Notice]:
    """The medium of an emptyDir is not judged before a node mounts it."""
    if isinstance(value, str) and not _MEDIUM.match(value):
        detail = 'unknown medium, the pod would not start: use "Memory" or "HugePages", or remove the field'
        yield Notice(path, detail)


def _gone(_: Any, path: Path) -> Iterator[Notice]:
    yield Notice(path, "not supported since Kubernetes 1.33: clone the repository in an init container")


def _absolute(value: Any, path: Path) -> Iterator[Cause]:
    if not str(value).startswith("/"):
        yield Invalid(path, value, "must be an absolute path")


def _iscsi_name(value: Any, path: Path) -> Iterator[Cause]:
    """An iSCSI name is of one of three forms (RFC 3720, 3980; `core/v1` validation)."""
    pattern, right = _ISCSI_NAMES.get(str(value)[:3], ("(?!)", "begin with iqn, eui or naa"))
    if not re.fullmatch(pattern, str(value)):
        yield Invalid(path, value, f"must {right}")


def _chap_has_a_secret(source: Any, path: Path) -> Iterator[Cause]:
    if True in (source.get("chapAuthDiscovery"), source.get("chapAuthSession")) and source.get("secretRef") is None:
        yield Required(
            path / "secretRef", "must be the Secret with the credentials when CHAP authentication is enabled"
        )


def iscsi_interface_name(volume: Any, path: Path) -> Iterator[Cause]:
    """The node names an interface after volume and portal if the initiator is named (`core/v1`, ISCSIVolumeSource)."""
    source = mapping(volume.get("iscsi"))
    name = f"{text(volume.get('name'))}:{text(source.get('targetPortal'))}"
    if isinstance(source.get("initiatorName"), str) and len(name.encode(errors="replace")) > INTERFACE_LIMIT:
        detail = f"with ':' and targetPortal, must be at most {INTERFACE_LIMIT} bytes when initiatorName is set"
        yield Invalid(path / "name", text(volume.get("name")), detail)


def _fibre_channel(source: Any, path: Path) -> Iterator[Finding]:
    """A Fibre Channel volume is found by target and LUN, or by world wide identifiers (`core/v1`, FCVolumeSource)."""
    targets = bool(source.get("targetWWNs"))
    if targets == bool(source.get("wwids")):
        detail = "must set targetWWNs (with lun) or wwids"
        yield Invalid(path, "targetWWNs and wwids", detail) if targets else Required(path / "targetWWNs", detail)
    if targets and whole(source.get("lun")) is None:
        yield Required(path / "lun", "must be the LUN of the target")
    elif targets:
        yield from LUN.check(source["lun"], path / "lun")


def _registry(value: Any, path: Path) -> Iterator[Cause]:
    if not all(map(_HOST_PORT.match, str(value).split(","))):
        yield Invalid(path, value, "must be host:port, or a comma-separated list of them")


def _tenant(value: Any, path: Path) -> Iterator[Cause]:
    if len(str(value).encode(errors="replace")) > TENANT_LIMIT:
        yield Invalid(path, value, f"must be a UUID, and at most {TENANT_LIMIT} bytes")


def _data_set(source: Any, path: Path) -> Iterator[Cause]:
    """A Flocker data set is found by name or by UUID (`core/v1` validation, FlockerVolumeSource)."""
    name, uuid = text(source.get("datasetName")), text(source.get("datasetUUID"))
    if not name and not uuid:
        yield Required(path, "must set datasetName or datasetUUID")
    if name and uuid:
        yield Invalid(path, "datasetName and datasetUUID", "must have only one of them")
    if "/" in name:
        yield Invalid(path / "datasetName", name, "must not contain '/'")


def _disk_uri(source: Any, path: Path) -> Iterator[Cause]:
    """The URI of an Azure disk is as its kind wants it (`core/v1` validation, AzureDiskVolumeSource)."""
    kind, uri = source.get("kind"), text(source.get("diskURI"))
    kind = "Shared" if kind is None else str(kind)
    if kind not in DISK_URIS:
        yield NotSupported(path / "kind", kind, DISK_URIS)
    elif uri and not uri.startswith(DISK_URIS[kind]):
        yield Invalid(path / "diskURI", uri, f"must begin with {DISK_URIS[kind]} when kind is {kind}")


def _driver(value: Any, path: Path) -> Iterator[Cause]:
    if len(str(value)) > DRIVER_LIMIT:
        yield TooLong(path, value, DRIVER_LIMIT)
    elif fault := names.dns_subdomain(str(value).lower()):
        yield Invalid(path, value, fault.replace("lower case letters", "letters"))


def _options(options: Any, path: Path) -> Iterator[Cause]:
    """The options of a flexVolume keep off reserved prefixes (`core/v1`, FlexVolumeSource)."""
    for option in mapping(options):
        if f".{option.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield Invalid(path.key(option), option, "must not be in kubernetes.io or k8s.io")


_SECRET: Final = fields(name=_must_be("the name of the secret"))
_LABEL: Final = formatted(names.dns_label)

#: The sources (`core/v1` VolumeSource and its validation, Kubernetes 1.36), in the order in which the API server looks.
SOURCES: Final[Rules] = {
    "emptyDir": fields(
        sizeLimit=amount("must not be negative", plain=_Size),
        medium=ValueRule(_medium, Literal["", "Memory"]),
    ),
    "hostPath": fields(
        path=_must_be("the path of a file or directory on the node", without_backsteps, AbsolutePath),
        type=one_of(HOST_PATH_TYPES),
    ),
    "gitRepo": fields(_gone, repository=_must_be("the URL of the repository"), directory=ValueRule(relative)),
    "gcePersistentDisk": fields(pdName=_must_be("the name of the disk"), partition=PARTITION),
    "awsElasticBlockStore": fields(volumeID=_must_be("the ID of the EBS volume"), partition=PARTITION),
    "secret": SECRET,
    "nfs": fields(
        server=_must_be("the name or address of the NFS server"),
        path=_must_be("the path that the server exports", _absolute, AbsolutePath),
        readOnly=anything(bool),
    ),
    "iscsi": fields(
        _chap_has_a_secret,
        targetPortal=_must_be("the address of the portal, with the port if it is not 3260"),
        iqn=_must_be("the name of the target", _iscsi_name),
        lun=LUN,
        initiatorName=ValueRule(_iscsi_name),
    ),
    "glusterfs": fields(
        endpoints=_must_be("the name of the Endpoints object of the servers"), path=_must_be("the name of the volume")
    ),
    "flocker": fields(_data_set),
    "persistentVolumeClaim": CLAIM,
    "rbd": fields(monitors=_must_be("at least one Ceph monitor"), image=_must_be("the name of the image")),
    "cinder": fields(volumeID=_must_be("the ID of the Cinder volume"), secretRef=_SECRET),
    "cephfs": fields(monitors=_must_be("at least one Ceph monitor")),
    "quobyte": fields(
        registry=_must_be("host:port, or a comma-separated list of them", _registry),
        volume=_must_be("its name"),
        tenant=ValueRule(_tenant),
    ),
    "downwardAPI": DOWNWARD_API,
    "fc": fields(_fibre_channel),
    "flexVolume": fields(driver=_must_be("the name of the driver"), options=ValueRule(_options)),
    "configMap": CONFIG_MAP,
    "azureFile": fields(
        secretName=_must_be("the Secret that contains the name and key of the account"),
        shareName=_must_be("the name of the share"),
    ),
    "vsphereVolume": fields(volumePath=_must_be("the path of the disk in its datastore")),
    "photonPersistentDisk": fields(pdID=_must_be("the ID of the disk")),
    "portworxVolume": fields(volumeID=_must_be("the ID of the volume")),
    "azureDisk": fields(
        _disk_uri,
        diskName=_must_be("the name of the disk"),
        diskURI=_must_be("the URI of the disk"),
        cachingMode=one_of(CACHING_MODES, empty=True),
    ),
    "storageos": fields(
        volumeName=_must_be("the name of the volume", _LABEL.check), volumeNamespace=_LABEL, secretRef=_SECRET
    ),
    "projected": PROJECTED,
    "scaleIO": fields(
        gateway=_must_be("the address of the gateway"),
        system=_must_be("the name of the system"),
        volumeName=_must_be("its name"),
    ),
    "csi": fields(
        driver=_must_be("the name of the CSI driver", _driver),
        nodePublishSecretRef=fields(name=_must_be("the name of the secret", formatted(names.dns_subdomain).check)),
    ),
    "ephemeral": EPHEMERAL,
    "image": fields(reference=_must_be("the image reference"), pullPolicy=one_of(PULL_POLICIES)),
}
