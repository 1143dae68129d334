"""Volumes: what `core/v1` takes as the volumes of a pod, source by source.

The rules of the sources are a table in `sources.py`; `check` judges the volumes of a pod, `check_volumes` a list of
them from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import items, mapping, metadata_of, objects, spec_of, text
from jobgate.kinds.common.pod.shapes import DnsLabel
from jobgate.kinds.common.pod.values import Finding, distinct, fields, formatted, listed, need, one_source
from jobgate.kinds.common.pod.volumes.sources import SOURCES, iscsi_interface_name
from webhook.cause import Cause, Invalid, Notice
from webhook.path import Path

__all__ = ["FAMILY", "SOURCES", "check", "check_volumes"]

#: Sources that kubelet no longer mounts, and the Kubernetes minor that took the code out (its changelogs).
GONE: Final = {
    "cephfs": "1.31",
    "flocker": "1.25",
    "glusterfs": "1.26",
    "photonPersistentDisk": "1.16",
    "quobyte": "1.25",
    "rbd": "1.31",
    "scaleIO": "1.22",
    "storageos": "1.25",
}
#: The sources that sound jobs have.
_PLAIN: Final = ("configMap", "emptyDir", "hostPath", "nfs", "persistentVolumeClaim", "secret")

_one_source = one_source(SOURCES, "a volume has exactly one source")


def _source(volume: Any, path: Path) -> Iterator[Finding]:
    """A volume is of one kind; without any it is an emptyDir (`core/v1` defaults and validation, VolumeSource)."""
    yield from _one_source(volume, path)
    present = [name for name in volume if name in SOURCES and volume[name] is not None]
    if not present:
        yield Notice(path, "has no source and will be an empty directory: set emptyDir: {} to make this explicit")
    elif len(present) == 1 and present[0] in GONE:
        yield Notice(path / present[0], f"not supported since Kubernetes {GONE[present[0]]}: use a CSI driver")
    if "iscsi" in volume:
        yield from iscsi_interface_name(volume, path)


_NAME: Final = need(formatted(names.dns_label, DnsLabel), "must be the name that volume mounts use")
_VOLUMES: Final = listed(fields(_source, name=_NAME), distinct("name", "already used by {first}"))


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """Judge the volumes of a pod whose template stands at `path`."""
    volumes = items(spec_of(pod).get("volumes"))
    if volumes:
        yield from check_volumes(volumes, path / "spec" / "volumes")
        yield from _made_claims(volumes, text(metadata_of(pod).get("name")), path / "spec" / "volumes")


def check_volumes(volumes: Sequence[Any], path: Path) -> Iterator[Finding]:
    """Judge a list of `core/v1` Volumes that stands at `path`."""
    yield from _VOLUMES.check(volumes, path)


def _made_claims(volumes: Sequence[Any], pod_name: str, path: Path) -> Iterator[Cause]:
    """A claim made for an ephemeral volume is named after pod and volume, legally, and no other volume's claim.

    `core/v1` validation, volumes.
    """
    made = {
        f"{pod_name}-{text(volume.get('name'))}": index
        for index, volume in objects(volumes)
        if pod_name and volume.get("ephemeral") is not None
    }
    for claim, index in made.items():
        name = text(volumes[index].get("name"))
        if name and (fault := names.dns_subdomain(claim)):
            yield Invalid(path / index / "name", name, f"the name of the generated claim, {claim}, {fault}")
    for index, volume in objects(volumes) if made else ():
        claim = text(mapping(volume.get("persistentVolumeClaim")).get("claimName"))
        if claim in made:
            detail = f"must not be the claim that is generated for {path / made[claim]}"
            yield Invalid(path / index / "persistentVolumeClaim" / "claimName", claim, detail)


def _names_differ_and_each_has_one_source(spec: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    volumes = spec.get("volumes")
    # A volume of one source has two keys.
    return not volumes or len({volume["name"] for volume in volumes if len(volume) == 2}) == len(volumes)


FAMILY = Family(
    check=check,
    spec={"volumes": listed(fields(name=_NAME, **{name: SOURCES[name] for name in _PLAIN})).plain},
    agree=_names_differ_and_each_has_one_source,
)
