"""How big a CRD is, where its bytes are, and what would make it smaller.

`kubectl apply`, client-side, writes the whole object as compact JSON into an annotation, and all annotations of an
object together may have 262,144 bytes (k8s.io/apimachinery, pkg/api/validation/objectmeta.go). Server-side apply writes
none.
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
    """Return the bytes that all annotations have after a client-side `kubectl apply`.

    Above `limits.ANNOTATIONS` it is rejected.
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
    """The bytes of a field's schema and of the descriptions in it; the path is `v1 spec.tasks[].template`."""

    path: str
    size: int
    descriptions: int
    parts: tuple["SizedField", ...]


def parts(crd: Mapping[str, Any]) -> tuple[SizedField, ...]:
    """Return the schemas of the versions, field by field."""
    versions = named(mapping(crd, "spec").get("versions"))
    return tuple(_part(name, schema_of(version)) for name, version in versions.items())


def savings(crd: Mapping[str, Any]) -> dict[str, int]:
    """Return what would make the CRD smaller, each by itself, with the bytes that it saves; most of them first."""
    found = {}
    for name, version in named(mapping(crd, "spec").get("versions")).items():
        schema = schema_of(version)
        found[f"{name}: leave out the descriptions"] = _part(name, schema).descriptions
        for path, template in _templates(name, schema):
            found[f"{path}: make the pod template open (OpenPodTemplate)"] = size(template) - size(OPEN)
        if version.get("served") is not True and version.get("storage") is not True:
            found[f"{name}: remove the version, which is not served, once no object is stored in it"] = size(version)
    return dict(sorted(((how, saved) for how, saved in found.items() if saved > 0), key=lambda one: -one[1]))


def _templates(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the pod templates that are described field by field."""
    for step, child in children(schema):
        below = _below(path, step)
        if "containers" not in mapping(child, "properties", "spec", "properties"):
            yield from _templates(below, child)
        elif size(child) > 2 * size(OPEN):
            yield below, child


def _part(path: str, schema: Mapping[str, Any]) -> SizedField:
    below = tuple(_part(_below(path, step), child) for step, child in children(schema))
    own = schema.get("description")
    words = size({"description": own}) - 1 if isinstance(own, str) else 0  # without braces, with a comma
    return SizedField(path, size(schema), words + sum(part.descriptions for part in below), below)


def _below(path: str, step: str) -> str:
    """Return the path of a field; the version is followed by a space."""
    return f"{path}{step}" if " " in path else f"{path} {step.lstrip('.')}"
