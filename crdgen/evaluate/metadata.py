"""The metadata of objects and of embedded resources: what of it is kept, and what Kubernetes rejects in it.

The rules are the same for every object (k8s.io/apimachinery, pkg/api/validation/objectmeta.go), but for the name, of
which each kind has its own. Those of embedded resources (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/
objectmeta/validation.go) are checked at every write, also where nothing changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from crdgen.decode.decoder import Decoder
from crdgen.decode.objectmeta import OBJECT_META
from crdgen.dns import KEY, SUBDOMAIN, is_any_label, is_key, is_label, is_label_value, is_subdomain, masked
from crdgen.evaluate.check import Check, ErrorType, Violation, built, under
from crdgen.schema import EMBEDDED, Schema, limits
from crdgen.schema.look import utf8

#: The form of a name that is one step of a URL.
_PATH_SEGMENT: Final = "neither . nor .., and without / and %"
_LABEL_VALUE: Final = "at most 63 letters, digits, dashes, _ and dots; an annotation holds any text"
#: Kubernetes makes a name of at most this many characters of generateName, and five more.
_GENERATED: Final = 58


def _wrong(at: str, value: Any, message: str, reason: ErrorType = ErrorType.INVALID) -> Violation:
    """Return the violation of a field below metadata, named as the API server does: `ownerReferences.uid`."""
    return Violation(("metadata", *at.split(".")), reason, value, message)


def name_of_custom_resource(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the name of a new custom resource, or with what its name is made from."""
    name, generated = metadata.get("name", ""), metadata.get("generateName", "")
    if generated and not is_subdomain(masked(generated)):
        yield _wrong("generateName", generated, f"must be {SUBDOMAIN}; it may end with a dash")
    made = name or (f"{generated[:_GENERATED]}aaaaa" if generated else "")
    if not made:
        yield _wrong("name", "", "must be set, or generateName", ErrorType.REQUIRED)
    elif not is_subdomain(made):
        yield _wrong("name", made, f"must be {SUBDOMAIN}")


def name_of_embedded(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the names of an embedded resource, which may have none.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go
    """
    for field in ("name", "generateName"):
        text = metadata.get(field, "")
        if (field == "name" and text in {".", ".."}) or "/" in text or "%" in text:
            yield _wrong(field, text, f"must be {_PATH_SEGMENT}")


def namespace(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the namespace, if there is one."""
    text = metadata.get("namespace", "")
    if text and not is_any_label(text):
        yield _wrong("namespace", text, "must be a DNS label")


def generation(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the generation."""
    if metadata.get("generation", 0) < 0:
        yield _wrong("generation", metadata["generation"], "must not be below 0")


def labels(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with labels (k8s.io/apimachinery, pkg/apis/meta/v1/validation)."""
    for key, value in metadata.get("labels", {}).items():
        if not is_key(key):
            yield _wrong("labels", key, f"must be {KEY}")
        if not is_label_value(value):
            yield _wrong("labels", value, f"must be {_LABEL_VALUE}")


def annotations(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with annotations."""
    held: Mapping[str, str] = metadata.get("annotations", {})
    for key in held:
        if not is_key(key.lower()):
            yield _wrong("annotations", key, f"must be {KEY}")
    size = sum(len(utf8(key)) + len(utf8(value)) for key, value in held.items())
    if size > limits.ANNOTATIONS:
        yield _wrong("annotations", size, f"bytes are too many: the limit is {limits.ANNOTATIONS}", ErrorType.TOO_LONG)


def owners(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the owners."""
    references = metadata.get("ownerReferences", ())
    for owner in references:
        version = owner.get("apiVersion", "")
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and (version.endswith("/") or version.count("/") > 1)):
                yield _wrong(f"ownerReferences.{field}", owner.get(field, ""), f"must be the {field} of an owner")
        if version == "v1" and owner.get("kind") == "Event":
            yield _wrong("ownerReferences", owner, "must not be an Event")
    if sum(owner.get("controller") is True for owner in references) > 1:
        yield _wrong("ownerReferences", references, "may have one owner that is the controller")


def finalizers(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the finalizers."""
    held = metadata.get("finalizers", ())
    for finalizer in held:
        if not is_key(finalizer):
            yield _wrong("finalizers", finalizer, f"must be {KEY}")
    if {"orphan", "foregroundDeletion"} <= set(held):
        yield _wrong("finalizers", held, "may have orphan or foregroundDeletion")


#: Yields what is wrong with a part of metadata, in metadata that has been decoded.
MetadataCheck: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Violation]]

#: What holds for the metadata of all objects.
COMMON: Final[tuple[MetadataCheck, ...]] = (labels, annotations, owners, finalizers)
#: What holds for a new custom resource, and for what a write changes of one that is there.
OF_NEW: Final[tuple[MetadataCheck, ...]] = (name_of_custom_resource, namespace, *COMMON)
OF_STORED: Final[tuple[MetadataCheck, ...]] = (labels, annotations, owners)
#: What holds for an embedded resource; its managedFields are not looked at.
OF_EMBEDDED: Final[tuple[MetadataCheck, ...]] = (name_of_embedded, namespace, generation, *COMMON)


def pruned(metadata: Any) -> Any:
    """Return the metadata without the fields and nulls that Kubernetes drops; as it is, where it cannot be read."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "")
    if metadata is None or decoded == metadata or not all(found.unknown for found in decoder.problems):
        return metadata
    return decoded


def judged(metadata: Any, checks: Iterable[MetadataCheck]) -> Iterator[Violation]:
    """Yield what is wrong in metadata: what cannot be read, or else what the checks find."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "metadata")
    problems = [found for found in decoder.problems if not found.unknown]
    for found in problems:
        yield Violation(("metadata",), ErrorType.TYPE_INVALID, found.value, found.problem)
    for check in () if problems else checks:
        yield from check(decoded)


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
            yield Violation(("metadata", field), ErrorType.INVALID, written[field], f"must stay {stored[field]}")


def resources(schema: Schema) -> Check | None:
    """Return the check of the embedded resources in a value of this schema, or None where there are none."""
    whole = bool(schema.get(EMBEDDED))
    fields, others, items = built(schema, resources)
    if not whole and not any(fields.values()) and others is None and items is None:
        return None

    def check(value: Any) -> list[Violation] | None:
        found: list[Violation] = []
        if isinstance(value, dict):
            if whole:
                found += _resource(value)
            for key, child in value.items():
                field = fields.get(key, others)
                found += under(key, (field and field(child)) or [])
        elif isinstance(value, list) and items is not None:
            for index, child in enumerate(value):
                found += under(index, items(child) or [])
        return found or None

    return check


def _resource(value: dict[str, Any]) -> Iterator[Violation]:
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield Violation((name,), ErrorType.REQUIRED, None, "must be set")
        elif not isinstance(value[name], str):
            yield Violation((name,), ErrorType.INVALID, value[name], "must be a string")
        elif not value[name]:
            yield Violation((name,), ErrorType.INVALID, "", "must not be empty")
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        yield Violation(("apiVersion",), ErrorType.INVALID, version, "must be a version, or a group and a version")
    if isinstance(kind, str) and kind and not is_label(kind.lower()):
        yield Violation(("kind",), ErrorType.INVALID, kind, "must be a name of letters, digits and dashes")
    if "metadata" in value:
        yield from judged(value["metadata"], OF_EMBEDDED)
