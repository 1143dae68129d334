"""Prune and check the metadata of objects and of embedded resources.

The rules are the same for every object (k8s.io/apimachinery, pkg/api/validation/objectmeta.go); only the rule for names
depends on the kind. Embedded resources (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go)
are checked at every write, even if they did not change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from crdgen.decode.decoder import Decoder
from crdgen.decode.objectmeta import OBJECT_META
from crdgen.dns import KEY, SUBDOMAIN, is_any_label, is_key, is_label, is_label_value, is_subdomain, mask_trailing_dash
from crdgen.evaluate.check import Check, Compiled, ErrorType, Violation, under
from crdgen.schema import EMBEDDED, Schema, limits
from crdgen.schema.look import steps_of, uses, utf8

#: Rule for a name that is a segment of a URL's path.
_PATH_SEGMENT: Final = "neither . nor .., and without / and %"
_LABEL_VALUE: Final = "at most 63 letters, digits, dashes, _ and dots; an annotation holds any text"
#: A generated name has at most this many characters of generateName, and five more.
_PREFIX_LENGTH: Final = 58


def _of_key(field: str, key: str, value: str, message: str) -> Violation:
    """Return the violation of a label or annotation. The API server does not name its key."""
    return Violation(("metadata", field, key), ErrorType.INVALID, value, message)


def _violation(path: str, value: Any, message: str, reason: ErrorType = ErrorType.INVALID) -> Violation:
    """Return the violation of a field below metadata, with its path as on the API server: `ownerReferences.uid`."""
    return Violation(("metadata", *path.split(".")), reason, value, message)


def name_of_custom_resource(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in the name or generateName of a new custom resource."""
    name, prefix = metadata.get("name", ""), metadata.get("generateName", "")
    if prefix and not is_subdomain(mask_trailing_dash(prefix)):
        yield _violation("generateName", prefix, f"must be {SUBDOMAIN}; it may end with a dash")
    name = name or (f"{prefix[:_PREFIX_LENGTH]}aaaaa" if prefix else "")
    if not name:
        yield _violation("name", "", "must be set, or generateName", ErrorType.REQUIRED)
    elif not is_subdomain(name):
        yield _violation("name", name, f"must be {SUBDOMAIN}")


def name_of_embedded(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in the names of an embedded resource; the name is optional.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go
    """
    for field in ("name", "generateName"):
        text = metadata.get(field, "")
        if (field == "name" and text in {".", ".."}) or "/" in text or "%" in text:
            yield _violation(field, text, f"must be {_PATH_SEGMENT}")


def namespace(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in the namespace, if there is one."""
    text = metadata.get("namespace", "")
    if text and not is_any_label(text):
        yield _violation("namespace", text, "must be a DNS label")


def generation(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in the generation."""
    if metadata.get("generation", 0) < 0:
        yield _violation("generation", metadata["generation"], "must not be below 0")


def labels(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in labels (k8s.io/apimachinery, pkg/apis/meta/v1/validation)."""
    for key, value in metadata.get("labels", {}).items():
        if not is_key(key):
            yield _of_key("labels", key, key, f"must be {KEY}")
        if not is_label_value(value):
            yield _of_key("labels", key, value, f"must be {_LABEL_VALUE}")


def annotations(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in annotations."""
    texts: Mapping[str, str] = metadata.get("annotations", {})
    for key in texts:
        if not is_key(key.lower()):
            yield _of_key("annotations", key, key, f"must be {KEY}")
    size = sum(len(utf8(key)) + len(utf8(value)) for key, value in texts.items())
    if size > limits.ANNOTATIONS:
        yield _violation(
            "annotations", size, f"bytes are too many: the limit is {limits.ANNOTATIONS}", ErrorType.TOO_LONG
        )


def owners(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in owner references."""
    references = metadata.get("ownerReferences", ())
    for owner in references:
        version = owner.get("apiVersion", "")
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and (version.endswith("/") or version.count("/") > 1)):
                yield _violation(f"ownerReferences.{field}", owner.get(field, ""), f"must be the {field} of an owner")
        if version == "v1" and owner.get("kind") == "Event":
            yield _violation("ownerReferences", owner, "must not be an Event")
    if sum(owner.get("controller") is True for owner in references) > 1:
        yield _violation("ownerReferences", references, "may have one owner that is the controller")


def finalizers(metadata: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in finalizers."""
    names = metadata.get("finalizers", ())
    for finalizer in names:
        if not is_key(finalizer):
            yield _violation("finalizers", finalizer, f"must be {KEY}")
    if {"orphan", "foregroundDeletion"} <= set(names):
        yield _violation("finalizers", names, "may have orphan or foregroundDeletion")


#: Yields violations in a part of decoded metadata.
MetadataCheck: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Violation]]

#: Checks of the metadata of all objects.
COMMON: Final[tuple[MetadataCheck, ...]] = (labels, annotations, owners, finalizers)
#: Checks of a new custom resource, and of an update.
OF_NEW: Final[tuple[MetadataCheck, ...]] = (name_of_custom_resource, namespace, *COMMON)
OF_STORED: Final[tuple[MetadataCheck, ...]] = (labels, annotations, owners)
#: Checks of an embedded resource; its managedFields are not checked.
OF_EMBEDDED: Final[tuple[MetadataCheck, ...]] = (name_of_embedded, namespace, generation, *COMMON)


def prune_metadata(metadata: Any) -> Any:
    """Return the metadata without the fields and nulls that Kubernetes drops; unchanged if it cannot be decoded."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "")
    if metadata is None or decoded == metadata or not all(problem.unknown for problem in decoder.problems):
        return metadata
    return decoded


def check_metadata(metadata: Any, checks: Iterable[MetadataCheck]) -> Iterator[Violation]:
    """Yield decoding errors of metadata or, if there are none, the violations of checks."""
    decoder = Decoder()
    decoded = decoder.read(metadata, OBJECT_META, "metadata")
    problems = [problem for problem in decoder.problems if not problem.unknown]
    for problem in problems:
        yield Violation(steps_of(problem.path), ErrorType.TYPE_INVALID, problem.value, problem.problem)
    for check in () if problems else checks:
        yield from check(decoded)


def of_custom_resource(
    metadata: Any, before: Mapping[str, Any] | None, *, namespaced: bool = True
) -> Iterator[Violation]:
    """Yield violations in the metadata of a custom resource; `before` is the stored metadata, for an update.

    Source: k8s.io/apiextensions-apiserver, pkg/registry/customresource/validator.go
    """
    written = metadata
    if isinstance(metadata, dict) and not namespaced:
        written = {field: value for field, value in metadata.items() if field != "namespace"}
    yield from check_metadata(written, OF_NEW if before is None else OF_STORED)
    stored = before or {}
    for field in ("name", "namespace") if isinstance(written, dict) else ():
        if stored.get(field) and written.get(field) and written[field] != stored[field]:
            yield Violation(("metadata", field), ErrorType.INVALID, written[field], f"must stay {stored[field]}")


def resources(schema: Schema) -> Check | None:
    """Return the check of embedded resources in a value of this schema, or None if there are none."""
    if not uses(schema, EMBEDDED):
        return None
    is_resource, extra, item = bool(schema.get(EMBEDDED)), schema.get("additionalProperties"), schema.get("items")
    fields = Compiled(schema, resources, resources(extra) if isinstance(extra, dict) else None)
    items = resources(item) if isinstance(item, dict) else None

    def check(value: Any) -> list[Violation] | None:
        violations: list[Violation] = []
        if isinstance(value, dict):
            if is_resource:
                violations += _resource(value)
            for key, child in value.items():
                field = fields[key]
                violations += under(key, (field and field(child)) or [])
        elif isinstance(value, list) and items is not None:
            for index, child in enumerate(value):
                violations += under(index, items(child) or [])
        return violations or None

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
        yield from check_metadata(value["metadata"], OF_EMBEDDED)
