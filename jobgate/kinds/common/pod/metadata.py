"""What a template says of its pods' identity: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.annotations import PlainAnnotations, annotation_causes
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import items, metadata_of, text
from jobgate.kinds.common.pod.selectors import labels
from jobgate.kinds.common.pod.shapes import DnsLabel, DnsSubdomain, Labels
from webhook.cause import Cause, Invalid, Notice
from webhook.path import Path

#: Finalizers of the garbage collector that contradict each other.
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the metadata of a pod."""
    metadata, where = metadata_of(pod), path / "metadata"
    if not metadata:
        return
    yield from _names(metadata, where)
    if metadata.get("labels"):
        yield from labels(metadata["labels"], where / "labels")
    yield from annotation_causes(pod, path)
    if metadata.get("finalizers"):
        yield from _finalizers(items(metadata["finalizers"]), where / "finalizers")


def _names(metadata: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The name is a DNS subdomain, `generateName` the beginning of one, and the namespace a DNS label.

    From `k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta`.
    """
    formats = ("name", names.dns_subdomain), ("generateName", names.generate_name), ("namespace", names.dns_label)
    for field, fault_of in formats:
        if metadata.get(field) and (fault := fault_of(text(metadata[field]))):
            yield Invalid(path / field, metadata[field], fault)


def _finalizers(finalizers: Any, path: Path) -> Iterator[Cause]:
    """Finalizers have qualified names, and do not ask to keep and to delete dependents both.

    From `k8s.io/apimachinery/pkg/api/validation`, `ValidateFinalizers`.
    """
    for index, finalizer in enumerate(finalizers):
        if fault := names.qualified_name(text(finalizer)):
            yield Invalid(path / index, finalizer, fault)
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        yield Invalid(path, finalizers, f"may contain {ORPHAN} or {FOREGROUND}, not both")


FAMILY = Family(
    check=check,
    metadata={
        "name": DnsSubdomain,
        "generateName": LOOK,
        "namespace": DnsLabel,
        "labels": Labels,
        "annotations": PlainAnnotations,
        "finalizers": LOOK,
    },
)
