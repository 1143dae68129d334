"""Disks and shares of clouds: gcePersistentDisk, awsElasticBlockStore, azure*, cinder, vsphereVolume and others."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.volumes.fields import Fields, required, text, within
from jobgate.kinds.common.pod.volumes.network import secret_name
from webhook.cause import Cause, Invalid, Notice, NotSupported
from webhook.path import Path

#: `core/v1`: highest number of a partition; 0 is the whole disk.
HIGHEST_PARTITION = 255

#: `core/v1` AzureDataDiskCachingMode.
CACHING_MODES = ("None", "ReadOnly", "ReadWrite")

#: `core/v1` AzureDataDiskKind, and how the URI of a disk of that kind begins; absent is Shared.
DISK_URIS = {"Dedicated": "https://", "Managed": "/subscriptions/", "Shared": "https://"}


def gce_persistent_disk(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A GCE disk has a name and a partition (`core/v1` validation, GCEPersistentDiskVolumeSource)."""
    yield from required(source, path, {"pdName": "the name of the disk"})
    yield from within(source, "partition", path, 0, HIGHEST_PARTITION)


def aws_elastic_block_store(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An EBS volume has an ID and a partition (`core/v1` validation, AWSElasticBlockStoreVolumeSource)."""
    yield from required(source, path, {"volumeID": "the ID of the EBS volume"})
    yield from within(source, "partition", path, 0, HIGHEST_PARTITION)


def azure_file(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An Azure file share has a name and a secret (`core/v1` validation, AzureFileVolumeSource)."""
    yield from required(
        source,
        path,
        {
            "secretName": "the Secret that contains the name and key of the account",
            "shareName": "the name of the share",
        },
    )


def azure_disk(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An Azure disk has a name, and a URI as its kind wants it (`core/v1` validation, AzureDiskVolumeSource)."""
    yield from required(source, path, {"diskName": "the name of the disk", "diskURI": "the URI of the disk"})
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), text(source, "diskURI")
    if isinstance(caching, str) and caching not in CACHING_MODES:
        yield NotSupported(path / "cachingMode", caching, CACHING_MODES)
    kind = "Shared" if kind is None else kind
    if isinstance(kind, str) and kind not in DISK_URIS:
        yield NotSupported(path / "kind", kind, DISK_URIS)
    elif isinstance(kind, str) and uri and not uri.startswith(DISK_URIS[kind]):
        yield Invalid(path / "diskURI", uri, f"must begin with {DISK_URIS[kind]} when kind is {kind}")


def cinder(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An OpenStack volume has an ID (`core/v1` validation, CinderVolumeSource)."""
    yield from required(source, path, {"volumeID": "the ID of the Cinder volume"})
    yield from secret_name(source, path)


def vsphere_volume(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A vSphere disk has a path (`core/v1` validation, VsphereVirtualDiskVolumeSource)."""
    yield from required(source, path, {"volumePath": "the path of the disk in its datastore"})


def photon_persistent_disk(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Photon disk has an ID (`core/v1` validation, PhotonPersistentDiskVolumeSource)."""
    yield from required(source, path, {"pdID": "the ID of the disk"})


def portworx_volume(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A Portworx volume has an ID (`core/v1` validation, PortworxVolumeSource)."""
    yield from required(source, path, {"volumeID": "the ID of the volume"})
