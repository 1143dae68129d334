"""What a template says of its pods' identity: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.annotations import PlainAnnotations, annotation_causes
from jobgate.kinds.common.pod.reading import items, metadata_of
from jobgate.kinds.common.pod.selectors import LABELS
from jobgate.kinds.common.pod.shapes import DnsLabel, DnsSubdomain
from jobgate.kinds.common.pod.values import Finding, anything, family, formatted, texts
from webhook.cause import Invalid
from webhook.path import Path

#: Finalizers of the garbage collector that contradict each other.
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


def _agreement(pod: Any, path: Path) -> Iterator[Finding]:
    """Annotations agree with the spec; finalizers do not ask to keep and to delete dependents both."""
    yield from annotation_causes(pod, path)
    finalizers = items(metadata_of(pod).get("finalizers"))
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        yield Invalid(path / "metadata" / "finalizers", finalizers, f"may contain {ORPHAN} or {FOREGROUND}, not both")


#: From `k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta` and `ValidateFinalizers`.
FAMILY = family(
    _agreement,
    metadata={
        "name": formatted(names.dns_subdomain, DnsSubdomain),
        "generateName": formatted(names.generate_name),
        "namespace": formatted(names.dns_label, DnsLabel),
        "labels": LABELS,
        "annotations": anything(PlainAnnotations),
        "finalizers": texts(names.qualified_name),
    },
)
