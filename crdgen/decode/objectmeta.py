"""The metadata of objects: what it is made of, and what Kubernetes wants of it.

The types are those of ObjectMeta (k8s.io/apimachinery, pkg/apis/meta/v1/types.go); the rules are the same for every
object (pkg/api/validation/objectmeta.go), but for the name, of which each kind has its own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from crdgen.decode.shapes import TEXT_MAP, TEXTS, ListOf, MapOf, Scalar, Shape, Struct, struct
from crdgen.dns import KEY, SUBDOMAIN, is_any_label, is_key, is_label_value, is_subdomain, masked
from crdgen.schema import limits
from crdgen.utf8 import utf8

OBJECT_META: Final = struct(
    "ObjectMeta",
    name=Scalar.TEXT,
    generateName=Scalar.TEXT,
    namespace=Scalar.TEXT,
    selfLink=Scalar.TEXT,
    uid=Scalar.TEXT,
    resourceVersion=Scalar.TEXT,
    generation=Scalar.INT64,
    creationTimestamp=Scalar.TIME,
    deletionTimestamp=Scalar.TIME,
    deletionGracePeriodSeconds=Scalar.INT64,
    labels=TEXT_MAP,
    annotations=TEXT_MAP,
    ownerReferences=ListOf(
        struct(
            "OwnerReference",
            apiVersion=Scalar.TEXT,
            kind=Scalar.TEXT,
            name=Scalar.TEXT,
            uid=Scalar.TEXT,
            controller=Scalar.BOOLEAN,
            blockOwnerDeletion=Scalar.BOOLEAN,
        )
    ),
    finalizers=TEXTS,
    managedFields=ListOf(
        struct(
            "ManagedFieldsEntry",
            manager=Scalar.TEXT,
            operation=Scalar.TEXT,
            apiVersion=Scalar.TEXT,
            time=Scalar.TIME,
            fieldsType=Scalar.TEXT,
            fieldsV1=Scalar.ANY,
            subresource=Scalar.TEXT,
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
PATH_SEGMENT: Final = "neither . nor .., and without / and %"
_LABEL_VALUE: Final = "at most 63 letters, digits, dashes, _ and dots"
_OPERATIONS: Final = ("Apply", "Update")
_MANAGER_LENGTH: Final = 128
_SUBRESOURCE_LENGTH: Final = 256
#: Kubernetes makes a name of at most this many characters of generateName, and five more.
_GENERATED: Final = 58


class Mistake(NamedTuple):
    """What is wrong in metadata.

    Attributes:
        at: The field below metadata, as the API server names it: `ownerReferences.uid`.
        reason: Kubernetes' word for what is wrong.
        value: The offending value.
        problem: What is wrong, with the value.
        right: What the value must do, to be said after it: `must be …`.
        fix: What to write.
    """

    at: str
    reason: str
    value: Any
    problem: str
    right: str
    fix: str


def name_of_custom_resource(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the name of a new custom resource, or with what its name is made from."""
    name, generated = metadata.get("name", ""), metadata.get("generateName", "")
    if generated and not is_subdomain(masked(generated)):
        yield _no_name("generateName", generated, f"{SUBDOMAIN}; it may end with a dash")
    if name and not is_subdomain(name):
        yield _no_name("name", name, SUBDOMAIN)
    elif not name and generated and not is_subdomain(f"{generated[:_GENERATED]}aaaaa"):
        yield _no_name("name", f"{generated[:_GENERATED]}aaaaa", SUBDOMAIN)
    elif not name and not generated:
        problem = "the object has no name"
        yield Mistake("name", "Required", "", problem, "must be set, or generateName", "write a name")


def name_of_embedded(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the names of an embedded resource, which may have none.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go
    """
    for field in ("name", "generateName"):
        text = metadata.get(field, "")
        if (field == "name" and text in {".", ".."}) or "/" in text or "%" in text:
            yield _no_name(field, text, PATH_SEGMENT)


def namespace(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the namespace, if there is one."""
    text = metadata.get("namespace", "")
    if text and not is_any_label(text):
        problem = f"{text!r} is no name of a namespace"
        yield Mistake("namespace", "Invalid", text, problem, "must be a DNS label", "write a DNS label")


def generation(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the generation."""
    count = metadata.get("generation", 0)
    if count < 0:
        yield Mistake("generation", "Invalid", count, "generation is below 0", "must not be below 0", "remove it")


def labels(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with labels (k8s.io/apimachinery, pkg/apis/meta/v1/validation)."""
    for key, value in metadata.get("labels", {}).items():
        if not is_key(key):
            yield Mistake(
                "labels", "Invalid", key, f"{key} is no key of a label", f"must have keys of {KEY}", f"write {KEY}"
            )
        if not is_label_value(value):
            problem = f"{value!r} of {key} is no value of a label"
            fix = f"write {_LABEL_VALUE}; an annotation holds any text"
            yield Mistake("labels", "Invalid", value, problem, f"must have values of {_LABEL_VALUE}", fix)


def annotations(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with annotations."""
    held: Mapping[str, str] = metadata.get("annotations", {})
    for key in held:
        if not is_key(key.lower()):
            problem = f"{key} is no key of an annotation"
            yield Mistake("annotations", "Invalid", key, problem, f"must have keys of {KEY}", f"write {KEY}")
    size = sum(len(utf8(key)) + len(utf8(value)) for key, value in held.items())
    if size > limits.ANNOTATIONS:
        problem = f"annotations of {size} bytes: {limits.ANNOTATIONS} is the limit"
        fix = "put less into them; server-side apply needs no annotation of its own"
        yield Mistake("annotations", "TooLong", "", problem, f"may not have more than {limits.ANNOTATIONS} bytes", fix)


def owners(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the owners."""
    controllers = 0
    for owner in metadata.get("ownerReferences", ()):
        version = owner.get("apiVersion", "")
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and (version.endswith("/") or version.count("/") > 1)):
                fix = "write them, or remove the owner"
                problem = "an owner has apiVersion, kind, name and uid"
                yield Mistake(
                    f"ownerReferences.{field}", "Invalid", owner.get(field, ""), problem, "must be set and right", fix
                )
        if version == "v1" and owner.get("kind") == "Event":
            problem = "an Event owns nothing"
            yield Mistake("ownerReferences", "Invalid", owner, problem, "must not be an Event", "remove the owner")
        controllers += owner.get("controller") is True
    if controllers > 1:
        problem = "two owners are the controller"
        right = "may have one owner that is the controller"
        yield Mistake("ownerReferences", "Invalid", metadata["ownerReferences"], problem, right, "keep one")


def finalizers(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with the finalizers."""
    held = metadata.get("finalizers", ())
    for finalizer in held:
        if not is_key(finalizer):
            problem = f"{finalizer!r} is no name of a finalizer"
            yield Mistake("finalizers", "Invalid", finalizer, problem, f"must be {KEY}", f"write {KEY}")
    if {"orphan", "foregroundDeletion"} <= set(held):
        right = "may have orphan or foregroundDeletion"
        yield Mistake(
            "finalizers", "Invalid", held, "orphan and foregroundDeletion exclude each other", right, "keep one"
        )


def managed_fields(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield what is wrong with what is known of who wrote what; the API server makes it anew for whole objects."""
    for index, entry in enumerate(metadata.get("managedFields", ())):
        at = f"managedFields[{index}]"
        operation, manager = entry.get("operation", ""), entry.get("manager", "")
        if operation not in _OPERATIONS:
            yield _unmanaged(f"{at}.operation", operation, f"one of {', '.join(_OPERATIONS)}")
        if entry.get("fieldsType") and entry["fieldsType"] != "FieldsV1":
            yield _unmanaged(f"{at}.fieldsType", entry["fieldsType"], "FieldsV1")
        if len(utf8(manager)) > _MANAGER_LENGTH or not manager.replace(" ", "").isprintable():
            yield _unmanaged(f"{at}.manager", manager, f"at most {_MANAGER_LENGTH} printable characters")
        if len(utf8(entry.get("subresource", ""))) > _SUBRESOURCE_LENGTH:
            yield _unmanaged(f"{at}.subresource", entry["subresource"], f"at most {_SUBRESOURCE_LENGTH} characters")


#: What is wrong with a part of metadata, in metadata that has been decoded.
Check: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Mistake]]

#: What holds for the metadata of all objects.
COMMON: Final[tuple[Check, ...]] = (labels, annotations, owners, finalizers)
#: What holds for a new custom resource, and for what a write changes of one that is there.
OF_NEW: Final[tuple[Check, ...]] = (name_of_custom_resource, namespace, *COMMON)
OF_STORED: Final[tuple[Check, ...]] = (labels, annotations, owners)
#: What holds for an embedded resource.
OF_EMBEDDED: Final[tuple[Check, ...]] = (name_of_embedded, namespace, generation, *COMMON, managed_fields)


def _no_name(field: str, text: str, right: str) -> Mistake:
    return Mistake(field, "Invalid", text, f"{text!r} is no name", f"must be {right}", f"write {right}")


def _unmanaged(at: str, value: Any, right: str) -> Mistake:
    return Mistake(at, "Invalid", value, f"{value!r} is not {right}", f"must be {right}", "remove managedFields")
