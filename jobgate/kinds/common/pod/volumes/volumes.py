"""The volumes of a pod as a list: names, one source each, and the claims that are made for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.shapes import DnsLabel, Plain
from jobgate.kinds.common.pod.volumes import claims, cloud, cluster, drivers, local, network
from jobgate.kinds.common.pod.volumes.fields import Fields, each, mapping, objects, required, text
from jobgate.kinds.common.pod.volumes.projected import projected
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, Notice
from webhook.path import Path

_Check = Callable[[Fields, Path], Iterator[Cause | Notice]]

#: What a volume can be (`core/v1` VolumeSource, Kubernetes 1.36), in the order in which the API server looks.
SOURCES: Mapping[str, _Check] = {
    "emptyDir": local.empty_dir,
    "hostPath": local.host_path,
    "gitRepo": local.git_repo,
    "gcePersistentDisk": cloud.gce_persistent_disk,
    "awsElasticBlockStore": cloud.aws_elastic_block_store,
    "secret": cluster.secret,
    "nfs": network.nfs,
    "iscsi": network.iscsi,
    "glusterfs": network.glusterfs,
    "flocker": network.flocker,
    "persistentVolumeClaim": claims.persistent_volume_claim,
    "rbd": network.rbd,
    "cinder": cloud.cinder,
    "cephfs": network.cephfs,
    "quobyte": network.quobyte,
    "downwardAPI": cluster.downward_api,
    "fc": network.fc,
    "flexVolume": drivers.flex_volume,
    "configMap": cluster.config_map,
    "azureFile": cloud.azure_file,
    "vsphereVolume": cloud.vsphere_volume,
    "photonPersistentDisk": cloud.photon_persistent_disk,
    "portworxVolume": cloud.portworx_volume,
    "azureDisk": cloud.azure_disk,
    "storageos": network.storage_os,
    "projected": projected,
    "scaleIO": network.scale_io,
    "csi": drivers.csi,
    "ephemeral": claims.ephemeral,
    "image": drivers.image,
}

#: Sources that kubelet no longer mounts, and the Kubernetes minor that took the code out (its changelogs).
GONE = {
    "cephfs": "1.31",
    "flocker": "1.25",
    "glusterfs": "1.26",
    "photonPersistentDisk": "1.16",
    "quobyte": "1.25",
    "rbd": "1.31",
    "scaleIO": "1.22",
    "storageos": "1.25",
}


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Judge the volumes of a pod whose template stands at `path`."""
    spec = mapping(pod, "spec")
    volumes = each(spec, "volumes")
    if not volumes:
        return
    here = path / "spec" / "volumes"
    yield from check_volumes(volumes, here)
    pod_name = text(mapping(pod, "metadata"), "name")
    if pod_name:
        yield from _made_claims(volumes, pod_name, here)


def check_volumes(volumes: Sequence[Fields], path: Path) -> Iterator[Cause | Notice]:
    """Judge a list of `core/v1` Volumes that stands at `path`."""
    listed = objects(volumes)
    first: dict[str, int] = {}
    for index, volume in enumerate(listed):
        here = path / index
        yield from _name(volume, index, first, path)
        yield from _source(volume, here)
        if "iscsi" in volume:
            yield from network.iscsi_interface_name(volume, here)


def _name(volume: Fields, index: int, first: dict[str, int], path: Path) -> Iterator[Cause]:
    """A volume's name is a DNS label, and no other volume of the pod has it (`core/v1` validation, volumes)."""
    name = text(volume, "name")
    if not name:
        yield from required(volume, path / index, {"name": "the name that volume mounts use"})
        return
    if fault := names.dns_label(name):
        yield Invalid(path / index / "name", name, fault)
    if first.setdefault(name, index) != index:
        yield Duplicate(path / index / "name", name, f"already used by {path / first[name]}")


def _source(volume: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A volume is of one kind; without any it is an emptyDir (`core/v1` defaults and validation, VolumeSource)."""
    present = [name for name in volume if name in SOURCES and volume[name] is not None]
    if not present:
        yield Notice(path, "has no source and will be an empty directory: set emptyDir: {} to make this explicit")
        return
    if len(present) > 1:
        present.sort(key=list(SOURCES).index)
        for extra in present[1:]:
            yield Forbidden(path / extra, f"may not be set together with {present[0]}: a volume has exactly one source")
    name = present[0]
    yield from SOURCES[name](mapping(volume, name), path / name)
    if name in GONE:
        yield Notice(path / name, f"not supported since Kubernetes {GONE[name]}: use a CSI driver")


def _made_claims(volumes: Sequence[Fields], pod_name: str, path: Path) -> Iterator[Cause]:
    """A claim made for an ephemeral volume is named after pod and volume, legally, and no other volume's claim.

    `core/v1` validation, volumes.
    """
    made = {
        f"{pod_name}-{text(volume, 'name')}": index
        for index, volume in enumerate(volumes)
        if volume.get("ephemeral") is not None
    }
    if not made:
        return
    for claim, index in made.items():
        name = text(volumes[index], "name")
        if name and (fault := names.dns_subdomain(claim)):
            yield Invalid(path / index / "name", name, f"the name of the generated claim, {claim}, {fault}")
    for index, volume in enumerate(volumes):
        claim = text(mapping(volume, "persistentVolumeClaim"), "claimName")
        if claim in made:
            detail = f"must not be the claim that is generated for {path / made[claim]}"
            yield Invalid(path / index / "persistentVolumeClaim" / "claimName", claim, detail)


class _Volume(Plain):
    """A volume of one of the sources that jobs have."""

    name: DnsLabel
    config_map: cluster.PlainConfigMap | UnsetType = UNSET
    empty_dir: local.PlainEmptyDir | UnsetType = UNSET
    host_path: local.PlainHostPath | UnsetType = UNSET
    nfs: network.PlainNfs | UnsetType = UNSET
    persistent_volume_claim: claims.PlainClaim | UnsetType = UNSET
    secret: cluster.PlainSecret | UnsetType = UNSET


def _names_differ_and_each_has_one_source(spec: Fields, _: Sequence[Fields]) -> bool:
    volumes = spec.get("volumes")
    # A volume of one source has two keys.
    return not volumes or len({volume["name"] for volume in volumes if len(volume) == 2}) == len(volumes)


FAMILY = Family(check=check, spec={"volumes": list[_Volume]}, agree=_names_differ_and_each_has_one_source)
