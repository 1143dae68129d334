"""What a template says of its pods' identity: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.placement import LABELS
from jobgate.kinds.common.pod.reading import mapping
from jobgate.kinds.common.pod.shapes import DnsLabel, DnsSubdomain, QualifiedName
from jobgate.kinds.common.pod.values import Rules, ValueRule, anything, family, formatted, texts
from webhook.cause import Cause, Invalid
from webhook.path import Path


def _annotation_keys(annotations: Any, path: Path) -> Iterator[Cause]:
    for key in mapping(annotations):
        if fault := names.annotation_key(key):
            yield Invalid(path, key, fault)


#: The metadata of any object. From `k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta` and
#: `ValidateFinalizers`.
RULES: Final[Rules] = {
    "name": formatted(names.dns_subdomain, DnsSubdomain),
    "generateName": formatted(names.generate_name),
    "namespace": formatted(names.dns_label, DnsLabel),
    "labels": LABELS,
    "annotations": ValueRule(_annotation_keys, dict[QualifiedName, str]),
    "finalizers": texts(names.qualified_name),
}

FAMILY = family(
    metadata={
        **RULES,
        "creationTimestamp": anything(None),
    },
)
