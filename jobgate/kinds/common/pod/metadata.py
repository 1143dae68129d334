"""What a template says of its pods' identity: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.placement import LABELS
from jobgate.kinds.common.pod.reading import Json, items, mapping, metadata_of, spec_of, text
from jobgate.kinds.common.pod.shapes import DnsLabel, DnsSubdomain, whole_text
from jobgate.kinds.common.pod.values import anything, family, formatted, texts
from webhook.cause import Cause, Forbidden, Invalid, Notice, TooLong
from webhook.path import Path

#: Most that keys and values take together, in bytes of UTF-8.
TOTAL_LIMIT: Final = 256 * 1024

MIRROR: Final = "kubernetes.io/config.mirror"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
#: What Kubernetes reads has this in its key.
_READ: Final = "kubernetes.io/"

_NOT_READ = whole_text(f"(?!.*{re.escape(_READ)}){names.QUALIFIED_NAME}")

#: So few and so short that they are far from the limit, at four bytes a character; and none that Kubernetes reads.
PlainAnnotations: TypeAlias = Annotated[
    dict[
        Annotated[str, Meta(pattern=_NOT_READ, max_length=names.LABEL_LIMIT)],
        Annotated[str, Meta(max_length=900)],
    ],
    Meta(max_length=TOTAL_LIMIT // (4 * 1024)),
]

_INTEGER = re.compile(r"(-[0-9]{1,20}|0|[1-9][0-9]{0,10})\Z")


def _annotations(pod: Json, path: Path) -> Iterator[Notice]:
    """Check the annotations of a pod: their keys, their size, and the values that Kubernetes reads today.

    From `k8s.io/apimachinery/pkg/api/validation`, `ValidateAnnotations`, and `core/v1` validation,
    `ValidatePodSpecificAnnotations`. No message shows a value: annotations may hold anything.
    """
    annotations = mapping(metadata_of(pod).get("annotations"))
    where = path / "metadata" / "annotations"
    yield from keys_and_size(annotations, where)
    if MIRROR in annotations and not spec_of(pod).get("nodeName"):
        yield Forbidden(where.key(MIRROR), "is reserved for mirror pods of the kubelet: remove it")
    if DELETION_COST in annotations:
        cost = text(annotations[DELETION_COST])
        if not _INTEGER.match(cost) or not -(2**31) <= int(cost) < 2**31:
            yield Forbidden(where.key(DELETION_COST), "must be a 32-bit integer without a leading '+' or zeros")


def keys_and_size(annotations: Any, path: Path) -> Iterator[Cause]:
    """Keys are qualified names; keys and values take at most 256 KiB together."""
    total = 0
    for key, value in mapping(annotations).items():
        if fault := names.annotation_key(key):
            yield Invalid(path, key, fault)
        total += sum(
            len(one) if one.isascii() else len(one.encode(errors="surrogatepass")) for one in (key, text(value))
        )
    if total > TOTAL_LIMIT:
        yield TooLong(path, f"{total} bytes", TOTAL_LIMIT, "total size of keys and values", unit="bytes")


#: Finalizers of the garbage collector that contradict each other.
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


def _agreement(pod: Any, path: Path) -> Iterator[Notice]:
    """Annotations agree with the spec; finalizers do not ask to keep and to delete dependents both."""
    yield from _annotations(pod, path)
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
