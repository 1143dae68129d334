"""The metadata of an object: what of it is kept, and what Kubernetes refuses in it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crdgen.decode.decoder import Decoder
from crdgen.decode.objectmeta import OBJECT_META, OF_NEW, OF_STORED, Check
from crdgen.evaluate.check import Reason, Violation


def pruned(metadata: Any) -> Any:
    """Return the metadata without the fields and nulls that Kubernetes drops; as it is, where it cannot be read."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "")
    if metadata is None or decoded == metadata or not all(fault.unknown for fault in decoder.faults):
        return metadata
    return decoded


def judged(metadata: Any, checks: Iterable[Check]) -> Iterator[Violation]:
    """Yield what is wrong in metadata: what cannot be read, or else what the checks find."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "metadata")
    faults = [fault for fault in decoder.faults if not fault.unknown]
    for fault in faults:
        yield Violation(("metadata",), Reason.TYPE_INVALID, fault.value, fault.problem)
    for check in () if faults else checks:
        for error in check(decoded):
            yield Violation(("metadata", *error.at.split(".")), Reason(error.reason), error.value, error.message)


def of_custom_resource(
    metadata: Any, before: Mapping[str, Any] | None, *, namespaced: bool = True
) -> Iterator[Violation]:
    """Yield what is wrong in the metadata of a whole custom resource, of a new one or of one that is stored already.

    Args:
        metadata: That of the object as it is written.
        before: That of the stored object, for an update.
        namespaced: Whether objects of the kind are in namespaces; others lose theirs.

    Source: k8s.io/apiextensions-apiserver, pkg/registry/customresource/validator.go
    """
    written = metadata
    if isinstance(metadata, dict) and not namespaced:
        written = {field: value for field, value in metadata.items() if field != "namespace"}
    yield from judged(written, OF_NEW if before is None else OF_STORED)
    stored = before or {}
    for field in ("name", "namespace") if isinstance(written, dict) else ():
        if stored.get(field) and written.get(field) and written[field] != stored[field]:
            yield Violation(("metadata", field), Reason.INVALID, written[field], f"must stay {stored[field]}")
