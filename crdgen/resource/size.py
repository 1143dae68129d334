"""Measure a CRD and its fields, and find possible savings.

Client-side `kubectl apply` writes the whole object as compact JSON into an annotation. The limit of all annotations
together is 262,144 bytes (k8s.io/apimachinery, pkg/api/validation/objectmeta.go). Server-side apply writes none.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crdgen.podtemplate import OPEN
from crdgen.schema.look import children, mapping, named, schema_of, size, utf8

__all__ = ["SizedField", "annotations", "parts", "savings", "size"]

_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# Go's encoding/json writes these as \uXXXX.
_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")


def annotations(crd: Mapping[str, Any]) -> int:
    """Return the size of all annotations in bytes, after a client-side `kubectl apply`.

    The API server rejects more than `limits.ANNOTATIONS`.
    """
    own = mapping(crd, "metadata", "annotations")
    others = {key: text for key, text in own.items() if key != _APPLIED}
    applied = {**crd, "metadata": {**mapping(crd, "metadata"), "annotations": others}}
    value = _ESCAPED.sub(r"\\u0000", json.dumps(applied, separators=(",", ":"), ensure_ascii=False))
    rest = "".join(f"{key}{text}" for key, text in others.items())
    # The encoder ends the value with a line break.
    return len(utf8(f"{_APPLIED}{value}\n{rest}"))


@dataclass(frozen=True)
class SizedField:
    """The sizes of a field's schema and of its descriptions in bytes; the path is `v1 spec.tasks[].template`."""

    path: str
    size: int
    descriptions: int
    parts: tuple["SizedField", ...]


def parts(crd: Mapping[str, Any]) -> tuple[SizedField, ...]:
    """Return the sizes of the versions' schemas, field by field."""
    versions = named(mapping(crd, "spec").get("versions"))
    return tuple(_part(name, schema_of(version)) for name, version in versions.items())


def savings(crd: Mapping[str, Any]) -> dict[str, int]:
    """Return possible savings with the bytes that each would save alone, the largest first."""
    saved_bytes = {}
    for name, version in named(mapping(crd, "spec").get("versions")).items():
        schema = schema_of(version)
        saved_bytes[f"{name}: leave out the descriptions"] = _part(name, schema).descriptions
        for path, template in _templates(name, schema):
            saved_bytes[f"{path}: make the pod template open (OpenPodTemplate)"] = size(template) - size(OPEN)
        if version.get("served") is not True and version.get("storage") is not True:
            saved_bytes[f"{name}: remove the version, which is not served, once no object is stored in it"] = size(
                version
            )
    return dict(
        sorted(((how, saved) for how, saved in saved_bytes.items() if saved > 0), key=lambda saving: -saving[1])
    )


def _templates(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the pod templates whose schema lists all fields."""
    for step, child in children(schema):
        field_path = _field_path(path, step)
        if "containers" not in mapping(child, "properties", "spec", "properties"):
            yield from _templates(field_path, child)
        elif size(child) > 2 * size(OPEN):
            yield field_path, child


def _part(path: str, schema: Mapping[str, Any]) -> SizedField:
    parts = tuple(_part(_field_path(path, step), child) for step, child in children(schema))
    description = schema.get("description")
    description_size = (
        size({"description": description}) - 1 if isinstance(description, str) else 0
    )  # without braces, with a comma
    return SizedField(path, size(schema), description_size + sum(part.descriptions for part in parts), parts)


def _field_path(path: str, step: str) -> str:
    """Return the path of a field; the version is followed by a space."""
    return f"{path}{step}" if " " in path else f"{path} {step.lstrip('.')}"
