"""Volumes from storage over the network: nfs, iscsi, fc, rbd, cephfs, glusterfs and others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobgate import names
from jobgate.kinds.common.pod.reading import whole
from jobgate.kinds.common.pod.shapes import AbsolutePath, Plain, Text
from jobgate.kinds.common.pod.volumes.fields import Fields, mapping, required, text, within
from webhook.cause import Cause, Invalid, Notice, Required
from webhook.path import Path

#: SCSI: logical unit numbers that Kubernetes takes.
HIGHEST_LUN = 255

#: `core/v1`: longest `<volume>:<portal>` where the initiator is named, in bytes: an iSCSI interface is called so.
INTERFACE_LIMIT = 64

#: Quobyte: longest tenant, in bytes.
TENANT_LIMIT = 64

_NAME_FORBIDS = re.compile(r"[,;*&$|\t\n\f\r ]")
_NOT_OF_AUTHORITY = re.compile(r"[^A-Za-z0-9.-]")
_AUTHORITY = re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]")
_EUI = re.compile(r"eui.[A-Za-z0-9]{16}\Z")
_NAA = re.compile(r"naa.[A-Za-z0-9]{32}\Z")
_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*):[^\[\]:]*\Z")


class PlainNfs(Plain):
    """The plain shape of an nfs volume."""

    server: Text
    path: AbsolutePath
    read_only: bool = False


def nfs(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An NFS volume has a server and an absolute path (`core/v1` validation, NFSVolumeSource)."""
    yield from required(
        source, path, {"server": "the name or address of the NFS server", "path": "the path that the server exports"}
    )
    exported = text(source, "path")
    if exported and not exported.startswith("/"):
        yield Invalid(path / "path", exported, "must be an absolute path")


def iscsi(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An iSCSI volume has a portal, well-formed names, a LUN, and a secret for CHAP (`core/v1`, ISCSIVolumeSource)."""
    yield from required(
        source,
        path,
        {"targetPortal": "the address of the portal, with the port if it is not 3260", "iqn": "the name of the target"},
    )
    yield from _iscsi_name(text(source, "iqn"), path / "iqn")
    yield from within(source, "lun", path, 0, HIGHEST_LUN)
    has_chap = source.get("chapAuthDiscovery") is True or source.get("chapAuthSession") is True
    if has_chap and source.get("secretRef") is None:
        yield Required(
            path / "secretRef", "must be the Secret with the credentials when CHAP authentication is enabled"
        )
    initiator = source.get("initiatorName")
    if initiator == "":
        yield Invalid(path / "initiatorName", initiator, "must begin with iqn, eui or naa")
    elif isinstance(initiator, str):
        yield from _iscsi_name(initiator, path / "initiatorName")


def iscsi_interface_name(volume: Fields, path: Path) -> Iterator[Cause]:
    """The node names an interface after volume and portal if the initiator is named (`core/v1`, ISCSIVolumeSource)."""
    source = mapping(volume, "iscsi")
    if not isinstance(source.get("initiatorName"), str):
        return
    name, portal = text(volume, "name"), text(source, "targetPortal")
    if len(f"{name}:{portal}".encode(errors="replace")) > INTERFACE_LIMIT:
        detail = f"with ':' and targetPortal, must be at most {INTERFACE_LIMIT} bytes when initiatorName is set"
        yield Invalid(path / "name", name, detail)


def _iscsi_name(name: str, path: Path) -> Iterator[Cause]:
    """An iSCSI name is of one of three forms (RFC 3720, 3980; `core/v1` validation)."""
    if not name:
        return
    form = name[:3]
    if form not in ("iqn", "eui", "naa"):
        yield Invalid(path, name, "must begin with iqn, eui or naa")
    elif form == "iqn" and not _is_qualified_iscsi_name(name):
        yield Invalid(path, name, "must have the form iqn.2001-04.com.example:storage.disk1")
    elif form == "eui" and not _EUI.match(name):
        yield Invalid(path, name, "must be eui. followed by 16 letters or digits")
    elif form == "naa" and not _NAA.match(name):
        yield Invalid(path, name, "must be naa. followed by 32 letters or digits")


def _is_qualified_iscsi_name(name: str) -> bool:
    """Return whether `iqn.<year>-<month>.<authority>:<name>` ends the text.

    Kubernetes searches for it anywhere, so that what stands before is free; taken apart here, to stay linear.
    """
    parts = _NAME_FORBIDS.split(name)[-1].split(":")
    return any(
        _AUTHORITY.search(_NOT_OF_AUTHORITY.split(part)[-1]) and (index < len(parts) - 2 or parts[-1])
        for index, part in enumerate(parts[:-1])
    )


def fc(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Fibre Channel volume is found by target and LUN, or by world wide identifiers (`core/v1`, FCVolumeSource)."""
    targets, identifiers = bool(source.get("targetWWNs")), bool(source.get("wwids"))
    if targets == identifiers:
        detail = "must set targetWWNs (with lun) or wwids"
        yield Invalid(path, "targetWWNs and wwids", detail) if targets else Required(path / "targetWWNs", detail)
    if targets:
        if whole(source.get("lun")) is None:
            yield Required(path / "lun", "must be the LUN of the target")
        yield from within(source, "lun", path, 0, HIGHEST_LUN)


def rbd(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Ceph block device has monitors and an image (`core/v1` validation, RBDVolumeSource)."""
    yield from required(source, path, {"monitors": "at least one Ceph monitor", "image": "the name of the image"})


def cephfs(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Ceph file system has monitors (`core/v1` validation, CephFSVolumeSource)."""
    yield from required(source, path, {"monitors": "at least one Ceph monitor"})


def glusterfs(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Gluster volume has endpoints and a path (`core/v1` validation, GlusterfsVolumeSource)."""
    yield from required(
        source, path, {"endpoints": "the name of the Endpoints object of the servers", "path": "the name of the volume"}
    )


def quobyte(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Quobyte volume has registries as host:port, a name, and a short tenant (`core/v1`, QuobyteVolumeSource)."""
    yield from required(
        source, path, {"registry": "host:port, or a comma-separated list of them", "volume": "its name"}
    )
    registry, tenant = text(source, "registry"), text(source, "tenant")
    if registry and not all(map(_HOST_PORT.match, registry.split(","))):
        yield Invalid(path / "registry", registry, "must be host:port, or a comma-separated list of them")
    if len(tenant.encode(errors="replace")) > TENANT_LIMIT and registry:
        yield Invalid(path / "tenant", tenant, f"must be a UUID, and at most {TENANT_LIMIT} bytes")


def flocker(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Flocker data set is found by name or by UUID (`core/v1` validation, FlockerVolumeSource)."""
    name, uuid = text(source, "datasetName"), text(source, "datasetUUID")
    if not name and not uuid:
        yield Required(path, "must set datasetName or datasetUUID")
    if name and uuid:
        yield Invalid(path, "datasetName and datasetUUID", "must have only one of them")
    if "/" in name:
        yield Invalid(path / "datasetName", name, "must not contain '/'")


def scale_io(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A ScaleIO volume has a gateway, a system and a name (`core/v1` validation, ScaleIOVolumeSource)."""
    yield from required(
        source,
        path,
        {"gateway": "the address of the gateway", "system": "the name of the system", "volumeName": "its name"},
    )


def storage_os(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A StorageOS volume's name and namespace are DNS labels (`core/v1` validation, StorageOSVolumeSource)."""
    yield from required(source, path, {"volumeName": "the name of the volume"})
    for field in ("volumeName", "volumeNamespace"):
        name = text(source, field)
        if name and (fault := names.dns_label(name)):
            yield Invalid(path / field, name, fault)
    yield from secret_name(source, path)


def secret_name(source: Fields, path: Path) -> Iterator[Cause]:
    """A reference to a secret names it (`core/v1` validation, `secretRef` of cinder and storageos)."""
    reference = source.get("secretRef")
    if reference is not None:
        yield from required(mapping(source, "secretRef"), path / "secretRef", {"name": "the name of the secret"})
