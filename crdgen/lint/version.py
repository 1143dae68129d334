"""A whole CustomResourceDefinition and its versions, decoded, as the rules look at them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crdgen.lint.node import Node, nodes
from crdgen.schema import Schema


@dataclass(frozen=True)
class DecodedVersion:
    """One version, decoded.

    Attributes:
        written: the version as it is written.
        path: `spec.versions[0]`.
        status_enabled: the API server holds the schema to what a status subresource needs.
    """

    written: Mapping[str, Any]
    path: str
    status_enabled: bool

    @property
    def name(self) -> str:
        """What it is called; empty where that is missing."""
        return str(self.written.get("name", ""))

    @property
    def schema(self) -> Schema | None:
        """The schema of the whole object."""
        schema: Schema | None = self.written.get("schema", {}).get("openAPIV3Schema")
        return schema

    @property
    def subresources(self) -> Mapping[str, Any]:
        """What is enabled: status, scale."""
        subresources: Mapping[str, Any] = self.written.get("subresources", {})
        return subresources

    @cached_property
    def nodes(self) -> list[Node]:
        """All places of the schema."""
        return nodes(self.schema, f"{self.path}.schema.openAPIV3Schema") if self.schema is not None else []


@dataclass(frozen=True)
class Definition:
    """The whole object. `raw` is as it came, `decoded` as the API server reads it."""

    raw: Mapping[str, Any]
    decoded: Mapping[str, Any]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, labels, annotations."""
        metadata: Mapping[str, Any] = self.decoded.get("metadata", {})
        return metadata

    @property
    def spec(self) -> Mapping[str, Any]:
        """What is defined."""
        spec: Mapping[str, Any] = self.decoded.get("spec", {})
        return spec

    @property
    def group(self) -> str:
        """The API group."""
        return str(self.spec.get("group", ""))

    @property
    def names(self) -> Mapping[str, Any]:
        """What the kind is called."""
        names: Mapping[str, Any] = self.spec.get("names", {})
        return names

    @cached_property
    def versions(self) -> list[DecodedVersion]:
        """The versions, in order.

        Where all have the same schema the API server keeps it once, and then a status subresource of one version counts
        for all (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1/conversion.go).
        """
        written: list[Mapping[str, Any]] = self.spec.get("versions", [])
        shared = all(version.get("schema") == written[0].get("schema") for version in written)
        enabled = ["status" in version.get("subresources", {}) for version in written]
        some = shared and any(enabled)
        return [
            DecodedVersion(version, f"spec.versions[{index}]", some or enabled[index])
            for index, version in enumerate(written)
        ]
