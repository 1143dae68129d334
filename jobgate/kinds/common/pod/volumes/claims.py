"""Volumes by claim: persistentVolumeClaim, and ephemeral with the claim that is made for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.metadata import keys_and_size
from jobgate.kinds.common.pod.reading import items, mapping, text
from jobgate.kinds.common.pod.selectors import LABELS, SELECTOR
from jobgate.kinds.common.pod.shapes import Text
from jobgate.kinds.common.pod.values import Finding, ValueRule, amount, anything, fields, formatted, need, one_of
from webhook.cause import Cause, Forbidden, Invalid, NotSupported, Required
from webhook.path import Path

#: `core/v1` PersistentVolumeAccessMode and PersistentVolumeMode.
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

#: What the schema has of `meta/v1` ObjectMeta and a claim's template has not.
_OF_OBJECTS_ONLY: Final = ("name", "generateName", "namespace", "creationTimestamp", "finalizers")


def _not_of_templates(value: Any, path: Path) -> Iterator[Cause]:
    if value != "":  # as absent
        yield Forbidden(path, "may not be set: only labels and annotations are allowed")


def _access_modes(spec: Any, path: Path) -> Iterator[Cause]:
    """A claim has access modes, and ReadWriteOncePod is the only one (`core/v1`, PersistentVolumeClaimSpec)."""
    modes = items(spec.get("accessModes"))
    if not modes:
        yield Required(path / "accessModes", "must be at least one of " + ", ".join(ACCESS_MODES))
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            yield NotSupported(path / "accessModes" / index, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in modes for mode in ACCESS_MODES[:3]):
        yield Forbidden(path / "accessModes", "ReadWriteOncePod must be the only access mode")


def _resources(resources: Any, path: Path) -> Iterator[Finding]:
    """A claim asks for some storage, and all its amounts are quantities (`core/v1`, VolumeResourceRequirements)."""
    for field in ("requests", "limits"):
        for name, given in mapping(mapping(resources).get(field)).items():
            rule = _STORAGE if (field, name) == ("requests", "storage") else _AMOUNT
            yield from rule.check(given, (path / field).key(name))
    if "storage" not in mapping(mapping(resources).get("requests")):
        yield Required((path / "requests").key("storage"), "must be the size of the volume, such as 10Gi")


def _data_source(source: Any, path: Path) -> Iterator[Cause]:
    """Without a group the source is a claim (`core/v1`, TypedLocalObjectReference and TypedObjectReference)."""
    kind = text(source.get("kind"))
    if not text(source.get("apiGroup")) and kind and kind != "PersistentVolumeClaim":
        yield Invalid(path / "kind", kind, "must be PersistentVolumeClaim when apiGroup is not set")


def _claim(spec: Any, path: Path) -> Iterator[Finding]:
    """Modes and amounts are given; two sources say the same, of which only the newer may name a namespace."""
    yield from _access_modes(spec, path)
    yield from _resources(spec.get("resources"), path / "resources")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return
    if text(mapping(reference).get("namespace")):
        yield Forbidden(path / "dataSource", "may not be set together with dataSourceRef.namespace")
    elif any(mapping(source).get(field) != mapping(reference).get(field) for field in ("apiGroup", "kind", "name")):
        yield Invalid(path / "dataSource", "dataSource", "must match dataSourceRef: remove one of the two")


_STORAGE: Final = amount("must be greater than zero", above=True)
_AMOUNT: Final = amount()
_SUBDOMAIN: Final = formatted(names.dns_subdomain)
_SOURCE: Final = fields(
    _data_source,
    name=need(anything(Text), "must be the name of the object"),
    kind=need(anything(Text), "must be the kind of the object"),
    apiGroup=_SUBDOMAIN,
    namespace=formatted(names.dns_label),
)
#: What a claim asks for (`core/v1` validation, PersistentVolumeClaimSpec).
CLAIM_SPEC: Final = fields(
    _claim,
    selector=SELECTOR,
    storageClassName=_SUBDOMAIN,
    volumeAttributesClassName=_SUBDOMAIN,
    volumeMode=one_of(VOLUME_MODES, empty=True),
    dataSource=_SOURCE,
    dataSourceRef=_SOURCE,
)
CLAIM: Final = fields(
    claimName=need(anything(Text), "must be the name of a PersistentVolumeClaim"), readOnly=anything(bool)
)


def _claim_template(template: Any, path: Path) -> Iterator[Finding]:
    """A claim's template has a spec, and of metadata labels and annotations only (`core/v1` validation)."""
    yield from _METADATA.check(mapping(template.get("metadata")), path / "metadata")
    yield from CLAIM_SPEC.check(mapping(template.get("spec")), path / "spec")


_METADATA: Final = fields(
    labels=LABELS,
    annotations=ValueRule(keys_and_size),
    **dict.fromkeys(_OF_OBJECTS_ONLY, ValueRule(_not_of_templates)),
)
EPHEMERAL: Final = fields(
    volumeClaimTemplate=need(fields(_claim_template), "must be the template of the claim that is created for the pod")
)
