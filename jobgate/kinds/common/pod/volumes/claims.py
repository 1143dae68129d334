"""Volumes by claim: persistentVolumeClaim, and ephemeral with the claim that is made for it."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate import names
from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod.selectors import label_selector, labels
from jobgate.kinds.common.pod.shapes import Plain, Text
from jobgate.kinds.common.pod.volumes.fields import Fields, mapping, required, text, texts
from webhook.cause import Cause, Forbidden, Invalid, Notice, NotSupported, Required, TooLong
from webhook.path import Path

#: `core/v1` PersistentVolumeAccessMode.
ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")

#: `core/v1` PersistentVolumeMode.
VOLUME_MODES = ("Block", "Filesystem")

#: `meta/v1`: all keys and values of an object's annotations together, in bytes.
ANNOTATIONS_LIMIT = 256 * 1024

#: `meta/v1` ObjectMeta: what an object has and a claim's template has not.
_OF_OBJECTS_ONLY = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
)

_CLASSES = ("storageClassName", "volumeAttributesClassName")


class PlainClaim(Plain):
    """The plain shape of a persistentVolumeClaim volume."""

    claim_name: Text
    read_only: bool = False


def persistent_volume_claim(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A volume by claim names the claim (`core/v1` validation, PersistentVolumeClaimVolumeSource)."""
    yield from required(source, path, {"claimName": "the name of a PersistentVolumeClaim"})


def ephemeral(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """An ephemeral volume has the template of its claim (`core/v1` validation, EphemeralVolumeSource)."""
    here = path / "volumeClaimTemplate"
    if source.get("volumeClaimTemplate") is None:
        yield Required(here, "must be the template of the claim that is created for the pod")
        return
    template = mapping(source, "volumeClaimTemplate")
    yield from _template_metadata(mapping(template, "metadata"), here / "metadata")
    yield from claim_spec(mapping(template, "spec"), here / "spec")


def _template_metadata(metadata: Fields, path: Path) -> Iterator[Cause]:
    """A claim's template has labels and annotations and nothing else (`core/v1`, PersistentVolumeClaimTemplate)."""
    for field in _OF_OBJECTS_ONLY:
        value = metadata.get(field)
        # A text or number of "" or 0 is as absent, but for the one that Kubernetes keeps by reference.
        if value not in (None, "", 0) or (value == 0 and field == "deletionGracePeriodSeconds"):
            yield Forbidden(path / field, "may not be set: only labels and annotations are allowed")
    yield from labels(metadata.get("labels"), path / "labels")
    annotations, size = mapping(metadata, "annotations"), 0
    for key, value in annotations.items():
        if fault := names.qualified_name(key.lower()):
            yield Invalid((path / "annotations").key(key), key, f"the key {fault}")
        size += len(key.encode(errors="replace")) + len(str(value).encode(errors="replace"))
    if size > ANNOTATIONS_LIMIT:
        yield TooLong(path / "annotations", "", ANNOTATIONS_LIMIT, "total size of keys and values", unit="bytes")


def claim_spec(spec: Fields, path: Path) -> Iterator[Cause]:
    """What a claim asks for (`core/v1` validation, PersistentVolumeClaimSpec)."""
    yield from _access_modes(spec, path)
    yield from label_selector(spec.get("selector"), path / "selector")
    yield from _resources(mapping(spec, "resources"), path / "resources")
    for field in _CLASSES:
        name = text(spec, field)
        if name and (fault := names.dns_subdomain(name)):
            yield Invalid(path / field, name, fault)
    mode = spec.get("volumeMode")
    if isinstance(mode, str) and mode not in VOLUME_MODES:
        yield NotSupported(path / "volumeMode", mode, VOLUME_MODES)
    for field in ("dataSource", "dataSourceRef"):
        if spec.get(field) is not None:
            yield from _data_source(mapping(spec, field), path / field)
    yield from _data_sources_agree(spec, path)


def _access_modes(spec: Fields, path: Path) -> Iterator[Cause]:
    """A claim has access modes, and ReadWriteOncePod stands alone (`core/v1` validation, PersistentVolumeClaimSpec)."""
    if not spec.get("accessModes"):
        yield Required(path / "accessModes", "must be at least one of " + ", ".join(ACCESS_MODES))
        return
    modes = texts(spec, "accessModes")
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            yield NotSupported(path / "accessModes" / index, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"} & set(modes):
        yield Forbidden(path / "accessModes", "ReadWriteOncePod must be the only access mode")


def _resources(resources: Fields, path: Path) -> Iterator[Cause]:
    """A claim asks for some storage, and all its amounts are quantities (`core/v1`, VolumeResourceRequirements)."""
    for field in ("requests", "limits"):
        for name, amount in mapping(resources, field).items():
            here = (path / field).key(name)
            try:
                enough = quantity.parse(amount) > 0
            except ValueError as error:
                yield Invalid(here, amount, str(error))
                continue
            if not enough and (field, name) == ("requests", "storage"):
                yield Invalid(here, amount, "must be greater than zero")
    if "storage" not in mapping(resources, "requests"):
        yield Required((path / "requests").key("storage"), "must be the size of the volume, such as 10Gi")


def _data_source(source: Fields, path: Path) -> Iterator[Cause]:
    """A claim may be filled from an object (`core/v1`, TypedLocalObjectReference and TypedObjectReference)."""
    yield from required(source, path, {"name": "the name of the object", "kind": "the kind of the object"})
    group, kind = text(source, "apiGroup"), text(source, "kind")
    if not group and kind and kind != "PersistentVolumeClaim":
        yield Invalid(path / "kind", kind, "must be PersistentVolumeClaim when apiGroup is not set")
    if group and (fault := names.dns_subdomain(group)):
        yield Invalid(path / "apiGroup", group, fault)


def _data_sources_agree(spec: Fields, path: Path) -> Iterator[Cause]:
    """The newer field may name a namespace; the older one then says the same or nothing (`core/v1`, claims)."""
    source, reference = mapping(spec, "dataSource"), mapping(spec, "dataSourceRef")
    namespace = text(reference, "namespace")
    if namespace and (fault := names.dns_label(namespace)):
        yield Invalid(path / "dataSourceRef" / "namespace", namespace, fault)
    if spec.get("dataSource") is None or spec.get("dataSourceRef") is None:
        return
    if namespace:
        yield Forbidden(path / "dataSource", "may not be set together with dataSourceRef.namespace")
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        yield Invalid(path / "dataSource", "dataSource", "must match dataSourceRef: remove one of the two")
