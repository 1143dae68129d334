"""The metadata of objects and of embedded resources: what of it is kept, and what Kubernetes rejects in it.

Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go. Unlike what else a schema says,
embedded resources are checked at every write, also where nothing changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from crdgen.decode.decoder import Decoder
from crdgen.decode.objectmeta import OBJECT_META, OF_EMBEDDED, OF_NEW, OF_STORED, MetadataError
from crdgen.dns import is_label
from crdgen.evaluate.check import Check, Reason, Violation, under
from crdgen.schema import EMBEDDED, Schema


def pruned(metadata: Any) -> Any:
    """Return the metadata without the fields and nulls that Kubernetes drops; as it is, where it cannot be read."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "")
    if metadata is None or decoded == metadata or not all(found.unknown for found in decoder.problems):
        return metadata
    return decoded


def judged(
    metadata: Any, checks: Iterable[Callable[[Mapping[str, Any]], Iterator[MetadataError]]]
) -> Iterator[Violation]:
    """Yield what is wrong in metadata: what cannot be read, or else what the checks find."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "metadata")
    problems = [found for found in decoder.problems if not found.unknown]
    for found in problems:
        yield Violation(("metadata",), Reason.TYPE_INVALID, found.value, found.problem)
    for check in () if problems else checks:
        for error in check(decoded):
            yield Violation(("metadata", *error.at.split(".")), Reason(error.reason), error.value, error.message)


def of_custom_resource(
    metadata: Any, before: Mapping[str, Any] | None, *, namespaced: bool = True
) -> Iterator[Violation]:
    """Yield what is wrong in the metadata of a custom resource; `before` is that of the stored object, for an update.

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


def resources(schema: Schema) -> Check | None:
    """Return the check of the embedded resources in a value of this schema, or None where there are none."""
    whole = bool(schema.get(EMBEDDED))
    fields = {name: found for name, child in schema.get("properties", {}).items() if (found := resources(child))}
    declared = schema.get("properties", {}).keys()
    others, items = _below(schema.get("additionalProperties")), _below(schema.get("items"))
    if not whole and not fields and others is None and items is None:
        return None

    def check(value: Any) -> list[Violation] | None:
        found: list[Violation] = []
        if isinstance(value, dict):
            if whole:
                found += _resource(value)
            for key, child in value.items():
                field = fields.get(key) if key in declared else others
                found += under(key, (field and field(child)) or [])
        elif isinstance(value, list) and items is not None:
            for index, child in enumerate(value):
                found += under(index, items(child) or [])
        return found or None

    return check


def _below(schema: Any) -> Check | None:
    return resources(schema) if isinstance(schema, dict) else None


def _resource(value: dict[str, Any]) -> Iterator[Violation]:
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield Violation((name,), Reason.REQUIRED, None, "must be set")
        elif not isinstance(value[name], str):
            yield Violation((name,), Reason.INVALID, value[name], "must be a string")
        elif not value[name]:
            yield Violation((name,), Reason.INVALID, "", "must not be empty")
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        yield Violation(("apiVersion",), Reason.INVALID, version, "must be a version, or a group and a version")
    if isinstance(kind, str) and kind and not is_label(kind.lower()):
        yield Violation(("kind",), Reason.INVALID, kind, "must be a name of letters, digits and dashes")
    if "metadata" in value:
        yield from judged(value["metadata"], OF_EMBEDDED)
