"""The metadata of objects: of a CustomResourceDefinition, and within the defaults of embedded resources."""

from collections.abc import Iterator, Mapping
from typing import Any

from crdgen import limits
from crdgen.dns import KEY, is_any_label, is_key, is_label_value
from crdgen.lint.rule import Found


def labels(metadata: Mapping[str, Any]) -> Iterator[Found]:
    """Return what is wrong with labels (k8s.io/apimachinery, pkg/apis/meta/v1/validation)."""
    for key, value in metadata.get("labels", {}).items():
        if not is_key(key):
            yield Found("labels", f"{key} is no key of a label", f"write {KEY}")
        if not is_label_value(value):
            fix = "write at most 63 letters, digits, dashes, _ and dots; an annotation holds any text"
            yield Found("labels", f"{value!r} of {key} is no value of a label", fix)


def annotations(metadata: Mapping[str, Any]) -> Iterator[Found]:
    """Return what is wrong with annotations (k8s.io/apimachinery, pkg/api/validation/objectmeta.go)."""
    held: Mapping[str, str] = metadata.get("annotations", {})
    for key in held:
        if not is_key(key.lower()):
            yield Found("annotations", f"{key} is no key of an annotation", f"write {KEY}")
    size = sum(len(_utf8(key)) + len(_utf8(value)) for key, value in held.items())
    if size > limits.ANNOTATIONS:
        fix = "put less into them; server-side apply needs no annotation of its own"
        yield Found("annotations", f"annotations of {size} bytes: {limits.ANNOTATIONS} is the limit", fix)


def owners_and_finalizers(metadata: Mapping[str, Any]) -> Iterator[Found]:
    """Return what is wrong with them (k8s.io/apimachinery, pkg/api/validation/objectmeta.go)."""
    for finalizer in metadata.get("finalizers", ()):
        if not is_key(finalizer):
            yield Found("finalizers", f"{finalizer!r} is no name of a finalizer", f"write {KEY}")
    controllers = 0
    for owner in metadata.get("ownerReferences", ()):
        missing = [name for name in ("apiVersion", "kind", "name", "uid") if not owner.get(name)]
        if missing or owner["apiVersion"].endswith("/") or owner["apiVersion"].count("/") > 1:
            yield Found(
                "ownerReferences", "an owner has apiVersion, kind, name and uid", "write them, or remove the owner"
            )
        elif owner["apiVersion"] == "v1" and owner["kind"] == "Event":
            yield Found("ownerReferences", "an Event owns nothing", "remove the owner")
        controllers += owner.get("controller") is True
    if controllers > 1:
        yield Found("ownerReferences", "two owners are the controller", "keep one")


def of_embedded(value: Any, path: str) -> Iterator[Found]:
    """Return what is wrong with the metadata of an embedded resource (apiserver/schema/objectmeta/validation.go)."""
    for name in ("name", "generateName"):
        text = value.get(name, "")
        if (name == "name" and text in {".", ".."}) or "/" in text or "%" in text:
            yield Found(f"{path}.{name}", f"{text!r} is no name: it would be a part of a URL", "write another")
    if value.get("namespace") and not is_any_label(value["namespace"]):
        yield Found(f"{path}.namespace", f"{value['namespace']!r} is no name of a namespace", "write a DNS label")
    if value.get("generation", 0) < 0:
        yield Found(f"{path}.generation", "generation is below 0", "remove it")
    for check in (labels, annotations, owners_and_finalizers):
        for found in check(value):
            yield found._replace(at=f"{path}.{found.at}")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
