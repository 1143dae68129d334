"""The metadata of objects: what it is made of, and what Kubernetes wants of it.

The types are those of ObjectMeta (k8s.io/apimachinery, pkg/apis/meta/v1/types.go); the rules are the same for every
object (pkg/api/validation/objectmeta.go), but for the name, of which each kind has its own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from crdgen.decode.shapes import TEXT_MAP, TEXTS, ListOf, MapOf, Scalar, Shape, Struct, fields, struct
from crdgen.dns import KEY, SUBDOMAIN, is_any_label, is_key, is_label_value, is_subdomain, masked
from crdgen.schema import limits
from crdgen.schema.look import shown, utf8

OBJECT_META: Final = struct(
    "ObjectMeta",
    **fields(Scalar.TEXT, "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"),
    generation=Scalar.INT64,
    **fields(Scalar.TIME, "creationTimestamp", "deletionTimestamp"),
    deletionGracePeriodSeconds=Scalar.INT64,
    **fields(TEXT_MAP, "labels", "annotations"),
    ownerReferences=ListOf(
        struct(
            "OwnerReference",
            **fields(Scalar.TEXT, "apiVersion", "kind", "name", "uid"),
            **fields(Scalar.BOOLEAN, "controller", "blockOwnerDeletion"),
        )
    ),
    finalizers=TEXTS,
    managedFields=ListOf(
        struct(
            "ManagedFieldsEntry",
            **fields(Scalar.TEXT, "manager", "operation", "apiVersion", "fieldsType", "subresource"),
            time=Scalar.TIME,
            fieldsV1=Scalar.ANY,
        )
    ),
)


def _schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case ListOf():
            return {"type": "array", "items": _schema(shape.item)}
        case MapOf():
            return {"type": "object", "additionalProperties": _schema(shape.value)}
        case Struct():
            return {"type": "object", "properties": {name: _schema(child) for name, child in shape.fields().items()}}
        case _:
            return dict(_SCALARS.get(shape, {}))


_SCALARS: Final[dict[Shape, dict[str, Any]]] = {
    Scalar.TEXT: {"type": "string"},
    Scalar.BOOLEAN: {"type": "boolean"},
    Scalar.INT64: {"type": "integer"},
    Scalar.TIME: {"type": "string", "format": "date-time"},
}
#: The same as a schema, which no CRD says.
METADATA: Final = _schema(OBJECT_META)

#: The form of a name that is one step of a URL.
_PATH_SEGMENT: Final = "neither . nor .., and without / and %"
_LABEL_VALUE: Final = "at most 63 letters, digits, dashes, _ and dots; an annotation holds any text"
#: Kubernetes makes a name of at most this many characters of generateName, and five more.
_GENERATED: Final = 58


class MetadataError(NamedTuple):
    """What is wrong in metadata.

    Attributes:
        at: The field below metadata, as the API server names it: `ownerReferences.uid`.
        value: The offending value.
        message: What the value must do: `must be …`.
        reason: Kubernetes' name of what is wrong.
    """

    at: str
    value: Any
    message: str
    reason: str = "Invalid"

    @property
    def problem(self) -> str:
        """What is wrong, with the value."""
        return f"{self.at}: {shown(self.value)} {self.message}"


def name_of_custom_resource(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the name of a new custom resource, or with what its name is made from."""
    name, generated = metadata.get("name", ""), metadata.get("generateName", "")
    if generated and not is_subdomain(masked(generated)):
        yield MetadataError("generateName", generated, f"must be {SUBDOMAIN}; it may end with a dash")
    made = name or (f"{generated[:_GENERATED]}aaaaa" if generated else "")
    if not made:
        yield MetadataError("name", "", "must be set, or generateName", "Required")
    elif not is_subdomain(made):
        yield MetadataError("name", made, f"must be {SUBDOMAIN}")


def name_of_embedded(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the names of an embedded resource, which may have none.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go
    """
    for field in ("name", "generateName"):
        text = metadata.get(field, "")
        if (field == "name" and text in {".", ".."}) or "/" in text or "%" in text:
            yield MetadataError(field, text, f"must be {_PATH_SEGMENT}")


def namespace(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the namespace, if there is one."""
    text = metadata.get("namespace", "")
    if text and not is_any_label(text):
        yield MetadataError("namespace", text, "must be a DNS label")


def generation(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the generation."""
    if metadata.get("generation", 0) < 0:
        yield MetadataError("generation", metadata["generation"], "must not be below 0")


def labels(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with labels (k8s.io/apimachinery, pkg/apis/meta/v1/validation)."""
    for key, value in metadata.get("labels", {}).items():
        if not is_key(key):
            yield MetadataError("labels", key, f"must be {KEY}")
        if not is_label_value(value):
            yield MetadataError("labels", value, f"must be {_LABEL_VALUE}")


def annotations(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with annotations."""
    held: Mapping[str, str] = metadata.get("annotations", {})
    for key in held:
        if not is_key(key.lower()):
            yield MetadataError("annotations", key, f"must be {KEY}")
    size = sum(len(utf8(key)) + len(utf8(value)) for key, value in held.items())
    if size > limits.ANNOTATIONS:
        yield MetadataError("annotations", size, f"bytes are too many: the limit is {limits.ANNOTATIONS}", "TooLong")


def owners(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the owners."""
    references = metadata.get("ownerReferences", ())
    for owner in references:
        version = owner.get("apiVersion", "")
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and (version.endswith("/") or version.count("/") > 1)):
                yield MetadataError(
                    f"ownerReferences.{field}", owner.get(field, ""), f"must be the {field} of an owner"
                )
        if version == "v1" and owner.get("kind") == "Event":
            yield MetadataError("ownerReferences", owner, "must not be an Event")
    if sum(owner.get("controller") is True for owner in references) > 1:
        yield MetadataError("ownerReferences", references, "may have one owner that is the controller")


def finalizers(metadata: Mapping[str, Any]) -> Iterator[MetadataError]:
    """Yield what is wrong with the finalizers."""
    held = metadata.get("finalizers", ())
    for finalizer in held:
        if not is_key(finalizer):
            yield MetadataError("finalizers", finalizer, f"must be {KEY}")
    if {"orphan", "foregroundDeletion"} <= set(held):
        yield MetadataError("finalizers", held, "may have orphan or foregroundDeletion")


#: Yields what is wrong with a part of metadata, in metadata that has been decoded.
Check: TypeAlias = Callable[[Mapping[str, Any]], Iterator[MetadataError]]

#: What holds for the metadata of all objects.
COMMON: Final[tuple[Check, ...]] = (labels, annotations, owners, finalizers)
#: What holds for a new custom resource, and for what a write changes of one that is there.
OF_NEW: Final[tuple[Check, ...]] = (name_of_custom_resource, namespace, *COMMON)
OF_STORED: Final[tuple[Check, ...]] = (labels, annotations, owners)
#: What holds for an embedded resource; its managedFields are not looked at.
OF_EMBEDDED: Final[tuple[Check, ...]] = (name_of_embedded, namespace, generation, *COMMON)
