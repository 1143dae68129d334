"""How big a CRD is, where its bytes are, and what would shrink it.

`kubectl apply`, client-side, writes the whole object as compact JSON into an annotation, and all annotations of an
object together may have 262,144 bytes (k8s.io/apimachinery, pkg/api/validation/objectmeta.go). Server-side apply writes
none.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import create_model

from crdgen.generate.pipeline import structural_schema
from crdgen.generate.tidy import shortened
from crdgen.podtemplate import OpenPodTemplate
from crdgen.schema.look import children, mapping, members, schema_of, size, utf8

__all__ = ["Saving", "SizedField", "annotations", "parts", "savings", "size"]

_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# Go's encoding/json writes these as \uXXXX, which has six bytes.
_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")
_SHORT: Final = 128


def annotations(crd: Mapping[str, Any]) -> int:
    """Return the bytes that all annotations have after a client-side `kubectl apply`.

    Above `limits.ANNOTATIONS` it is rejected.
    """
    own = mapping(crd, "metadata", "annotations")
    others = {key: text for key, text in own.items() if key != _APPLIED}
    applied = {**crd, "metadata": {**mapping(crd, "metadata"), "annotations": others}}
    value = _go_size(applied) + 1  # the encoder ends with a line break
    rest = "".join(f"{key}{text}" for key, text in others.items())
    return value + len(_APPLIED) + len(utf8(rest))


@dataclass(frozen=True)
class SizedField:
    """The bytes of one field's schema, with all below it.

    Attributes:
        path: the field, as `v1 spec.tasks[].template`; of a version, its name.
        size: the bytes of its schema.
        descriptions: how many of them are descriptions.
        parts: the fields below it.
    """

    path: str
    size: int
    descriptions: int
    parts: tuple["SizedField", ...]


@dataclass(frozen=True)
class Saving:
    """What would make the CRD smaller, and by how many bytes."""

    bytes: int
    how: str


def parts(crd: Mapping[str, Any]) -> tuple[SizedField, ...]:
    """Return the schemas of the versions, field by field."""
    return tuple(_part(name, schema) for name, schema in _schemas(crd).items())


def savings(crd: Mapping[str, Any]) -> list[Saving]:
    """Return what would make the CRD smaller, most of it first; each by itself, so that they do not add up."""
    found = [saving for name, schema in _schemas(crd).items() for saving in _of_schema(name, schema)]
    found += _of_versions(crd)
    return sorted((saving for saving in found if saving.bytes > 0), key=lambda saving: -saving.bytes)


def _of_schema(name: str, schema: Mapping[str, Any]) -> Iterator[Saving]:
    whole = _part(name, schema)
    yield Saving(whole.descriptions, f"{name}: leave out all descriptions")
    texts = [text for text in _texts(schema) if len(text) > _SHORT]
    yield Saving(
        sum(size(text) - size(shortened(text, _SHORT)) for text in texts),
        f"{name}: cut descriptions after {_SHORT} characters",
    )
    for path, template in _templates(name, schema):
        yield Saving(size(template) - _open_size(), f"{path}: make the pod template open (OpenPodTemplate)")


def _of_versions(crd: Mapping[str, Any]) -> Iterator[Saving]:
    for version in _versions(crd):
        if version.get("served") is not True and version.get("storage") is not True:
            how = f"{version.get('name')}: remove the version, once no object is stored in it; it is not served"
            yield Saving(size(version), how)


def _templates(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the pod templates that are described throughout."""
    for step, child in children(schema):
        below = _below(path, step)
        if "containers" in mapping(child, "properties", "spec", "properties") and size(child) > 2 * _open_size():
            yield below, child
        else:
            yield from _templates(below, child)


@cache
def _open_size() -> int:
    model = create_model("Open", template=(OpenPodTemplate, ...))
    return size(structural_schema(model)["properties"]["template"])


def _part(path: str, schema: Mapping[str, Any]) -> SizedField:
    below = tuple(_part(_below(path, step), child) for step, child in children(schema))
    own = schema.get("description")
    words = size({"description": own}) - 1 if isinstance(own, str) else 0  # without braces, with a comma
    return SizedField(path, size(schema), words + sum(part.descriptions for part in below), below)


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    own = schema.get("description")
    if isinstance(own, str):
        yield own
    for _, child in children(schema):
        yield from _texts(child)


def _below(path: str, step: str) -> str:
    """Return the path of a field; the version is followed by a space."""
    return f"{path}{step}" if " " in path else f"{path} {step.lstrip('.')}"


def _schemas(crd: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = {str(version.get("name")): schema_of(version) for version in _versions(crd)}
    return {name: schema for name, schema in found.items() if schema}


def _versions(crd: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [version for version in members(mapping(crd, "spec").get("versions")) if isinstance(version, Mapping)]


def _go_size(value: Any) -> int:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    escaped = _ESCAPED.findall(text)
    return len(utf8(text)) + sum(6 - len(found.encode()) for found in escaped)
