"""The decoded CustomResourceDefinition with its versions, and the rules for the list of versions."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, cast

from msgspec import Struct

from crdgen.dns import LABEL, is_label
from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import Issue, error, warning
from crdgen.schema import INT_OR_STRING, PRESERVE, Schema
from crdgen.schema.look import mapping


class DecodedVersion(Struct, frozen=True, dict=True):
    """A decoded version. `status_enabled` says whether its schema must meet the rules of a status subresource."""

    written: Mapping[str, Any]
    path: str
    status_enabled: bool

    @property
    def name(self) -> str:
        """The name; empty if it is missing."""
        return str(self.written.get("name", ""))

    @property
    def schema(self) -> Schema | None:
        """The schema of the whole object."""
        return cast("Schema | None", self.written.get("schema", {}).get("openAPIV3Schema"))

    @property
    def subresources(self) -> Mapping[str, Any]:
        """The enabled subresources: status, scale."""
        return mapping(self.written, "subresources")

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes of the schema."""
        return nodes(self.schema, f"{self.path}.schema.openAPIV3Schema") if self.schema is not None else []


class Definition(Struct, frozen=True, dict=True):
    """A CustomResourceDefinition: `raw` as given, `decoded` as the API server reads it."""

    raw: Mapping[str, Any]
    decoded: Mapping[str, Any]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata."""
        return mapping(self.decoded, "metadata")

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec."""
        return mapping(self.decoded, "spec")

    @property
    def group(self) -> str:
        """The API group."""
        return str(self.spec.get("group", ""))

    @property
    def names(self) -> Mapping[str, Any]:
        """The names of the kind."""
        return mapping(self.spec, "names")

    @cached_property
    def versions(self) -> list[DecodedVersion]:
        """The versions, in order.

        If all have the same schema, the API server stores it only once. Then a status subresource of one version
        applies to all (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1/conversion.go).
        """
        versions: list[Mapping[str, Any]] = self.spec.get("versions", [])
        share_schema = all(version.get("schema") == versions[0].get("schema") for version in versions)
        enabled = ["status" in version.get("subresources", {}) for version in versions]
        enabled_for_all = share_schema and any(enabled)
        return [
            DecodedVersion(version, f"spec.versions[{index}]", enabled_for_all or enabled[index])
            for index, version in enumerate(versions)
        ]


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def one_version_is_stored(definition: Definition) -> Iterator[Issue]:
    """Exactly one version is the storage version."""
    stored = [version.name for version in definition.versions if version.written.get("storage")]
    if len(stored) != 1:
        problem = f"exactly one version is stored, and these have storage: true: {', '.join(stored) or 'none'}"
        yield Issue("spec.versions", problem, "write storage: true for one version, and false for all others")


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def version_names_are_labels(definition: Definition) -> Iterator[Issue]:
    """Version names are unique DNS labels."""
    seen: set[str] = set()
    for version in definition.versions:
        if not is_label(version.name):
            yield Issue(
                f"{version.path}.name", f"{version.name!r} must be a label: {LABEL}", "write v1, v1beta1 or such"
            )
        if version.name in seen:
            yield Issue(f"{version.path}.name", f"there are two versions {version.name}", "rename one")
        seen.add(version.name)


@error("apiextensions validation.go, validatePreserveUnknownFields")
def fields_are_pruned(definition: Definition) -> Iterator[Issue]:
    """v1 does not preserve unknown fields of whole kinds."""
    if definition.spec.get("preserveUnknownFields"):
        fix = "remove it, and write x-kubernetes-preserve-unknown-fields: true where the schema keeps unknown fields"
        yield Issue("spec.preserveUnknownFields", "preserveUnknownFields must not be true", fix)


@warning("apiextensions types.go, CustomResourceDefinitionVersion")
def some_version_is_served(definition: Definition) -> Iterator[Issue]:
    """At least one version is served."""
    if definition.versions and not any(version.written.get("served") for version in definition.versions):
        yield Issue("spec.versions", "no version is served", "write served: true for one at least")


@warning("apiextensions validation.go, ValidateCustomResourceDefinitionStoredVersions")
def stored_versions_stay(definition: Definition) -> Iterator[Issue]:
    """A version in which objects may still be stored cannot be removed: the next update of the object is rejected."""
    names = {version.name for version in definition.versions}
    for index, name in enumerate(definition.decoded.get("status", {}).get("storedVersions", ())):
        if name not in names:
            fix = "keep the version, rewrite all objects, remove it from status.storedVersions, and then from here"
            yield Issue(f"status.storedVersions[{index}]", f"objects may be stored as {name}, which is no version", fix)


@warning("apiextensions types.go, NoneConverter")
def versions_hold_the_same_fields(definition: Definition) -> Iterator[Issue]:
    """Without a conversion webhook, fields that another version does not declare are lost, or read as another type."""
    served = [version for version in definition.versions if version.written.get("served") and version.schema]
    if definition.spec.get("conversion", {}).get("strategy", "None") != "None":
        return
    for first, other in ((served[0], other) for other in served[1:]):
        if differing := sorted(_fields(first) ^ _fields(other)):
            more = "" if len(differing) == 1 else f" and {len(differing) - 1} more"
            problem = f"{first.name} and {other.name} differ in {differing[0]}{more}: written in one, lost in the other"
            yield Issue(f"{other.path}.schema", problem, "declare the fields in both, or write a conversion webhook")
        types, other_types = _types(first), _types(other)
        for field in [field for field in types if types[field] != other_types.get(field, types[field])][:1]:
            problem = f"{field} is {types[field]} in {first.name}, and {other_types[field]} in {other.name}"
            fix = "give it another name in one of them, or write a conversion webhook"
            yield Issue(f"{other.path}.schema", f"{problem}: what is written in one cannot be read in the other", fix)


def _types(version: DecodedVersion) -> dict[str, str]:
    """Return the types of fields by their paths, if the schema has them."""
    declared = [node for node in version.nodes if node.field and not node.branch]
    types = {node.field: "integer or string" if node.flag(INT_OR_STRING) else node.type for node in declared}
    return {field: kind for field, kind in types.items() if kind}


def _fields(version: DecodedVersion) -> set[str]:
    return {
        node.field
        for node in version.nodes
        if not node.branch and node.name and not any(parent.flag(PRESERVE) for parent in node.parents)
    }
