"""The metadata of pods: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.podchecks.placement import LABELS
from jobgate.podchecks.shapes import DnsLabel, DnsSubdomain, QualifiedName
from jobgate.podchecks.values import Rules, ValueRule, anything, family, formatted, texts
from webhook.cause import Cause, Invalid, TooLong
from webhook.path import Path
from webhook.values import mapping, text

#: Maximum size of all keys and values of annotations, in bytes of UTF-8.
TOTAL_LIMIT: Final = 256 * 1024

#: With so few and short entries, annotations stay below the limit even with four bytes a character.
PlainAnnotations: TypeAlias = Annotated[
    dict[QualifiedName, Annotated[str, Meta(max_length=900)]],
    Meta(max_length=TOTAL_LIMIT // (4 * 1024)),
]


def _annotation_keys(annotations: Any, path: Path) -> Iterator[Cause]:
    for key in mapping(annotations):
        if fault := names.annotation_key(key):
            yield Invalid(path, key, fault)


def _annotations(annotations: Any, path: Path) -> Iterator[Cause]:
    """Keys are qualified names; keys and values take at most 256 KiB together. No message shows a value."""
    yield from _annotation_keys(annotations, path)
    total = sum(
        len(part) if part.isascii() else len(part.encode(errors="surrogatepass"))
        for key, value in mapping(annotations).items()
        for part in (key, text(value))
    )
    if total > TOTAL_LIMIT:
        yield TooLong(path, f"{total} bytes", TOTAL_LIMIT, "total size of keys and values", unit="bytes")


#: The metadata of any object. From `k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta` and
#: `ValidateFinalizers`.
RULES: Final[Rules] = {
    "name": formatted(names.dns_subdomain, DnsSubdomain),
    "generateName": formatted(names.generate_name),
    "namespace": formatted(names.dns_label, DnsLabel),
    "labels": LABELS,
    "annotations": ValueRule(_annotation_keys),
    "finalizers": texts(names.qualified_name),
}

FAMILY = family(
    metadata={
        **RULES,
        "annotations": ValueRule(_annotations, PlainAnnotations),
        "creationTimestamp": anything(None),
    },
)
