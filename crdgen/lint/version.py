"""A whole CustomResourceDefinition and its versions, decoded, and the rules for single versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import Problem, error, warning
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE, Schema
from crdgen.schema.limits import DEPRECATION_WARNING
from crdgen.schema.look import mapping, utf8


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
        return cast("Schema | None", self.written.get("schema", {}).get("openAPIV3Schema"))

    @property
    def subresources(self) -> Mapping[str, Any]:
        """What is enabled: status, scale."""
        return mapping(self.written, "subresources")

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
        return mapping(self.decoded, "metadata")

    @property
    def spec(self) -> Mapping[str, Any]:
        """What is defined."""
        return mapping(self.decoded, "spec")

    @property
    def group(self) -> str:
        """The API group."""
        return str(self.spec.get("group", ""))

    @property
    def names(self) -> Mapping[str, Any]:
        """What the kind is called."""
        return mapping(self.spec, "names")

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


#: What the root must not say where status is a subresource, because `properties.status` is then checked alone. The
#: others count where they have another value than Go's zero value.
_LOST_WITH_STATUS: Final[tuple[str, ...]] = (
    *("default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf", "not", "additionalProperties"),
    *(LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE),
)
_FLAGS_LOST_WITH_STATUS: Final = ("nullable", EMBEDDED, INT_OR_STRING)


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def version_has_a_schema(version: DecodedVersion) -> Iterator[Problem]:
    """Each version has a schema."""
    if version.schema is None:
        yield Problem("schema.openAPIV3Schema", "there is no schema", "write at least type: object")


@error("apiextensions validation.go, validateDeprecationWarning")
def deprecation_warning_is_printable(version: DecodedVersion) -> Iterator[Problem]:
    """The warning is sent as an HTTP header to clients of a deprecated version."""
    warning = version.written.get("deprecationWarning")
    if warning is None:
        return
    if not version.written.get("deprecated"):
        yield Problem("deprecationWarning", "the version is not deprecated", "write deprecated: true, or remove it")
    if not warning or len(utf8(warning)) > DEPRECATION_WARNING or not warning.isprintable():
        problem = f"a deprecationWarning has 1 to {DEPRECATION_WARNING} printable bytes"
        yield Problem("deprecationWarning", problem, "write one short line")


@error("apiextensions validation.go, allowedFieldsAtRootSchema")
def root_keeps_status_apart(version: DecodedVersion) -> Iterator[Problem]:
    """With a status subresource, status is validated on its own, so keywords about the whole object are not allowed."""
    schema = version.schema
    if schema is None or not version.status_enabled:
        return
    lost = [keyword for keyword in _LOST_WITH_STATUS if keyword in schema]
    lost += [keyword for keyword in _FLAGS_LOST_WITH_STATUS if schema.get(keyword)]
    for keyword in lost:
        problem = f"the root must not have {keyword} if the version has a status subresource"
        yield Problem(f"schema.openAPIV3Schema.{keyword}", problem, "write it below spec, or as a rule")


@warning("schema/pruning/algorithm.go")
def status_is_declared(version: DecodedVersion) -> Iterator[Problem]:
    """Without a schema for status, everything written to it is pruned."""
    schema = version.schema
    if schema is None:
        return
    keeps = schema.get(PRESERVE)
    if "status" in version.subresources and "status" not in schema.get("properties", {}) and not keeps:
        fix = "declare status in the schema"
        yield Problem(
            "subresources.status", "the schema does not declare status, so everything written to it is pruned", fix
        )
