"""The served versions of a kind: objects of each are reviewed in the version of the webhook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from jobgate.jobs.kind import CustomKind
from jobgate.jobs.schema import StructuralSchema
from webhook import Registry
from webhook.schema import Schema


class ServedVersion(Struct, frozen=True):
    """A version of a kind in which clients can send objects.

    Attributes:
        kind: the kind.
        name: the name of the version.
        schema: its schema.
    """

    kind: CustomKind
    name: str
    schema: Schema

    @property
    def is_reviewed(self) -> bool:
        """Whether the webhook reviews objects in this version."""
        return self.name == self.kind.version

    @property
    def converted_elsewhere(self) -> bool:
        """Whether the webhook of another program converts its objects, so that nothing is known of the result."""
        resource = self.kind.resource
        elsewhere = resource is not None and resource.conversion is not None and not self.kind.versions
        return elsewhere and not self.is_reviewed

    def up(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object of this version in the reviewed version.

        Raises:
            NotConvertible: the reviewed version has no equivalent of the object.
        """
        return self._converted(document, self.kind.version)

    def down(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object of the reviewed version in this version.

        Raises:
            NotConvertible: this version has no equivalent of the object.
        """
        return self._converted(document, self.name)

    def _converted(self, document: Mapping[str, Any], version: str) -> dict[str, Any]:
        if self.kind.versions:
            return self.kind.convert(document, version)
        # Without a webhook, the API server changes nothing else (k8s.io/apiextensions-apiserver, nop_converter.go).
        return {**document, "apiVersion": f"{self.kind.group}/{version}"}


def served(document: Mapping[str, Any], kinds: Registry[CustomKind]) -> ServedVersion | None:
    """Return the version of an object, if it is served."""
    name = str(document.get("kind"))
    kind = kinds.get(str(document.get("apiVersion")), name)
    if kind is not None:
        return ServedVersion(kind, kind.version, kind.schema)
    group, _, version = str(document.get("apiVersion")).rpartition("/")
    for candidate in kinds.of_group(group):
        resource = candidate.resource if candidate.kind == name else None
        if resource is not None and any(entry.name == version and entry.served for entry in resource.versions):
            return ServedVersion(candidate, version, StructuralSchema(resource, version=version))
    return None
