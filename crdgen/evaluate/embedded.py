"""Embedded resources (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go).

Of their metadata the types of the common fields are looked at; names and labels are not held against Kubernetes' rules.
"""

from collections.abc import Iterator
from typing import Any, Final

from crdgen.dns import is_label
from crdgen.evaluate.check import Check
from crdgen.evaluate.violation import Reason, Violation

_TEXTS: Final = ("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink")
_MAPS: Final = ("labels", "annotations")


def embedded(check: Check) -> Check:
    """Return the check of an object that must be a whole resource, too."""

    def both(value: Any) -> list[Violation] | None:
        found = check(value) or []
        return [*found, *_resource(value)] or None if isinstance(value, dict) else found or None

    return both


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
        yield from _metadata(value["metadata"])


def _metadata(metadata: Any) -> Iterator[Violation]:
    if not isinstance(metadata, dict):
        yield Violation(("metadata",), Reason.INVALID, metadata, "must be an object")
        return
    for name in _TEXTS:
        if not isinstance(metadata.get(name, ""), str | None):
            yield Violation(("metadata",), Reason.INVALID, metadata, f"{name} must be a string")
    for name in _MAPS:
        entries = metadata.get(name) or {}
        if not isinstance(entries, dict) or not all(isinstance(entry, str | None) for entry in entries.values()):
            yield Violation(("metadata",), Reason.INVALID, metadata, f"{name} must be texts by name")
